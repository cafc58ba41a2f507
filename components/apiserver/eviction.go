package apiserver

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// How often an eviction begins anew when somebody else was faster, and how many evictions a budget lets pend (k/k pkg/registry/core/pod/storage/eviction.go).
const (
	evictionTries    = 20
	disruptedPodsMax = 2000
)

// evict is POST pods/<name>/eviction: a deletion that the pod's disruption budget must allow.
func (s *Server) evict(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	e, ok := rq.Object.(*policyv1.Eviction)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Eviction object: %T", rq.Object))
	}
	if e.Name != rq.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	o, err := rq.evictionOptions(e)
	if err != nil {
		return nil, err
	}
	rq.enter(stageValidate)
	pinned := o.Preconditions != nil && o.Preconditions.ResourceVersion != nil
	for try := 1; ; try++ {
		obj, err := s.current(p, rq)
		if err != nil {
			return nil, err
		}
		pod := obj.(*corev1.Pod)
		if err := s.admitEviction(rq, pod); err != nil {
			return nil, err
		}
		if !unbudgeted(pod) {
			return s.evictWithin(p, rq, pod, o, pinned)
		}
		with := o.DeepCopy()
		if pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil && !pinned {
			pin(with, pod) // it may become ready meanwhile, which would then be somebody's disruption
		}
		resp, err := s.deleteEvicted(p, rq, with)
		if err == nil || pinned || !apierrors.IsConflict(err) || try >= evictionTries {
			return resp, err
		}
	}
}

// evictionOptions are those inside the eviction; a dry run may be asked for there or beside it.
func (rq *request) evictionOptions(e *policyv1.Eviction) (*metav1.DeleteOptions, error) {
	o := &metav1.DeleteOptions{}
	if e.DeleteOptions != nil {
		o = e.DeleteOptions.DeepCopy()
	}
	var asked []string
	if rq.DryRun {
		asked = []string{metav1.DryRunAll}
	}
	switch {
	case len(o.DryRun) == 0:
		o.DryRun = asked
	case len(asked) > 0 && !reflect.DeepEqual(asked, o.DryRun):
		//lint:ignore ST1005 Kubernetes' own words
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, o.DryRun)
	}
	return o, nil
}

// unbudgeted pods may go at any time: they serve nobody any more, or not yet.
func unbudgeted(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return pod.DeletionTimestamp != nil
}

func pin(o *metav1.DeleteOptions, pod *corev1.Pod) {
	if o.Preconditions == nil {
		o.Preconditions = &metav1.Preconditions{}
	}
	v := pod.ResourceVersion
	o.Preconditions.ResourceVersion = &v
}

