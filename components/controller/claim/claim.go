// Package claim decides which objects a controller owns: it adopts orphans that its selector matches and releases what stopped matching (k/k
// pkg/controller/controller_ref_manager.go). Deployments claim replica sets, replica sets claim pods.
//
// Owns: Objects and the patches it sends. Imports of ours: components/kubeapi, components/reconcile, engine/kinds. Goroutines: the loop. Time: simulated.
package claim

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
)

// Verdict on one object.
type Verdict int

const (
	// Ignore: not ours and not to be.
	Ignore Verdict = iota
	// Keep: ours and matching.
	Keep
	// Adopt: an orphan that matches.
	Adopt
	// Release: ours but no longer matching.
	Release
)

// Judge says what becomes of obj. Pure.
func Judge(owner, obj kinds.Object, selector labels.Selector) Verdict {
	matches := selector.Matches(labels.Set(obj.GetLabels()))
	if ref := metav1.GetControllerOfNoCopy(obj); ref != nil {
		switch {
		case ref.UID != owner.GetUID():
			return Ignore
		case matches:
			return Keep
		case owner.GetDeletionTimestamp() != nil:
			return Ignore
		}
		return Release
	}
	if !matches || owner.GetDeletionTimestamp() != nil || obj.GetDeletionTimestamp() != nil || owner.GetNamespace() != obj.GetNamespace() {
		return Ignore
	}
	return Adopt
}

// Objects returns those of candidates that owner owns now, after adopting and releasing. Candidates are what owner controls plus the orphans of its namespace.
// Before the first adoption the owner is read anew: one that was deleted meanwhile must not adopt. Errors of single objects are joined; the others are still
// claimed, as in Kubernetes, but the caller gets no list then.
func Objects[T kinds.Object](ps *reconcile.Pass, owner kinds.Object, selector labels.Selector, candidates []T) ([]T, error) {
	var (
		claimed []T
		failed  error
		asked   bool
		refused error
	)
	for _, obj := range candidates {
		switch Judge(owner, obj, selector) {
		case Keep:
			claimed = append(claimed, obj)
		case Adopt:
			if !asked {
				asked, refused = true, mayAdopt(ps, owner)
			}
			if refused != nil {
				failed = firstOf(failed, fmt.Errorf("can't adopt %T %s (%s): %w", obj, kubeapi.KeyOf(obj), obj.GetUID(), refused))
				continue
			}
			ps.Decide("adopt %s %s: it has no owner and the selector matches its labels", kinds.MustOf(obj).Singular, obj.GetName())
			err := adopt(ps, owner, obj)
			if err == nil {
				claimed = append(claimed, obj)
			} else if !apierrors.IsNotFound(err) {
				failed = firstOf(failed, err)
			}
		case Release:
			ps.Decide("release %s %s: the selector no longer matches its labels", kinds.MustOf(obj).Singular, obj.GetName())
			failed = firstOf(failed, release(ps, owner, obj))
		}
	}
	if failed != nil {
		return nil, failed
	}
	return claimed, nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// mayAdopt reads owner from the store.
func mayAdopt(ps *reconcile.Pass, owner kinds.Object) error {
	k := kinds.MustOf(owner)
	fresh, err := kubeapi.Fetch[kinds.Object](ps.Proc, ps.Client, k, owner.GetNamespace(), owner.GetName())
	switch {
	case err != nil:
		return err
	case fresh.GetUID() != owner.GetUID():
		return fmt.Errorf("original %s %s is gone: got uid %s, wanted %s", k.Kind, kubeapi.KeyOf(owner), fresh.GetUID(), owner.GetUID())
	case fresh.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s has just been deleted at %s", kubeapi.KeyOf(owner), fresh.GetDeletionTimestamp())
	}
	return nil
}

func adopt(ps *reconcile.Pass, owner, obj kinds.Object) error {
	ref := metav1.NewControllerRef(owner, kinds.MustOf(owner).GVK())
	return patch(ps, obj, map[string]any{"metadata": map[string]any{"uid": obj.GetUID(), "ownerReferences": []any{ref}}})
}

// release takes owner out of obj's references. An object that is gone, is another one now, or has no such reference is released already.
func release(ps *reconcile.Pass, owner, obj kinds.Object) error {
	err := patch(ps, obj, map[string]any{"metadata": map[string]any{"uid": obj.GetUID(),
		"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": owner.GetUID()}}}})
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

func patch(ps *reconcile.Pass, obj kinds.Object, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode owner reference of %s: %w", kubeapi.KeyOf(obj), err)
	}
	_, err = ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.MustOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName(),
		PatchType: types.StrategicMergePatchType, Patch: data})
	return err
}
