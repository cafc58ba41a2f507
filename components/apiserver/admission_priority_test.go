package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestPrioritiesComeFromStoredClasses(t *testing.T) {
	c := apitest.New(t)
	never := corev1.PreemptNever
	class := func(name string, value int32, isDefault bool, policy *corev1.PreemptionPolicy) error {
		_, err := c.TryCreate(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: isDefault, PreemptionPolicy: policy})
		return err
	}
	pod := func(name, class string, change ...func(*corev1.Pod)) (*corev1.Pod, error) {
		stored, err := c.TryCreate(apitest.Pod(name, append(change, func(p *corev1.Pod) { p.Spec.PriorityClassName = class })...))
		got, _ := stored.(*corev1.Pod)
		return got, err
	}
	expect := func(name, class, wantClass string, value int32, policy corev1.PreemptionPolicy) {
		t.Helper()
		got, err := pod(name, class)
		if err != nil {
			t.Fatal(err)
		}
		if got.Spec.PriorityClassName != wantClass || *got.Spec.Priority != value || *got.Spec.PreemptionPolicy != policy {
			t.Errorf("%s: class %q, priority %d, %s", name, got.Spec.PriorityClassName, *got.Spec.Priority, *got.Spec.PreemptionPolicy)
		}
	}
	expect("none", "", "", 0, corev1.PreemptLowerPriority)
	expect("critical", "system-cluster-critical", "system-cluster-critical", 2000000000, corev1.PreemptLowerPriority)
	refusedAs(t, class("batch", 7, false, &never), "")
	refusedAs(t, class("usual", 100, true, nil), "")
	expect("patient", "batch", "batch", 7, corev1.PreemptNever)
	expect("default", "", "usual", 100, corev1.PreemptLowerPriority)
	refusedAs(t, class("second", 5, true, nil), `priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`)
	_, err := pod("loud", "batch", func(p *corev1.Pod) { n := int32(9); p.Spec.Priority = &n })
	refusedAs(t, err, `pods "loud" is forbidden: the integer value of priority (9) must not be provided in pod spec; priority admission controller computed 7 from the given PriorityClass name`)
	_, err = pod("rude", "batch", func(p *corev1.Pod) { l := corev1.PreemptLowerPriority; p.Spec.PreemptionPolicy = &l })
	refusedAs(t, err, `pods "rude" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name`)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		err = kubeapi.Remove(p, client, kinds.PriorityClasses, "", "system-node-critical", nil)
	})
	refusedAs(t, err, `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`)
}
