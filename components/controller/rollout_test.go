package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func deployment(c *apitest.Cluster) *appsv1.Deployment {
	return c.Get(kinds.Deployments, "default", "nginx").(*appsv1.Deployment)
}

// livePods lists the pods that are not on their way out.
func livePods(c *apitest.Cluster) []*corev1.Pod {
	var out []*corev1.Pod
	for _, o := range c.List(kinds.Pods) {
		if o.GetDeletionTimestamp() == nil {
			out = append(out, o.(*corev1.Pod))
		}
	}
	return out
}

func conditionOf(d *appsv1.Deployment, t appsv1.DeploymentConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == t {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

func messages(c *apitest.Cluster, from event.Seq, reason string) []string {
	var out []string
	for _, r := range c.Records() {
		ch, ok := r.Event.(event.ObjectChanged)
		if e, is := ch.Object.(*corev1.Event); ok && is && r.Seq > from && e.Reason == reason {
			out = append(out, roles(e.Message))
		}
	}
	return out
}

// TestRollingUpdateKeepsItsBounds watches every committed state of whole rollouts: never more pods, never fewer available ones, than the strategy allows (case C-13).
func TestRollingUpdateKeepsItsBounds(t *testing.T) {
	for _, x := range []struct {
		replicas           int32
		surge, unavailable string
		most, least        int
	}{{1, "25%", "25%", 2, 1}, {4, "25%", "25%", 5, 3}, {10, "25%", "25%", 13, 8}, {10, "39%", "39%", 14, 7}, {3, "0", "1", 3, 2}, {2, "0", "25%", 2, 1}, {5, "50%", "0", 8, 5}} {
		t.Run(fmt.Sprintf("%d replicas, surge %s, unavailable %s", x.replicas, x.surge, x.unavailable), func(t *testing.T) {
			c := startManager(t)
			w := startPods(c)
			w.readyAfter, w.goneAfter = 3*time.Second, 5*time.Second
			c.Create(nginx(x.replicas, "nginx:1.27", func(d *appsv1.Deployment) {
				s, u := intstr.Parse(x.surge), intstr.Parse(x.unavailable)
				d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}}
			}))
			c.Run(10 * time.Second)
			from := c.Journal.Last()
			user{c}.image("nginx:1.28")
			c.Run(3 * time.Minute)
			if got := conditionOf(deployment(c), appsv1.DeploymentProgressing); got != `True NewReplicaSetAvailable: ReplicaSet "nginx-74c897db65" has successfully progressed.` {
				t.Fatalf("after three minutes: %s", got)
			}
			pods := map[string]*corev1.Pod{}
			for _, r := range c.Records() {
				ch, ok := r.Event.(event.ObjectChanged)
				pod, is := ch.Object.(*corev1.Pod)
				if !ok || !is {
					continue
				}
				if pods[pod.Name] = pod; ch.Type == event.Deleted || pod.DeletionTimestamp != nil {
					delete(pods, pod.Name)
				}
				available := 0
				for _, p := range pods {
					if isReady(p) {
						available++
					}
				}
				if r.Seq > from && (len(pods) > x.most || available < x.least) {
					t.Fatalf("at %v: %d pods with at most %d allowed, %d available with at least %d needed", r.At.Sub(apitest.Start), len(pods), x.most, available, x.least)
				}
			}
		})
	}
}

// TestRecreateWaitsForTheLastOldPod is case C-14.
func TestRecreateWaitsForTheLastOldPod(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(3, "nginx:1.27", func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }))
	c.Run(5 * time.Second)
	from := c.Journal.Last()
	user{c}.image("nginx:1.28")
	c.Run(20 * time.Second)
	if got := messages(c, from, "ScalingReplicaSet"); !slices.Equal(got, []string{"Scaled down replica set A from 3 to 0"}) {
		t.Fatalf("while old pods end: %v", got)
	}
	if d := deployment(c); d.Status.AvailableReplicas != 0 || len(c.List(kinds.ReplicaSets)) != 1 {
		t.Fatalf("%d available, %d replica sets", d.Status.AvailableReplicas, len(c.List(kinds.ReplicaSets)))
	}
	for left := 3; left > 0; left-- {
		if n := len(c.List(kinds.ReplicaSets)); n != 1 {
			t.Fatalf("with %d old pods left there are %d replica sets", left, n)
		}
		c.Do(func(p *sim.Proc, _ *kubeapi.Client) { w.goneOne(p, setNames["A"]) })
		c.Run(2 * time.Second)
	}
	c.Run(5 * time.Second)
	if got := messages(c, from, "ScalingReplicaSet"); !slices.Equal(got, []string{"Scaled down replica set A from 3 to 0", "Scaled up replica set B from 0 to 3"}) {
		t.Fatalf("in the end: %v", got)
	}
	if d := deployment(c); d.Status.AvailableReplicas != 3 || d.Annotations["deployment.kubernetes.io/revision"] != "2" {
		t.Errorf("%d available, revision %s", d.Status.AvailableReplicas, d.Annotations["deployment.kubernetes.io/revision"])
	}
}

