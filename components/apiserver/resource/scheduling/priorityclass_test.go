package scheduling

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPriorityClasses(t *testing.T) {
	res := priorityClassResource()
	class := func(name string, value int32) *schedulingv1.PriorityClass {
		c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		res.Default(c)
		return c
	}
	if c := class("a", 1); *c.PreemptionPolicy != corev1.PreemptLowerPriority {
		t.Errorf("defaulted to %v", *c.PreemptionPolicy)
	}
	for _, c := range []struct {
		o    *schedulingv1.PriorityClass
		want string
	}{
		{class("a", 1000000000), ""},
		{class("system-node-critical", 2000001000), ""},
		{class("a", 1000000001), "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{class("system-x", 1), "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class"},
	} {
		got := ""
		if e := res.Validate(c.o).ToAggregate(); e != nil {
			got = e.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.o.Name, got, c.want)
		}
	}
	if e := res.ValidateUpdate(class("a", 2), class("a", 1), "").ToAggregate(); e == nil || e.Error() != "value: Forbidden: may not be changed in an update." {
		t.Errorf("a changed value: %v", e)
	}
}
