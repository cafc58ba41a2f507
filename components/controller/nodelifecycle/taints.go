package nodelifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Tries of a taint patch that meets a conflict (k/k pkg/controller: UpdateTaintBackoff).
const (
	taintTries = 5
	taintWait  = 100 * time.Millisecond
)

var (
	unreachable = corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	notReady    = corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}
)

// conditionTaints are the NoSchedule taints that mirror conditions.
var conditionTaints = []struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
}

// scheduling compares the NoSchedule taints a node should have by its conditions and spec.unschedulable with those it has. Taints of other keys are not ours.
func scheduling(node *corev1.Node) (add, remove []corev1.Taint) {
	decide := func(key string, want bool) {
		t := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}
		switch has := hasTaint(node.Spec.Taints, t); {
		case want && !has:
			add = append(add, t)
		case !want && has:
			remove = append(remove, t)
		}
	}
	for _, m := range conditionTaints {
		c := condition(node, m.condition)
		decide(m.key, c != nil && c.Status == m.status)
	}
	decide(corev1.TaintNodeUnschedulable, node.Spec.Unschedulable)
	return add, remove
}

// execution is the NoExecute taint that a Ready status asks for, and the one it excludes; ok is false for a ready node.
func execution(ready corev1.ConditionStatus) (add, remove corev1.Taint, ok bool) {
	switch ready {
	case corev1.ConditionFalse:
		return notReady, unreachable, true
	case corev1.ConditionUnknown:
		return unreachable, notReady, true
	}
	return add, remove, false
}

func hasTaint(taints []corev1.Taint, t corev1.Taint) bool {
	for i := range taints {
		if taints[i].MatchTaint(&t) {
			return true
		}
	}
	return false
}

// with is taints plus what add brings that is not there, stamped with now; changed is false when all were there.
func with(taints, add []corev1.Taint, now time.Time) (out []corev1.Taint, changed bool) {
	at := metav1.NewTime(now)
	stamp := at.Rfc3339Copy()
	out = append(out, taints...)
	for _, t := range add {
		if !hasTaint(out, t) {
			t.TimeAdded = &stamp
			out = append(out, t)
			changed = true
		}
	}
	return out, changed
}

// without is taints less what remove names.
func without(taints, remove []corev1.Taint) (out []corev1.Taint, changed bool) {
	for _, t := range taints {
		if hasTaint(remove, t) {
			changed = true
			continue
		}
		out = append(out, t)
	}
	return out, changed
}

// swapTaints adds, then removes taints of a node: two writes, so that no instant has neither.
func (c *Controller) swapTaints(p *sim.Proc, name string, add, remove []corev1.Taint) error {
	if len(add) > 0 {
		err := c.patchTaints(p, name, func(taints []corev1.Taint) ([]corev1.Taint, bool) { return with(taints, add, p.Now()) })
		if err != nil {
			return fmt.Errorf("taint node %s: %w", name, err)
		}
	}
	if len(remove) > 0 {
		err := c.patchTaints(p, name, func(taints []corev1.Taint) ([]corev1.Taint, bool) { return without(taints, remove) })
		if err != nil {
			return fmt.Errorf("take taint off node %s: %w", name, err)
		}
	}
	return nil
}

// patchTaints patches spec.taints on condition that the node has not changed, beginning with the local picture and looking at the live node after a conflict.
func (c *Controller) patchTaints(p *sim.Proc, name string, change func([]corev1.Taint) ([]corev1.Taint, bool)) error {
	node, ok := c.in.Nodes.Get(kubeapi.Key(name))
	var err error
	for try := range taintTries {
		if try > 0 || !ok {
			if node, err = kubeapi.Fetch[*corev1.Node](p, c.proc.Client, kinds.Nodes, "", name); err != nil {
				return err
			}
		}
		taints, changed := change(node.Spec.Taints)
		if !changed {
			return nil
		}
		old, next := *node, *node
		old.ResourceVersion = "" // the patch then names the version it is based on
		next.Spec.Taints = taints
		if _, err = kubeapi.PatchFrom(p, c.proc.Client, "", &old, &next); !apierrors.IsConflict(err) {
			return err
		}
		p.Sleep(taintWait + time.Duration(p.Rand().Float64()*float64(taintWait)))
	}
	return err
}
