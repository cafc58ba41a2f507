package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

func TestItemsSayWhichPartWhyAndWhatMovesThem(t *testing.T) {
	b := newBench()
	b.run(time.Minute, func(p *sim.Proc) {
		for _, n := range []string{"parked:", "woken:", "failed:"} {
			b.q.Add(fixture.Pod(n), 1)
		}
		b.q.Refused(b.q.Pop(p), []string{"NodeAffinity", "NodeResourcesFit"}, 1)
		p.Sleep(time.Second / 2)
		b.q.Refused(b.q.Pop(p), []string{"InterPodAffinity"}, 1)
		b.q.Failed(b.q.Pop(p), 1)
		it, _ := b.q.Get("default/woken")
		b.q.wake(it, "pod q has left (InterPodAffinity)", 2)
		b.q.Add(fixture.Pod("active:"), 1)
		s := b.q.State(1, []event.QueueItem{{Key: "default/bound", State: event.ItemInWork}})
		var lines []string
		for _, it := range s.Items {
			line := fmt.Sprintf("%s %s x%d", it.State, it.Key, it.Retries)
			if !it.Due.IsZero() {
				line += " due " + it.Due.Sub(start).String()
			}
			for _, more := range []string{it.Why, it.Moves} {
				if more != "" {
					line += " | " + more
				}
			}
			lines = append(lines, line)
		}
		want := `active default/active x0 | the pod has no node
work default/bound x0
backoff default/woken x1 due 1.5s | pod q has left (InterPodAffinity)
backoff default/failed x1 due 1.5s | the attempt failed
unschedulable default/parked x1 due 5m0s | refused by NodeAffinity, NodeResourcesFit | a node gets the labels it asks for; a pod leaves or shrinks, or a node grows or is new`
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if s.Added != 4 || s.Done != 3 || s.Retried != 3 || s.Failing != 3 || !s.Oldest.Equal(start.Add(time.Second/2)) {
			t.Errorf("%+v", s)
		}
	})
}

func TestAGatedPodHasNoTimeToBeTriedAt(t *testing.T) {
	b := newBench()
	b.run(time.Minute, func(*sim.Proc) {
		pod := fixture.Pod("a:")
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		b.q.Add(pod, 1)
		if it := b.q.State(0, nil).Items[0]; !it.Due.IsZero() || it.Moves != "its last scheduling gate is removed" {
			t.Errorf("%+v", it)
		}
	})
}

func TestOnlyAFewItemsOfAPartAreListed(t *testing.T) {
	b := newBench()
	b.run(time.Minute, func(p *sim.Proc) {
		for i := range 50 {
			b.q.Add(fixture.Pod(fmt.Sprintf("p%02d:", i)), 1)
		}
		for range 20 {
			b.q.Refused(b.q.Pop(p), []string{"NodeResourcesFit"}, 1)
		}
		s := b.q.State(0, nil)
		if len(s.Items) != 2*event.QueueItemsMax || s.Items[0].Key != "default/p20" || s.Items[event.QueueItemsMax].Key != "default/p00" {
			t.Errorf("%d items: %+v", len(s.Items), s.Items)
		}
	})
}
