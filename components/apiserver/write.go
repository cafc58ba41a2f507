package apiserver

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// nameTries is how often a generated name that exists is made anew (fidelity API-6).
const nameTries = 8

// nameLengthMax cuts the prefix of a generated name so that the whole stays a label (as pkg/storage/names).
const nameLengthMax = 63

func (s *Server) create(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	obj := rq.Object
	if err := rq.nameObject(obj); err != nil {
		return nil, err
	}
	res, k := rq.res, rq.Kind
	generate := ""
	if obj.GetName() == "" {
		generate = obj.GetGenerateName()
	}
	warned := len(rq.warnings)
	for try := 1; ; try++ {
		rq.warnings = rq.warnings[:warned]
		made := obj
		if generate != "" || k == kinds.Services { // a service that lost a race for an address asks for another
			made = obj.DeepCopyObject().(kinds.Object)
			if generate != "" {
				made.SetName(generate[:min(len(generate), nameLengthMax-5)] + s.nameSuffix())
			}
		}
		if err := s.prepareCreate(p, rq, made); err != nil {
			return nil, err
		}
		key := k.Key(made.GetNamespace(), made.GetName())
		rq.enter(stageStore)
		if rq.DryRun {
			if _, exists := s.cache.kinds[k].items.Get(key); exists {
				return nil, apierrors.NewAlreadyExists(k.GR(), made.GetName())
			}
			return &kubeapi.Response{Object: made}, nil
		}
		stored, exists, err := s.put(p, rq, key, made)
		if err != nil {
			return nil, err
		}
		if stored != nil {
			rq.Name = made.GetName()
			return written(stored), nil
		}
		if !exists && try < updateTries {
			continue
		}
		if generate == "" || try >= nameTries {
			return nil, apierrors.NewAlreadyExists(res.Kind.GR(), made.GetName())
		}
	}
}

