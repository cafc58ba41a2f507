package apiserver

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// secondsOf is the precision of times in the API.
const secondsOf = time.Second

func metaUID(s string) types.UID { return types.UID(s) }

// replace is PUT.
func (s *Server) replace(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	sent := rq.Object
	if err := rq.nameObject(sent); err != nil {
		return nil, err
	}
	warned := len(rq.warnings)
	return s.update(p, rq, updateTries, func(old kinds.Object) (kinds.Object, error) {
		rq.warnings = rq.warnings[:warned]
		return s.prepareUpdate(p, rq, sent.DeepCopyObject().(kinds.Object), old)
	}, rq.res.Gone)
}

// prepareUpdate runs a new version through the stages before the store.
func (s *Server) prepareUpdate(p *sim.Proc, rq *request, obj, old kinds.Object) (kinds.Object, error) {
	res := rq.res
	if rv := obj.GetResourceVersion(); rv == "" && res.Versioned {
		return nil, invalid(rq.Kind, rq.Name, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	} else if rv != "" && rv != old.GetResourceVersion() {
		return nil, conflict(rq.Kind, rq.Name)
	}
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, apierrors.NewConflict(rq.Kind.GR(), rq.Name, fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
			"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", storageKey(rq.key), uid, old.GetUID()))
	}
	rq.enter(stageMutate)
	if res.Default != nil {
		res.Default(obj)
	}
	s.track(rq, old, obj)
	keepMeta(obj, old)
	if res.Settle != nil && rq.Subresource == "" {
		if err := invalid(rq.Kind, rq.Name, res.Settle(obj, old)); err != nil {
			return nil, err
		}
	}
	if svc := asService(obj); svc != nil && rq.Subresource == "" {
		if err := s.allocate(p, rq, svc, asService(old)); err != nil {
			return nil, err
		}
	}
	if res.PrepareUpdate != nil {
		entries := obj.GetManagedFields() // a part that keeps all metadata keeps who wrote it all the same
		res.PrepareUpdate(obj, old, rq.Subresource)
		obj.SetManagedFields(entries)
	}
	if res.Stamp != nil {
		res.Stamp(obj, old, metav1.NewTime(p.Now().Truncate(secondsOf)))
	}
	a := &attributes{server: s, proc: p, rq: rq, obj: obj, old: old}
	if err := s.mutate(a); err != nil {
		return nil, err
	}
	if res.Generation && res.SpecDiffers(obj, old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
	obj.SetResourceVersion(old.GetResourceVersion())
	rq.enter(stageValidate)
	errs := rq.checkMeta(obj)
	errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))...)
	if rules := rq.inFace(); rules != nil {
		errs = append(errs, rules(obj, old)...)
	} else {
		if res.Validate != nil && !res.UpdateWhole && !(rq.Subresource == "status" && res.Spec != nil) { // an unchanged spec was valid before
			errs = append(errs, res.Validate(obj)...)
		}
		if res.ValidateUpdate != nil {
			errs = append(errs, res.ValidateUpdate(obj, old, rq.Subresource)...)
		}
	}
	if err := invalid(rq.Kind, rq.Name, errs); err != nil {
		return nil, err
	}
	rq.warn(obj, old)
	rq.enter(stageAdmit)
	return obj, s.validate(a)
}

// storageKey is the key as the API server's storage layer names it: without the registry's prefix.
func storageKey(key string) string { return key[len("/registry"):] }