// evictWithin evicts a pod if its budget allows.
func (s *Server) evictWithin(p *sim.Proc, rq *request, pod *corev1.Pod, o *metav1.DeleteOptions, pinned bool) (*kubeapi.Response, error) {
	budgets := s.budgetsOf(pod)
	if len(budgets) > 1 {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}}
	}
	with, free := o, false
	if len(budgets) == 1 {
		b := budgets[0]
		// A pod that is not ready costs the budget nothing where the application does not need it, or where the budget does not guard such pods.
		if always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow; !podReady(pod) &&
			(always || b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0) {
			free = true
			with = o.DeepCopy()
			pin(with, pod)
		} else if err := s.chargeBudget(p, rq, b.Name, pod, len(o.DryRun) > 0); err != nil {
			return nil, err
		}
	}
	resp, err := s.deleteEvicted(p, rq, with)
	if free && !pinned && apierrors.IsConflict(err) {
		return nil, budgetBusy(budgets[0].Name)
	}
	return resp, err
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// budgetsOf lists the budgets that guard a pod.
func (s *Server) budgetsOf(pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, obj := range s.cache.list(&request{Request: &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.PodDisruptionBudgets, Namespace: pod.Namespace}, res: s.resources[kinds.PodDisruptionBudgets]}, 0).Items {
		b := obj.(*policyv1.PodDisruptionBudget)
		if sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && sel.Matches(labels.Set(pod.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

// chargeBudget takes one disruption from a budget and notes the pod there, so that the controller knows before it sees the pod go.
func (s *Server) chargeBudget(p *sim.Proc, rq *request, name string, pod *corev1.Pod, dry bool) error {
	k := kinds.PodDisruptionBudgets
	r := kubeapi.Request{Verb: kubeapi.Update, Kind: k, Namespace: pod.Namespace, Name: name, Subresource: "status", User: loopback, Manager: "kube-apiserver", DryRun: dry, From: rq.From, Cause: rq.Cause}
	part := *rq
	part.Request, part.res, part.key, part.applied = &r, s.resources[k], k.Key(pod.Namespace, name), false
	_, err := s.update(p, &part, evictionTries, func(old kinds.Object) (kinds.Object, error) {
		b := old.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		if err := disrupt(b, pod.Name, metav1.NewTime(p.Now().Truncate(secondsOf))); err != nil {
			return nil, err
		}
		s.track(&part, old, b)
		return b, nil
	}, nil)
	rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began
	return err
}

// disrupt takes one disruption from the budget, or says why there is none to be had.
func disrupt(b *policyv1.PodDisruptionBudget, pod string, now metav1.Time) error {
	st := &b.Status
	switch {
	case st.ObservedGeneration < b.Generation:
		return budgetBusy(b.Name)
	case st.DisruptionsAllowed < 0:
		return budgetForbids(b.Name, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
	case len(st.DisruptedPods) > disruptedPodsMax:
		return budgetForbids(b.Name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller", "too many pending evictions not confirmed by PDB controller")
	case st.DisruptionsAllowed == 0:
		return budgetSpent(b)
	}
	st.DisruptionsAllowed--
	if st.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&st.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
			ObservedGeneration: st.ObservedGeneration, LastTransitionTime: now})
	}
	if st.DisruptedPods == nil {
		st.DisruptedPods = map[string]metav1.Time{}
	}
	st.DisruptedPods[pod] = now
	return nil
}

const wouldViolate = "Cannot evict pod as it would violate the pod's disruption budget."

func budgetCause(format string, args ...any) metav1.StatusCause {
	return metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf(format, args...)}
}

func budgetBusy(name string) error {
	err := apierrors.NewTooManyRequests(wouldViolate, 10)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, budgetCause("The disruption budget %s is still being processed by the server.", name))
	return err
}

func budgetForbids(name, why, cause string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}, name, errors.New(why))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, budgetCause("The disruption budget %s does not allow evicting pods currently: %s", name, cause))
	return err
}

func budgetSpent(b *policyv1.PodDisruptionBudget) error {
	err := apierrors.NewTooManyRequests(wouldViolate, 0)
	cause := budgetCause("The disruption budget %s does not allow evicting pods currently", b.Name)
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	told := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case told && c.Reason == policyv1.SyncFailedReason:
		cause = budgetCause("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, c.Message)
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		cause = budgetCause("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case told:
		cause = budgetCause("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, cause)
	return err
}

// deleteEvicted marks the pod as a target of a disruption and deletes it.
func (s *Server) deleteEvicted(p *sim.Proc, rq *request, o *metav1.DeleteOptions) (*kubeapi.Response, error) {
	r := *rq.Request
	r.Verb, r.Subresource, r.Object, r.Delete = kubeapi.Delete, "", nil, o
	part := *rq
	part.Request = &r
	defer func() { rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began }()
	if len(o.DryRun) == 0 {
		now := metav1.NewTime(p.Now().Truncate(secondsOf))
		resp, err := s.update(p, &part, evictionTries, func(old kinds.Object) (kinds.Object, error) {
			if err := checkPreconditions(rq.Kind, old, o.Preconditions); err != nil {
				return nil, err
			}
			pod := old.DeepCopyObject().(*corev1.Pod)
			setPodCondition(&pod.Status, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
				LastTransitionTime: now})
			return pod, nil
		}, nil)
		if err != nil {
			return nil, err
		}
		if o.Preconditions != nil && o.Preconditions.ResourceVersion != nil {
			o = o.DeepCopy()
			o.Preconditions.ResourceVersion = &resp.ResourceVersion // it was this eviction that wrote
			r.Delete = o
		}
	}
	resp, err := s.delete(p, &part)
	if err != nil {
		return nil, err
	}
	return &kubeapi.Response{Status: &metav1.Status{Status: metav1.StatusSuccess}, ResourceVersion: resp.ResourceVersion, Created: true}, nil
}