func TestAStuckRolloutIsReportedAfterItsDeadline(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(5 * time.Second)
	w.readyAfter = 0
	user{c}.image("nginx:1.28")
	c.Run(599 * time.Second)
	if got := conditionOf(deployment(c), appsv1.DeploymentProgressing); !strings.HasPrefix(got, "True ReplicaSetUpdated") {
		t.Fatalf("before the deadline: %s", got)
	}
	c.Run(5 * time.Second)
	if got := conditionOf(deployment(c), appsv1.DeploymentProgressing); got != `False ProgressDeadlineExceeded: ReplicaSet "nginx-74c897db65" has timed out progressing.` {
		t.Fatalf("after the deadline: %s", got)
	}
	c.Do(func(p *sim.Proc, _ *kubeapi.Client) { w.readyOne(p, setNames["B"]) })
	w.readyAfter, w.goneAfter = time.Second, time.Second
	c.Run(30 * time.Second)
	if got := conditionOf(deployment(c), appsv1.DeploymentProgressing); !strings.HasPrefix(got, "True NewReplicaSetAvailable") {
		t.Fatalf("the rollout goes on when it can: %s", got)
	}
}

func TestAPausedDeploymentScalesButDoesNotRoll(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(5 * time.Second)
	u := user{c}
	u.patch("kubectl rollout pause deployment/nginx", `{"spec":{"paused":true}}`)
	u.image("nginx:1.28")
	u.scale("5")
	c.Run(5 * time.Second)
	d := deployment(c)
	if got := conditionOf(d, appsv1.DeploymentProgressing); got != "Unknown DeploymentPaused: Deployment is paused" || len(c.List(kinds.ReplicaSets)) != 1 || d.Status.AvailableReplicas != 5 {
		t.Fatalf("paused: %s, %d replica sets, %d available", got, len(c.List(kinds.ReplicaSets)), d.Status.AvailableReplicas)
	}
	u.patch("kubectl rollout resume deployment/nginx", `{"spec":{"paused":false}}`)
	c.Run(30 * time.Second)
	if d := deployment(c); d.Status.UpdatedReplicas != 5 || d.Status.Replicas != 5 {
		t.Fatalf("resumed: %+v", d.Status)
	}
}

func TestAReplicaSetScaledByHandIsPutRight(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(5 * time.Second)
	c.Update(kinds.ReplicaSets, "default", setNames["A"], "", func(o kinds.Object) { *o.(*appsv1.ReplicaSet).Spec.Replicas = 6 })
	c.Run(time.Second)
	if n := *c.Get(kinds.ReplicaSets, "default", setNames["A"]).(*appsv1.ReplicaSet).Spec.Replicas; n != 3 {
		t.Fatalf("%d a second later, want 3", n)
	}
}

func TestADeletedPodIsReplacedAtOnce(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(5 * time.Second)
	victim := livePods(c)[0]
	if err := c.Delete(kinds.Pods, "default", victim.Name, nil); err != nil {
		t.Fatal(err)
	}
	c.Run(200 * time.Millisecond)
	if n := len(livePods(c)); n != 3 || len(c.List(kinds.Pods)) != 4 {
		t.Fatalf("%d live pods of %d, want 3 of 4", n, len(c.List(kinds.Pods)))
	}
}

func TestFailedPodsAreReplacedAndLeftLying(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(5 * time.Second)
	evicted := livePods(c)[0].Name
	c.Update(kinds.Pods, "default", evicted, "status", func(o kinds.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodFailed })
	c.Run(5 * time.Second)
	if n := len(c.List(kinds.Pods)); n != 3 || c.Get(kinds.Pods, "default", evicted) == nil {
		t.Fatalf("%d pods, want the failed one and two others", n)
	}
}

