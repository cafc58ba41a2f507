package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
)

// systemClasses are the priority classes every cluster has (k/k pkg/apis/scheduling/v1), in the order in which they are made.
func systemClasses() []*schedulingv1.PriorityClass {
	return []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"}, Value: 2000001000, Description: "Used for system critical pods that must not be moved from their current node."},
		{ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"}, Value: 2000000000, Description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
	}
}

// priority turns the name of a priority class into its number and policy.
func priority(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || a.rq.Subresource != "" {
		return nil
	}
	if old, ok := a.old.(*corev1.Pod); ok {
		if pod.Spec.Priority == nil {
			pod.Spec.Priority = old.Spec.Priority
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
		}
		return nil
	}
	class := &schedulingv1.PriorityClass{} // of pods in a cluster that has no default
	if name := pod.Spec.PriorityClassName; name != "" {
		found, ok, err := fetched[*schedulingv1.PriorityClass](a, kinds.PriorityClasses, "", name)
		if err != nil {
			return err
		}
		if !ok {
			return a.forbid("no PriorityClass with name %v was found", name)
		}
		class = found
	} else if d := defaultPriority(a); d != nil {
		class = d
		pod.Spec.PriorityClassName = d.Name
	}
	value, policy := class.Value, corev1.PreemptLowerPriority
	if class.PreemptionPolicy != nil {
		policy = *class.PreemptionPolicy
	}
	if have := pod.Spec.Priority; have != nil && *have != value {
		return a.forbid("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *have, value)
	}
	if have := pod.Spec.PreemptionPolicy; have != nil && *have != policy {
		return a.forbid("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *have, policy)
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = &value, &policy
	return nil
}

// defaultPriority is the class of pods that name none: of several marked ones, which only a race leaves, the lowest.
func defaultPriority(a *attributes) *schedulingv1.PriorityClass {
	var least *schedulingv1.PriorityClass
	eachSeen(a, kinds.PriorityClasses, "", func(c *schedulingv1.PriorityClass) bool {
		if c.GlobalDefault && (least == nil || c.Value < least.Value) {
			least = c
		}
		return true
	})
	return least
}

// onePriorityDefault keeps a cluster to one class that is the default.
func onePriorityDefault(a *attributes) error {
	class, ok := a.obj.(*schedulingv1.PriorityClass)
	if !ok || a.rq.Subresource != "" || !class.GlobalDefault {
		return nil
	}
	if d := defaultPriority(a); d != nil && (a.old == nil || d.Name != class.Name) {
		return a.forbid("PriorityClass %v is already marked as default. Only one default can exist", d.Name)
	}
	return nil
}
