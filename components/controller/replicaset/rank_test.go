package replicaset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// pod is running and ready on node since ten minutes, unless changed.
func pod(name, node string, changes ...func(*corev1.Pod)) *corev1.Pod {
	since := metav1.NewTime(now.Add(-10 * time.Minute))
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: since, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}}},
	}
	for _, fn := range changes {
		fn(p)
	}
	return p
}

func pending(p *corev1.Pod)  { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }
func unknown(p *corev1.Pod)  { p.Status.Phase = corev1.PodUnknown }
func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func cost(c string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[deletionCost] = c }
}
func readyFor(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-d)) }
}
func bornBefore(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(now.Add(-d)) }
}
func restarted(n int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: n}}
	}
}

func TestWhichPodGoesFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		pods   []*corev1.Pod
		onNode map[string]int
		want   string
	}{
		{"an unassigned pod goes before all, whatever its cost", []*corev1.Pod{pod("b", "w1", cost("-100")), pod("a", "", pending, cost("100"))}, nil, "a b"},
		{"Pending before Unknown before Running", []*corev1.Pod{pod("run", "w1"), pod("unk", "w1", unknown), pod("pend", "w1", pending)}, nil, "pend unk run"},
		{"one that is not ready before a ready one", []*corev1.Pod{pod("ok", "w1"), pod("sick", "w1", notReady)}, nil, "sick ok"},
		{"the cheaper one", []*corev1.Pod{pod("dear", "w1", cost("10")), pod("plain", "w1"), pod("cheap", "w1", cost("-10"))}, nil, "cheap plain dear"},
		{"a cost that is no number counts as 0", []*corev1.Pod{pod("b", "w1", cost("1")), pod("a", "w1", cost("cheap")), pod("c", "w1", cost("-1"))}, nil, "c a b"},
		{"the one on the fuller node", []*corev1.Pod{pod("alone", "w2"), pod("crowd", "w1")}, map[string]int{"w1": 3, "w2": 1}, "crowd alone"},
		{"cost counts more than crowding", []*corev1.Pod{pod("crowd", "w1"), pod("cheap", "w3", cost("-10"))}, map[string]int{"w1": 3, "w3": 1}, "cheap crowd"},
		{"the one ready for a shorter time", []*corev1.Pod{pod("old", "w1", readyFor(time.Hour)), pod("young", "w1", readyFor(time.Minute))}, nil, "young old"},
		{"within a power of two of time the order is by UID", []*corev1.Pod{pod("b", "w1", readyFor(19*time.Minute)), pod("a", "w1", readyFor(20*time.Minute))}, nil, "a b"},
		{"the one with more restarts when both became ready together", []*corev1.Pod{pod("calm", "w1"), pod("wild", "w1", restarted(4))}, nil, "wild calm"},
		{"the younger when nothing else tells", []*corev1.Pod{pod("old", "w1", notReady, bornBefore(time.Hour)), pod("young", "w1", notReady, bornBefore(time.Minute))}, nil, "young old"},
	} {
		var got []string
		for _, p := range rank(c.pods, c.onNode, now) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
}

func TestCreationsStartSlowlyAndStopAtAFailure(t *testing.T) {
	for _, c := range []struct {
		n, failing int // the failing-th call fails
		batches    string
		made       int
	}{
		{10, 0, "[1 2 4 3]", 10},
		{1, 1, "[1]", 0},
		{10, 3, "[1 2]", 2},
		{10, 4, "[1 2 4]", 6},
		{0, 0, "[]", 0},
	} {
		batches, calls := []int{}, 0
		made, err := slowStart(c.n, func(batch int) (ok int, err error) {
			batches = append(batches, batch)
			for range batch {
				if calls++; calls == c.failing {
					err = errors.New("quota")
				} else {
					ok++
				}
			}
			return ok, err
		})
		if fmt.Sprint(batches) != c.batches || made != c.made || (err != nil) != (c.failing > 0) {
			t.Errorf("%d creations of which number %d fails: batches %v, made %d, error %v; want %s and %d", c.n, c.failing, batches, made, err, c.batches, c.made)
		}
	}
}

func TestStatusCountsPods(t *testing.T) {
	three := int32(3)
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Generation: 4}, Spec: appsv1.ReplicaSetSpec{Replicas: &three, MinReadySeconds: 30,
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}}}
	labelled := func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web", "more": "x"} }
	active := []*corev1.Pod{pod("a", "w1", labelled), pod("b", "w1", readyFor(29*time.Second)), pod("c", "w1", labelled, notReady)}
	s := statusOf(rs, active, []*corev1.Pod{pod("d", "w1")}, nil, now)
	got := fmt.Sprint(s.ObservedGeneration, s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, *s.TerminatingReplicas)
	if got != "4 3 2 2 1 1" {
		t.Errorf("generation, pods, labelled, ready, available, terminating: %s, want 4 3 2 2 1 1", got)
	}
	if next := nextAvailable(active, 30, now); next != time.Second {
		t.Errorf("the next pod becomes available in %v, want 1s", next)
	}
}

func TestFailureConditionComesAndGoes(t *testing.T) {
	cs := failureCondition(nil, -2, errors.New("exceeded quota"), now)
	if len(cs) != 1 || cs[0].Reason != "FailedCreate" || cs[0].Message != "exceeded quota" {
		t.Fatalf("got %v", cs)
	}
	if again := failureCondition(cs, -2, errors.New("another"), now.Add(time.Hour)); again[0].Message != "exceeded quota" {
		t.Errorf("the first failure is replaced by %q", again[0].Message)
	}
	if gone := failureCondition(cs, 0, nil, now); len(gone) != 0 {
		t.Errorf("it stays: %v", gone)
	}
	if cs := failureCondition(nil, 2, errors.New("x"), now); cs[0].Reason != "FailedDelete" {
		t.Errorf("reason %s, want FailedDelete", cs[0].Reason)
	}
}
