// Package disruption keeps the account of PodDisruptionBudgets: how many of the pods that a budget guards are healthy, how many it needs, and so how many may be evicted now (k/k
// pkg/controller/disruption; fidelity PDB-1). The API server takes from that account with each eviction and notes the pod; this controller sees the pod go and counts anew. A pod that was noted and
// has not gone after two minutes counts again.
//
// Owns: the status of PodDisruptionBudgets, and the end of the condition DisruptionTarget. Imports of ours: components/kubeapi and its record, components/reconcile, components/controller/informers
// and podcondition, engine/event, engine/kinds.
// Goroutines: the loop. Time: simulated.
package disruption

import (
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many budgets are worked on at a time.
const Workers = 1

// DeletionTimeout is how long an evicted pod counts as going before anybody sees it go.
const DeletionTimeout = 2 * time.Minute

// Controller is the disruption controller. Its keys are budgets.
type Controller struct {
	in       *informers.Informers
	recorder *record.Recorder
	*reconcile.Controller
	stale *reconcile.Controller // its keys are pods
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{in: in, recorder: record.New(pr, "controllermanager")}
	c.Controller = reconcile.New(pr, "disruption", c)
	c.stale = reconcile.New(pr, "stale_pod_disruption", stale{c})
	in.Pods.Handle(stale{c}.mark)
	in.Budgets.Handle(func(ch kubeapi.Change[*policyv1.PodDisruptionBudget]) {
		if ch.Type != event.Deleted {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	in.Pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) {
		for _, pod := range []*corev1.Pod{ch.Old, ch.New} {
			if pod != nil {
				c.wake(pod, ch.Cause)
			}
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() {
	c.Controller.Start(Workers)
	c.stale.Start(Workers)
}

// wake lets the budgets that guard a pod be counted.
func (c *Controller) wake(pod *corev1.Pod, cause event.Seq) {
	for _, b := range c.in.Budgets.ByIndex(informers.ByNamespace, pod.Namespace) {
		if sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && sel.Matches(labels.Set(pod.Labels)) {
			c.Add(kubeapi.KeyOf(b), cause)
		}
	}
}

// Reconcile counts for one budget.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	b, ok := c.in.Budgets.Get(key)
	if !ok || b.DeletionTimestamp != nil {
		return reconcile.Done, nil
	}
	sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return reconcile.Done, nil // the API server lets no such selector in
	}
	var pods []*corev1.Pod
	for _, p := range c.in.Pods.ByIndex(informers.ByNamespace, b.Namespace) {
		if sel.Matches(labels.Set(p.Labels)) {
			pods = append(pods, p)
		}
	}
	if len(pods) == 0 {
		c.recorder.Eventf(ps.Proc, b, corev1.EventTypeNormal, "NoPods", "No matching pods found")
	}
	expected, desired, unmanaged, err := c.needs(ps, b, pods)
	if err != nil {
		c.recorder.Eventf(ps.Proc, b, corev1.EventTypeWarning, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: %v", err)
		return c.forbid(ps, b, err)
	}
	if unmanaged {
		c.recorder.Eventf(ps.Proc, b, corev1.EventTypeWarning, "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: %v) were found to be unmanaged. As a result, the status of the PDB "+
			"cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", sel)
	}
	going, recheck := c.going(ps, b, pods)
	status := account(b, int32(healthy(pods, going)), desired, expected, going, ps.Now())
	if !apiequality.Semantic.DeepEqual(b.Status, status) {
		ps.Decide("budget %s: %d of %d pods are healthy, %d must stay, so %d may be evicted", b.Name, status.CurrentHealthy, expected, desired, status.DisruptionsAllowed)
		next := b.DeepCopy()
		next.Status = status
		if _, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next); kubeapi.IgnoreNotFound(err) != nil {
			return reconcile.Done, fmt.Errorf("status of budget %s: %w", key, err)
		}
	}
	if recheck > 0 {
		return reconcile.Result{After: recheck, Why: "an evicted pod that is still there counts again then"}, nil
	}
	return reconcile.Done, nil
}

// forbid is what is safe when nothing can be counted: no eviction is allowed.
func (c *Controller) forbid(ps *reconcile.Pass, b *policyv1.PodDisruptionBudget, why error) (reconcile.Result, error) {
	next := b.DeepCopy()
	next.Status.DisruptionsAllowed = 0
	next.Status.ObservedGeneration = b.Generation
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason,
		Message: why.Error(), ObservedGeneration: b.Generation, LastTransitionTime: metav1.NewTime(ps.Now().Truncate(time.Second))})
	if !apiequality.Semantic.DeepEqual(b.Status, next.Status) {
		ps.Decide("budget %s allows nothing: %v", b.Name, why)
		if _, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next); kubeapi.IgnoreNotFound(err) != nil {
			return reconcile.Done, fmt.Errorf("status of budget %s: %w", kubeapi.KeyOf(b), err)
		}
	}
	return reconcile.Done, why
}

// needs is how many pods there should be and how many of them must stay healthy.
func (c *Controller) needs(ps *reconcile.Pass, b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (expected, desired int32, unmanaged bool, err error) {
	if m := b.Spec.MinAvailable; m != nil && m.Type == intstr.Int {
		return int32(len(pods)), m.IntVal, false, nil
	}
	if expected, unmanaged, err = c.scale(ps, pods); err != nil {
		return 0, 0, false, err
	}
	part := func(v *intstr.IntOrString) int32 { // percentages round up, either way
		n, _ := intstr.GetScaledValueFromIntOrPercent(v, int(expected), true)
		return int32(n)
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		desired = max(0, expected-part(b.Spec.MaxUnavailable))
	case b.Spec.MinAvailable != nil:
		desired = part(b.Spec.MinAvailable)
	}
	return expected, desired, unmanaged, nil
}

// scale adds up how many pods the controllers of these pods want. Pods that none controls are told of and do not count.
func (c *Controller) scale(ps *reconcile.Pass, pods []*corev1.Pod) (sum int32, unmanaged bool, err error) {
	seen := map[types.UID]bool{}
	for _, pod := range pods {
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil {
			unmanaged = true
			continue
		}
		if seen[ref.UID] {
			continue
		}
		seen[ref.UID] = true
		uid, n, err := c.scaleOf(ps, pod, ref)
		if err != nil {
			return 0, false, err
		}
		if uid != ref.UID {
			if seen[uid] {
				continue
			}
			seen[uid] = true
		}
		sum += n
	}
	return sum, unmanaged, nil
}

// scaleOf is how many pods the controller of a pod wants, or the Deployment behind it, and its UID.
func (c *Controller) scaleOf(ps *reconcile.Pass, pod *corev1.Pod, ref *metav1.OwnerReference) (types.UID, int32, error) {
	lost := fmt.Errorf("found no controllers for pod %q", pod.Name)
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", 0, err
	}
	if ref.Kind == kinds.ReplicaSets.Kind && gv.Group == kinds.ReplicaSets.Group {
		rs, ok := c.in.ReplicaSets.Get(kubeapi.MakeKey(pod.Namespace, ref.Name))
		if !ok || rs.UID != ref.UID {
			return "", 0, lost
		}
		behind := metav1.GetControllerOfNoCopy(rs)
		if behind == nil || behind.Kind != kinds.Deployments.Kind {
			return rs.UID, int32(kinds.Desired(rs.Spec.Replicas)), nil
		}
		d, ok := c.in.Deployments.Get(kubeapi.MakeKey(pod.Namespace, behind.Name))
		if !ok || d.UID != behind.UID {
			return rs.UID, int32(kinds.Desired(rs.Spec.Replicas)), nil
		}
		return d.UID, int32(kinds.Desired(d.Spec.Replicas)), nil
	}
	k, err := kinds.ForGVK(gv.WithKind(ref.Kind))
	if err != nil {
		return "", 0, lost
	}
	if _, ok := k.Subresource("scale"); !ok {
		return "", 0, fmt.Errorf("%s does not implement the scale subresource", k.GR())
	}
	resp, err := ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.Get, Kind: k, Namespace: pod.Namespace, Name: ref.Name, Subresource: "scale"})
	if apierrors.IsNotFound(err) {
		return "", 0, lost
	}
	if err != nil {
		return "", 0, fmt.Errorf("scale of %s %s: %w", k.Singular, ref.Name, err)
	}
	s, ok := resp.Object.(*autoscalingv1.Scale)
	if !ok || s.UID != ref.UID {
		return "", 0, lost
	}
	return s.UID, s.Spec.Replicas, nil
}