func TestAPodThatIsRelabelledIsReleasedAndAMatchingOrphanAdopted(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(5 * time.Second)
	pod := livePods(c)[0]
	c.Update(kinds.Pods, "default", pod.Name, "", func(o kinds.Object) { o.(*corev1.Pod).Labels = map[string]string{"app": "debug"} })
	c.Run(2 * time.Second)
	free := c.Get(kinds.Pods, "default", pod.Name).(*corev1.Pod)
	if len(free.OwnerReferences) != 0 || len(livePods(c)) != 3 {
		t.Fatalf("owners %v, %d pods; want a free pod and a replacement", free.OwnerReferences, len(livePods(c)))
	}
	labels := pod.Labels // as its replica set gave them
	c.Update(kinds.Pods, "default", pod.Name, "", func(o kinds.Object) { o.(*corev1.Pod).Labels = labels })
	c.Run(2 * time.Second)
	owned := 0
	for _, p := range livePods(c) {
		if metav1.GetControllerOf(p) != nil {
			owned++
		}
	}
	if owned != 2 || len(livePods(c)) != 2 {
		t.Fatalf("%d owned of %d live pods; want the orphan adopted and one pod too many deleted", owned, len(livePods(c)))
	}
}

// TestScaleDownEmptiesTheFullerNodeFirst is the heart of case C-15: pods are bound in turn, so the fifth shares worker-2 with the first.
func TestScaleDownEmptiesTheFullerNodeFirst(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	c.Create(nginx(5, "nginx:1.27"))
	c.Run(10 * time.Minute)
	u := user{c}
	u.scale("4")
	c.Run(5 * time.Second)
	onNode := map[string]int{}
	for _, p := range livePods(c) {
		onNode[p.Spec.NodeName]++
	}
	if len(onNode) != 4 {
		t.Fatalf("5 → 4 leaves pods on %v, want one on each node", onNode)
	}
	cheap := livePods(c)[2].Name
	c.Update(kinds.Pods, "default", cheap, "", func(o kinds.Object) {
		o.SetAnnotations(map[string]string{"controller.kubernetes.io/pod-deletion-cost": "-10"})
	})
	u.scale("3")
	c.Run(5 * time.Second)
	if c.Get(kinds.Pods, "default", cheap) != nil {
		t.Fatal("4 → 3 spares the cheap pod")
	}
}

func TestATakenNameIsAHashCollision(t *testing.T) {
	c := startManager(t)
	startPods(c).readyAfter = time.Second
	c.Create(apitest.ReplicaSet(setNames["A"], 0))
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(10 * time.Second)
	d := deployment(c)
	if d.Status.CollisionCount == nil || *d.Status.CollisionCount != 1 || d.Status.AvailableReplicas != 2 {
		t.Fatalf("collisions %v, %d available; want 1 and 2", d.Status.CollisionCount, d.Status.AvailableReplicas)
	}
}

func TestMinReadySecondsDelaysAvailability(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(2, "nginx:1.27", func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 30 }))
	c.Run(25 * time.Second)
	if s := deployment(c).Status; s.ReadyReplicas != 2 || s.AvailableReplicas != 0 {
		t.Fatalf("after 25 s: %d ready, %d available", s.ReadyReplicas, s.AvailableReplicas)
	}
	c.Run(10 * time.Second)
	if s := deployment(c).Status; s.AvailableReplicas != 2 {
		t.Fatalf("after 35 s: %d available", s.AvailableReplicas)
	}
}

func TestOldRevisionsAreForgotten(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	two := int32(2)
	c.Create(nginx(1, "nginx:1.20", func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &two }))
	c.Run(5 * time.Second)
	for i := range 5 {
		user{c}.image(fmt.Sprintf("nginx:1.2%d", i+1))
		c.Run(20 * time.Second)
	}
	var revisions []string
	for _, o := range c.List(kinds.ReplicaSets) {
		revisions = append(revisions, o.GetAnnotations()["deployment.kubernetes.io/revision"])
	}
	slices.Sort(revisions)
	if !slices.Equal(revisions, []string{"4", "5", "6"}) {
		t.Fatalf("revisions %v, want the present one and two before", revisions)
	}
}
