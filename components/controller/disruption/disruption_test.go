package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/controller/disruption"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func start(t *testing.T) *apitest.Cluster {
	t.Helper()
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	return c
}

func budget(name string, least, most string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	if least != "" {
		v := intstr.Parse(least)
		b.Spec.MinAvailable = &v
	}
	if most != "" {
		v := intstr.Parse(most)
		b.Spec.MaxUnavailable = &v
	}
	return b
}

// ready makes pods of the application ready, up to n of them, by name, and the others not.
func ready(c *apitest.Cluster, n int) (names []string) {
	c.T.Helper()
	for _, o := range c.List(kinds.Pods) {
		if o.GetLabels()["app"] != "web" {
			continue
		}
		names = append(names, o.GetName())
		is := corev1.ConditionFalse
		if len(names) <= n {
			is = corev1.ConditionTrue
		}
		c.Update(kinds.Pods, "default", o.GetName(), "status", func(o kinds.Object) {
			p := o.(*corev1.Pod)
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: is}}
		})
	}
	c.Run(2 * time.Second)
	return names
}

func evict(c *apitest.Cluster, pod string) (err error) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		_, err = client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: pod, Subresource: "eviction",
			Object: &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod}}})
	})
	return err
}

func status(c *apitest.Cluster) string {
	c.T.Helper()
	b := c.Get(kinds.PodDisruptionBudgets, "default", "b").(*policyv1.PodDisruptionBudget)
	s := b.Status
	told := "untold"
	if cond := meta.FindStatusCondition(s.Conditions, policyv1.DisruptionAllowedCondition); cond != nil {
		told = cond.Reason
	}
	if s.ObservedGeneration != b.Generation {
		told += ", out of date"
	}
	return fmt.Sprintf("%d of %d healthy, %d needed, %d allowed, %s", s.CurrentHealthy, s.ExpectedPods, s.DesiredHealthy, s.DisruptionsAllowed, told)
}

func events(c *apitest.Cluster, reason string) bool {
	return slices.ContainsFunc(c.List(kinds.Events), func(o kinds.Object) bool { return o.(*corev1.Event).Reason == reason })
}