// going are the evicted pods that have not been seen to go, and in what time the first of them counts again.
func (c *Controller) going(ps *reconcile.Pass, b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (map[string]metav1.Time, time.Duration) {
	out := map[string]metav1.Time{}
	var recheck time.Duration
	for _, pod := range pods {
		at, ok := b.Status.DisruptedPods[pod.Name]
		if !ok || pod.DeletionTimestamp != nil {
			continue
		}
		rest := at.Add(DeletionTimeout).Sub(ps.Now())
		if rest < 0 {
			c.recorder.Eventf(ps.Proc, pod, corev1.EventTypeWarning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", b.Namespace, b.Name)
			continue
		}
		out[pod.Name] = at
		if rest += time.Millisecond; recheck == 0 || rest < recheck {
			recheck = rest
		}
	}
	return out, recheck
}

// healthy counts pods that are ready and stay.
func healthy(pods []*corev1.Pod, going map[string]metav1.Time) (n int) {
	for _, pod := range pods {
		if _, leaves := going[pod.Name]; pod.DeletionTimestamp == nil && !leaves && kinds.PodIsReady(pod) {
			n++
		}
	}
	return n
}

// account is the status of a budget. One that guards nothing yet allows nothing, so that its first pods are safe from the start.
func account(b *policyv1.PodDisruptionBudget, healthy, desired, expected int32, going map[string]metav1.Time, now time.Time) policyv1.PodDisruptionBudgetStatus {
	s := policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: expected, ObservedGeneration: b.Generation}
	if expected > 0 {
		s.DisruptionsAllowed = max(0, healthy-desired)
	}
	if len(going) > 0 {
		s.DisruptedPods = going
	}
	for _, c := range b.Status.Conditions {
		s.Conditions = append(s.Conditions, *c.DeepCopy())
	}
	allowed := metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason, ObservedGeneration: b.Generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second))}
	if s.DisruptionsAllowed > 0 {
		allowed.Status, allowed.Reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	meta.SetStatusCondition(&s.Conditions, allowed)
	return s
}