// nameObject brings the names in the object and those on the request together.
func (rq *request) nameObject(obj kinds.Object) error {
	ns := obj.GetNamespace()
	switch {
	case !rq.Kind.Namespaced:
		obj.SetNamespace("")
		rq.Namespace = ""
	case ns == "":
		obj.SetNamespace(rq.Namespace)
	case ns != rq.Namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if rq.Verb != kubeapi.Create && obj.GetName() != rq.Name {
		if obj.GetName() != "" {
			return apierrors.NewBadRequest("the name of the object (" + obj.GetName() + ") does not match the name on the URL (" + rq.Name + ")")
		}
		obj.SetName(rq.Name)
	}
	return nil
}

// checkObject refuses bodies that are no object of the request's kind.
func (rq *request) checkObject() error {
	if rq.Verb != kubeapi.Update && (rq.Verb != kubeapi.Create || rq.Subresource != "") {
		return nil
	}
	if rq.Object == nil {
		return apierrors.NewBadRequest("no object was sent")
	}
	if k, err := kinds.Of(rq.Object); err != nil || !kinds.Same(k, rq.Kind) {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %T", rq.Kind.Kind, rq.Object))
	}
	clearType(rq.Object)
	return nil
}

// prepareCreate runs an object to be created through the stages before the store.
func (s *Server) prepareCreate(p *sim.Proc, rq *request, obj kinds.Object) error {
	res := rq.res
	rq.enter(stageMutate)
	if res.Default != nil {
		res.Default(obj)
	}
	s.track(rq, nil, obj)
	a := &attributes{server: s, proc: p, rq: rq, obj: obj}
	if err := s.mutate(a); err != nil {
		return err
	}
	rq.enter(stageValidate)
	if res.Settle != nil {
		if err := invalid(rq.Kind, obj.GetName(), res.Settle(obj, nil)); err != nil {
			return err
		}
	}
	if svc := asService(obj); svc != nil {
		if err := s.allocate(p, rq, svc, nil); err != nil {
			return err
		}
	}
	obj.SetUID(metaUID(s.newUID()))
	obj.SetCreationTimestamp(metav1.NewTime(p.Now().Truncate(secondsOf)))
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	obj.SetGeneration(0)
	if res.Generation {
		obj.SetGeneration(1)
	}
	if obj.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if res.Notice != nil {
		rq.warnings = append(rq.warnings, res.Notice(obj)...)
	}
	if res.PrepareCreate != nil {
		res.PrepareCreate(obj)
	}
	errs := rq.checkMeta(obj)
	if rules := rq.inFace(); rules != nil {
		errs = append(errs, rules(obj, nil)...)
	} else if res.Validate != nil {
		errs = append(errs, res.Validate(obj)...)
	}
	if err := invalid(rq.Kind, obj.GetName(), errs); err != nil {
		return err
	}
	rq.warn(obj, nil)
	rq.enter(stageAdmit)
	return s.validate(a)
}

// checkMeta checks the metadata that all kinds have.
func (rq *request) checkMeta(obj kinds.Object) field.ErrorList {
	at := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMetaAccessor(obj, rq.Kind.Namespaced, rq.res.Name, at)
	if rq.res.FreeFinalizers {
		return errs
	}
	for i, f := range obj.GetFinalizers() {
		errs = append(errs, check.Finalizer(f, at.Child("finalizers").Index(i))...)
	}
	return errs
}

// inFace are the rules of the group that the client sees the kind in; nil: the kind's own.
func (rq *request) inFace() func(obj, old kinds.Object) field.ErrorList {
	if rq.Face == nil {
		return nil
	}
	return rq.res.InFace[rq.Face.Group]
}

// warn adds what the kind has to say of an object that is accepted.
func (rq *request) warn(obj, old kinds.Object) {
	if rq.res.Warn != nil && (rq.Subresource == "" || rq.Subresource == "scale") {
		rq.warnings = append(rq.warnings, rq.res.Warn(obj, old)...)
	}
	if old == nil && idle[rq.Kind] {
		rq.warnings = append(rq.warnings, idleWarning(rq.Kind))
	}
}

// put writes an object that must not exist, with what it claims. nil without an error: it exists, or what it claims is not as it was.
func (s *Server) put(p *sim.Proc, rq *request, key string, obj kinds.Object) (stored kinds.Object, exists bool, err error) {
	rq.adopt(obj)
	value, err := s.codec.Encode(obj)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	lease, err := s.leases.lease(p, rq.res.TTL, rq.deadline)
	if err != nil {
		return nil, false, err
	}
	t := mvcc.Txn{If: []mvcc.Compare{{Key: key, Target: mvcc.CreateRevision}}, Then: []mvcc.Op{{Key: key, Value: value, Lease: lease}}, Read: []string{key}, Tag: rq.tag}
	if svc := asService(obj); svc != nil {
		if err := s.claim(p, rq, &t, svc, nil); err != nil {
			return nil, false, err
		}
	}
	r, err := s.door.txn(p, t, rq.deadline)
	if err != nil {
		return nil, false, err
	}
	if !r.Succeeded {
		return nil, len(r.Read) > 0, nil
	}
	stored, err = s.codec.Decode(&mvcc.KV{Key: key, Value: value, ModRevision: r.Revision})
	return stored, true, err
}

// change is what an update makes of the object that is stored.
type change func(old kinds.Object) (kinds.Object, error)

// updateTries bounds how often a change is made again on a newer version; for patches it is Kubernetes' own number (API-11).
const (
	updateTries = 100
	patchTries  = 5
)

// update applies a change to the stored object by compare and swap. It begins with the cached version, as Kubernetes does: where that is old, the swap or the
// change fails and is made again on the version of the store. remove reports that the new version takes the object away.
func (s *Server) update(p *sim.Proc, rq *request, tries int, fn change, remove func(obj, old kinds.Object) bool) (*kubeapi.Response, error) {
	old, fresh := s.cached(rq)
	for try := 1; ; try++ {
		if old == nil {
			var err error
			if old, err = s.current(p, rq); err != nil {
				return nil, err
			}
			fresh = true
		}
		obj, err := fn(old)
		if err != nil {
			if fresh {
				return nil, err
			}
			old = nil
			continue
		}
		rq.enter(stageStore)
		if rq.DryRun {
			return written(obj), nil
		}
		op := mvcc.Op{Key: rq.key}
		if remove != nil && remove(obj, old) {
			op.Delete = true
		} else {
			have, err := s.codec.value(rq.key, old)
			if err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			rq.adopt(obj)
			if op.Value, err = s.codec.Encode(obj); err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			if string(have) != string(op.Value) && s.onlyTimesDiffer(obj, old, have) {
				op.Value = have
			}
			if string(have) == string(op.Value) {
				if fresh {
					return written(old), nil
				}
				old = nil // nothing to write, but only the store knows whether that is still so
				continue
			}
			if op.Lease, err = s.leases.lease(p, rq.res.TTL, rq.deadline); err != nil {
				return nil, err
			}
		}
		t := mvcc.Txn{If: []mvcc.Compare{{Key: rq.key, Target: mvcc.ModRevision, Value: revisionOf(old)}}, Then: []mvcc.Op{op}, Read: []string{rq.key}, Tag: rq.tag}
		if svc := asService(old); svc != nil {
			now := asService(obj)
			if op.Delete {
				now = nil
			}
			if err := s.claim(p, rq, &t, now, svc); err != nil {
				return nil, err
			}
		}
		r, err := s.door.txn(p, t, rq.deadline)
		if err != nil {
			return nil, err
		}
		if r.Succeeded {
			if op.Delete {
				last := withRevision(obj, r.Revision)
				return &kubeapi.Response{Deleted: last, ResourceVersion: last.GetResourceVersion()}, nil
			}
			stored, err := s.codec.Decode(&mvcc.KV{Key: rq.key, Value: op.Value, ModRevision: r.Revision})
			if err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			return written(stored), nil
		}
		if len(r.Read) == 0 {
			return nil, notFound(rq.Kind, rq.Name)
		}
		if try >= tries {
			return nil, conflict(rq.Kind, rq.Name)
		}
		if old, err = s.codec.Decode(&r.Read[0]); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		fresh = true
	}
}

// cached is the version the server's own cache holds; nil when there is none.
func (s *Server) cached(rq *request) (obj kinds.Object, fresh bool) {
	if !s.cache.synced {
		return nil, false
	}
	obj, _ = s.cache.kinds[rq.Kind].items.Get(rq.key)
	return obj, false
}

// current is the version in the store, by a quorum read; 404 when there is none.
func (s *Server) current(p *sim.Proc, rq *request) (kinds.Object, error) {
	res, err := s.door.read(p, mvcc.Range{Key: rq.key}, rq.deadline)
	if err != nil {
		return nil, err
	}
	if len(res.KVs) == 0 {
		return nil, notFound(rq.Kind, rq.Name)
	}
	obj, err := s.codec.Decode(&res.KVs[0])
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj, nil
}

func revisionOf(obj kinds.Object) int64 { return parseRevision(obj.GetResourceVersion()) }

func parseRevision(v string) int64 {
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}
