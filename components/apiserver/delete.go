package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
)

// verdict is what a deletion does to the object that is stored.
type verdict uint8

const (
	removeNow    verdict = iota // the object goes in one step
	markThenGo                  // it is marked with grace 0 first, then goes: two changes, as watchers of Kubernetes see them
	markAndLeave                // it is marked; somebody else ends it
	leaveAsItWas                // its deletion has begun and nothing changes
)

// delete is DELETE. Its outcome is either the object's last state (gone) or the object marked for deletion (API-18, API-19, API-20).
func (s *Server) delete(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	o := &metav1.DeleteOptions{}
	if rq.Delete != nil {
		o = rq.Delete.DeepCopy()
	}
	if errs := metavalidation.ValidateDeleteOptions(o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if len(o.DryRun) > 0 {
		rq.DryRun = true
	}
	if rq.res.Deletable != nil {
		if text := rq.res.Deletable(rq.Namespace, rq.Name); text != "" {
			return nil, apierrors.NewForbidden(rq.Kind.GR(), rq.Name, fmt.Errorf("%s", text))
		}
	}
	var what verdict
	begin := func(old kinds.Object) (kinds.Object, error) {
		rq.enter(stageAdmit)
		if err := s.validate(&attributes{server: s, proc: p, rq: rq, old: old}); err != nil {
			return nil, err
		}
		obj := old.DeepCopyObject().(kinds.Object)
		var err error
		what, err = beginDeletion(rq.res, obj, o, p.Now())
		return obj, err
	}
	resp, err := s.update(p, rq, updateTries, begin, func(obj, old kinds.Object) bool { return what == removeNow })
	if err != nil && what == markThenGo && strings.Contains(err.Error(), raftstore.ErrNoSpace.Error()) {
		// A full store takes no mark, and a deletion without grace period and finalizers does without, in one step (STO-11, case C-04). Of what the real server does that is true for kinds that know no
		// grace period (there BeforeDelete says graceful=false, and Store.Delete goes straight to the deletion). For Pods it is not: podStrategy.CheckGracefulDelete is true whatever the period, so
		// BeforeDelete says graceful=true, updateForGracefulDeletionAndFinalizers writes the mark with grace 0 first, as here while there is room, and a full store
		// would refuse that.
		return s.update(p, rq, updateTries, begin, func(obj, old kinds.Object) bool { return what != markAndLeave && what != leaveAsItWas })
	}
	if err != nil || what != markThenGo || rq.DryRun {
		return resp, err
	}
	// The mark is written; now the object goes, unless somebody put a finalizer on it in between.
	last, err := s.update(p, rq, updateTries, func(old kinds.Object) (kinds.Object, error) { return old.DeepCopyObject().(kinds.Object), nil }, rq.res.Gone)
	if apierrors.IsNotFound(err) {
		return &kubeapi.Response{Deleted: resp.Object, ResourceVersion: resp.ResourceVersion}, nil
	}
	return last, err
}

// showDeleted are the kinds whose last state is the answer to a deletion that took effect at once; others answer with a Status (k/k pkg/registry: ReturnDeletedObject).
var showDeleted = []*kinds.Kind{kinds.Pods, kinds.Namespaces, kinds.Services, kinds.ServiceAccounts, kinds.ResourceQuotas, kinds.PodTemplates, kinds.PersistentVolumes, kinds.PersistentVolumeClaims,
	kinds.StorageClasses, kinds.CSIDrivers, kinds.CSINodes, kinds.VolumeAttachments, kinds.VolumeAttributesClasses}

// deleted gives a deletion its answer.
func deleted(rq *request, resp *kubeapi.Response) *kubeapi.Response {
	if resp != nil && resp.Deleted != nil && !slices.Contains(showDeleted, rq.Kind) {
		resp.Status = &metav1.Status{Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{Name: resp.Deleted.GetName(), Group: rq.Kind.Group, Kind: rq.Kind.Resource, UID: resp.Deleted.GetUID()}}
	}
	return resp
}

// beginDeletion changes obj as its deletion asks and says what is to happen to it.
func beginDeletion(res *resource.Resource, obj kinds.Object, o *metav1.DeleteOptions, now time.Time) (verdict, error) {
	if err := checkPreconditions(res.Kind, obj, o.Preconditions); err != nil {
		return 0, err
	}
	finalizers := dependentsFinalizers(res, obj, o)
	if res.Finalizer != "" && obj.GetDeletionTimestamp() == nil && !slices.Contains(finalizers, res.Finalizer) {
		finalizers = append(slices.Clone(finalizers), res.Finalizer)
	}
	changed := !slices.Equal(finalizers, obj.GetFinalizers())
	obj.SetFinalizers(finalizers)
	held := len(finalizers) > 0 || (res.Held != nil && res.Held(obj))
	begun := obj.GetDeletionTimestamp() != nil
	if res.Grace == nil {
		if !held {
			return removeNow, nil
		}
		if !begun {
			mark(obj, now, 0)
			if res.MarkDeleted != nil {
				res.MarkDeleted(obj)
			}
			return markAndLeave, nil
		}
		if changed {
			return markAndLeave, nil
		}
		return leaveAsItWas, nil
	}
	grace := res.Grace(obj, o.GracePeriodSeconds)
	if begun {
		have := obj.GetDeletionGracePeriodSeconds()
		if have == nil || *have == 0 || o.GracePeriodSeconds == nil || grace >= *have {
			if (have == nil || *have == 0) && !held {
				return removeNow, nil
			}
			return leaveAsItWas, nil
		}
		due := metav1.NewTime(obj.GetDeletionTimestamp().Add(time.Duration(grace-*have) * time.Second))
		obj.SetDeletionTimestamp(&due)
		obj.SetDeletionGracePeriodSeconds(&grace)
	} else {
		mark(obj, now, grace)
	}
	if grace == 0 && !held {
		return markThenGo, nil
	}
	return markAndLeave, nil
}

// mark writes the beginning of a deletion into obj.
func mark(obj kinds.Object, now time.Time, grace int64) {
	due := metav1.NewTime(now.Add(time.Duration(grace) * time.Second).Truncate(time.Second))
	obj.SetDeletionTimestamp(&due)
	obj.SetDeletionGracePeriodSeconds(&grace)
	if g := obj.GetGeneration(); g > 0 {
		obj.SetGeneration(g + 1)
	}
}

func checkPreconditions(k *kinds.Kind, obj kinds.Object, pre *metav1.Preconditions) error {
	if pre == nil {
		return nil
	}
	if pre.UID != nil && *pre.UID != obj.GetUID() {
		return preconditionConflict(k, obj.GetName(), fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *pre.UID, obj.GetUID()))
	}
	if pre.ResourceVersion != nil && *pre.ResourceVersion != obj.GetResourceVersion() {
		return preconditionConflict(k, obj.GetName(), fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *pre.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// dependentsFinalizers are the object's finalizers with those that the wish for its dependents adds or takes away.
func dependentsFinalizers(res *resource.Resource, obj kinds.Object, o *metav1.DeleteOptions) []string {
	orphan, foreground := res.Orphans, false
	has := obj.GetFinalizers()
	wish := o.OrphanDependents //lint:ignore SA1019 old clients still send it, and a server honours it
	switch {
	case wish != nil:
		orphan = *wish
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == metav1.DeletePropagationForeground
	case slices.Contains(has, metav1.FinalizerDeleteDependents):
		orphan, foreground = false, true
	case slices.Contains(has, metav1.FinalizerOrphanDependents):
		orphan = true
	}
	var out []string
	for _, f := range has {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	if slices.Equal(out, has) || sameSet(out, has) {
		return has
	}
	return out
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, v := range a {
		if !slices.Contains(b, v) {
			return false
		}
	}
	return true
}