func TestABudgetIsCountedFromWhatItsControllersWant(t *testing.T) {
	for _, tc := range []struct{ name, least, most, want string }{
		{"a number that must stay", "2", "", "3 of 4 healthy, 2 needed, 1 allowed, SufficientPods"},
		{"all must stay", "100%", "", "3 of 4 healthy, 4 needed, 0 allowed, InsufficientPods"},
		{"shares round up", "55%", "", "3 of 4 healthy, 3 needed, 0 allowed, InsufficientPods"},
		{"a number that may go", "", "2", "3 of 4 healthy, 2 needed, 1 allowed, SufficientPods"},
		{"a share that may go rounds up", "", "30%", "3 of 4 healthy, 2 needed, 1 allowed, SufficientPods"},
		{"more may go than there are", "", "9", "3 of 4 healthy, 0 needed, 3 allowed, SufficientPods"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t)
			c.Create(apitest.Deployment("web", 4))
			c.Create(budget("b", tc.least, tc.most))
			c.Run(5 * time.Second)
			ready(c, 3)
			if got := status(c); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestEvictionsAreAllowedOneByOneAsReplacementsGetReady(t *testing.T) {
	c := start(t)
	c.Create(apitest.Deployment("web", 3))
	c.Create(budget("b", "2", ""))
	c.Run(5 * time.Second)
	names := ready(c, 3)
	if err := evict(c, names[0]); err != nil {
		t.Fatal(err)
	}
	err := evict(c, names[1])
	if err == nil || !strings.Contains(err.Error(), "Cannot evict pod as it would violate the pod's disruption budget.") {
		t.Errorf("the second at once: %v", err)
	}
	c.Run(5 * time.Second)
	if got, want := status(c), "2 of 3 healthy, 2 needed, 0 allowed, InsufficientPods"; got != want {
		t.Errorf("before the replacement is ready\ngot  %s\nwant %s", got, want)
	}
	ready(c, 9)
	if got, want := status(c), "3 of 3 healthy, 2 needed, 1 allowed, SufficientPods"; got != want {
		t.Errorf("with the replacement\ngot  %s\nwant %s", got, want)
	}
	if err := evict(c, names[1]); err != nil {
		t.Error(err)
	}
}

func TestAPodThatIsNotedAndStaysCountsAgainAfterTwoMinutes(t *testing.T) {
	c := start(t)
	c.Create(apitest.Deployment("web", 2))
	c.Create(budget("b", "1", ""))
	c.Run(5 * time.Second)
	names := ready(c, 2)
	c.Update(kinds.PodDisruptionBudgets, "default", "b", "status", func(o kinds.Object) {
		b := o.(*policyv1.PodDisruptionBudget)
		b.Status.DisruptedPods, b.Status.DisruptionsAllowed = map[string]metav1.Time{names[0]: metav1.NewTime(c.Loop.Now())}, 0
	})
	c.Run(disruption.DeletionTimeout - 5*time.Second)
	if got, want := status(c), "1 of 2 healthy, 1 needed, 0 allowed, InsufficientPods"; got != want {
		t.Errorf("while it may still go\ngot  %s\nwant %s", got, want)
	}
	c.Run(10 * time.Second)
	if got, want := status(c), "2 of 2 healthy, 1 needed, 1 allowed, SufficientPods"; got != want {
		t.Errorf("afterwards\ngot  %s\nwant %s", got, want)
	}
	if !events(c, "NotDeleted") {
		t.Error("nobody is told that it stayed")
	}
}

func TestWhatCannotBeCountedIsTold(t *testing.T) {
	c := start(t)
	c.Create(budget("b", "50%", ""))
	c.Run(5 * time.Second)
	if got, want := status(c), "0 of 0 healthy, 0 needed, 0 allowed, InsufficientPods"; got != want || !events(c, "NoPods") {
		t.Errorf("without pods\ngot  %s\nwant %s; told: %t", got, want, events(c, "NoPods"))
	}
	c.Create(apitest.Pod("alone", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }))
	c.Run(2 * time.Second)
	if !events(c, "UnmanagedPods") {
		t.Error("nobody is told of a pod without a controller")
	}
	yes := true
	c.Create(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: apitest.Pod("x").Spec}}})
	set := c.Get(kinds.StatefulSets, "default", "web")
	c.Update(kinds.StatefulSets, "default", "web", "", func(o kinds.Object) { n := int32(4); o.(*appsv1.StatefulSet).Spec.Replicas = &n })
	c.Create(apitest.Pod("web-0", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: set.GetUID(), Controller: &yes}}
	}))
	c.Run(5 * time.Second)
	if got, want := status(c), "0 of 4 healthy, 2 needed, 0 allowed, InsufficientPods"; got != want {
		t.Errorf("with a stateful set\ngot  %s\nwant %s", got, want)
	}
	c.Create(&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: apitest.Pod("x").Spec}}})
	daemons := c.Get(kinds.DaemonSets, "default", "web")
	c.Create(apitest.Pod("odd", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "web", UID: daemons.GetUID(), Controller: &yes}}
	}))
	c.Run(10 * time.Second)
	if got, want := status(c), "0 of 4 healthy, 2 needed, 0 allowed, SyncFailed"; got != want || !events(c, "CalculateExpectedPodCountFailed") {
		t.Errorf("with a daemon set, whose scale nobody knows\ngot  %s\nwant %s", got, want)
	}
}

func TestATargetThatStaysIsNoTargetAfterTwoMinutes(t *testing.T) {
	c := start(t)
	target := func(name, reason string, phase corev1.PodPhase) {
		c.Create(apitest.Pod(name))
		c.Update(kinds.Pods, "default", name, "status", func(o kinds.Object) {
			p := o.(*corev1.Pod)
			p.Status.Phase = phase
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(c.Loop.Now())}}
		})
	}
	target("evicted", "EvictionByEvictionAPI", corev1.PodRunning)
	target("ended", "EvictionByEvictionAPI", corev1.PodSucceeded)
	target("short-of-memory", corev1.PodReasonTerminationByKubelet, corev1.PodRunning)
	is := func(name string) corev1.ConditionStatus {
		return c.Get(kinds.Pods, "default", name).(*corev1.Pod).Status.Conditions[0].Status
	}
	c.Run(115 * time.Second)
	if is("evicted") != corev1.ConditionTrue {
		t.Error("it is taken back before two minutes are over")
	}
	c.Run(10 * time.Second)
	for name, want := range map[string]corev1.ConditionStatus{"evicted": corev1.ConditionFalse, "ended": corev1.ConditionTrue, "short-of-memory": corev1.ConditionTrue} {
		if got := is(name); got != want {
			t.Errorf("pod %s is a target: %s, want %s", name, got, want)
		}
	}
}
