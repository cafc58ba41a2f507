// Package storageprotection keeps claims that pods use, and volumes that are bound, from going away: it takes their protection finalizers off when nobody needs them any more (k/k
// pkg/controller/volume/pvcprotection and pvprotection). The API server puts the finalizers on.
//
// Owns: the finalizers kubernetes.io/pvc-protection and kubernetes.io/pv-protection. Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/event,
// engine/kinds. Goroutines: the loop. Time: simulated.
package storageprotection

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// The finalizers.
const (
	ClaimFinalizer  = "kubernetes.io/pvc-protection"
	VolumeFinalizer = "kubernetes.io/pv-protection"
)

// Workers is how many objects of each sort are worked on at a time.
const Workers = 1

// candidate reports that an object is being deleted and still held by the finalizer; unprotected that it lacks it and lives.
func candidate(o metav1.Object, finalizer string) bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), finalizer)
}

func unprotected(o metav1.Object, finalizer string) bool {
	return o.GetDeletionTimestamp() == nil && !slices.Contains(o.GetFinalizers(), finalizer)
}

func without(all []string, finalizer string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return f == finalizer })
}

// Claims is the pvc-protection-controller. Its keys are those of claims.
type Claims struct {
	in *informers.Informers
	*reconcile.Controller
}

// NewClaims makes the controller and registers its handlers; the informers must not have been started yet.
func NewClaims(pr *kubeapi.Process, in *informers.Informers) *Claims {
	c := &Claims{in: in}
	c.Controller = reconcile.New(pr, "pvcprotection", c)
	in.Claims.Handle(func(ch kubeapi.Change[*corev1.PersistentVolumeClaim]) {
		if ch.Type != event.Deleted && (candidate(ch.New, ClaimFinalizer) || unprotected(ch.New, ClaimFinalizer)) {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	in.Pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) {
		pod := ch.New
		if ch.Type == event.Deleted {
			pod = ch.Old
		} else if pod.Spec.NodeName != "" && !ended(pod) && !shutDown(pod) {
			return // it cannot be what a claim has waited for
		}
		for i := range pod.Spec.Volumes {
			if name := claimOf(pod, &pod.Spec.Volumes[i]); name != "" {
				c.Add(kubeapi.MakeKey(pod.Namespace, name), ch.Cause)
			}
		}
	})
	return c
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// shutDown reports that the kubelet is done with a pod, or that somebody deleted it by force.
func shutDown(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

// claimOf names the claim of a pod's volume; empty: it has none.
func claimOf(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// uses reports that a pod needs a claim: it has a node, whose kubelet mounts the volume. Pods without a node will not be started with a claim that is going away.
func uses(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if pod.Spec.NodeName == "" || pod.Namespace != claim.Namespace {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		if claimOf(pod, &v) != claim.Name {
			return false
		}
		return v.Ephemeral == nil || !shutDown(pod) && metav1.IsControlledBy(claim, pod)
	})
}

// Start runs the workers. The informers are to be synced by then.
func (c *Claims) Start() { c.Controller.Start(Workers) }

// Reconcile takes the finalizer off a claim that nobody uses, or puts it on one that has none.
func (c *Claims) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	claim, ok := c.in.Claims.Get(key)
	if !ok {
		return reconcile.Done, nil
	}
	next := claim.DeepCopy()
	switch {
	case candidate(claim, ClaimFinalizer):
		used, err := c.used(ps, claim)
		if err != nil || used {
			return reconcile.Done, err
		}
		ps.Decide("let claim %s go: no pod uses it", key)
		next.Finalizers = without(claim.Finalizers, ClaimFinalizer)
	case unprotected(claim, ClaimFinalizer):
		ps.Decide("protect claim %s, which is older than the protection", key)
		next.Finalizers = append(next.Finalizers, ClaimFinalizer)
	default:
		return reconcile.Done, nil
	}
	_, err := kubeapi.Replace(ps.Proc, ps.Client, next)
	return reconcile.Done, kubeapi.IgnoreNotFound(err)
}

// used asks the informer first, and where that knows no user the store: a pod may be too new for it.
func (c *Claims) used(ps *reconcile.Pass, claim *corev1.PersistentVolumeClaim) (bool, error) {
	by := func(pod *corev1.Pod) bool { return uses(pod, claim) }
	if slices.ContainsFunc(c.in.Pods.ByIndex(informers.ByNamespace, claim.Namespace), by) {
		return true, nil
	}
	pods, _, err := kubeapi.FetchList[*corev1.Pod](ps.Proc, ps.Client, kinds.Pods, kubeapi.ListOptions{Namespace: claim.Namespace})
	if err != nil {
		return false, fmt.Errorf("live list of pods failed: %w", err)
	}
	return slices.ContainsFunc(pods, by), nil
}

// Volumes is the pv-protection-controller. Its keys are names of volumes.
type Volumes struct {
	in *informers.Informers
	*reconcile.Controller
}

// NewVolumes makes the controller and registers its handlers; the informers must not have been started yet.
func NewVolumes(pr *kubeapi.Process, in *informers.Informers) *Volumes {
	c := &Volumes{in: in}
	c.Controller = reconcile.New(pr, "pvprotection", c)
	in.Volumes.Handle(func(ch kubeapi.Change[*corev1.PersistentVolume]) {
		if ch.Type != event.Deleted && (candidate(ch.New, VolumeFinalizer) || unprotected(ch.New, VolumeFinalizer)) {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Volumes) Start() { c.Controller.Start(Workers) }

// Reconcile takes the finalizer off a volume that is not bound, or puts it on one that has none.
func (c *Volumes) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	volume, ok := c.in.Volumes.Get(key)
	if !ok {
		return reconcile.Done, nil
	}
	next := volume.DeepCopy()
	switch {
	case candidate(volume, VolumeFinalizer) && volume.Status.Phase != corev1.VolumeBound:
		ps.Decide("let volume %s go: no claim is bound to it", key)
		next.Finalizers = without(volume.Finalizers, VolumeFinalizer)
	case unprotected(volume, VolumeFinalizer):
		ps.Decide("protect volume %s, which is older than the protection", key)
		next.Finalizers = append(next.Finalizers, VolumeFinalizer)
	default:
		return reconcile.Done, nil
	}
	_, err := kubeapi.Replace(ps.Proc, ps.Client, next)
	return reconcile.Done, kubeapi.IgnoreNotFound(err)
}
