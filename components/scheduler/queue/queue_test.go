package queue

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/components/scheduler/plugins"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// bench is a queue in virtual time with its facts as a log of lines.
type bench struct {
	loop *sim.Loop
	q    *Queue
	log  []string
}

func newBench() *bench {
	b := &bench{loop: sim.New(sim.Options{Start: start, Rate: sim.Unpaced})}
	b.q = New(Options{Plugins: plugins.Default(nil, nil), Now: b.loop.Now, Emit: func(cause event.Seq, e event.Event) event.Seq {
		f := e.(event.PodQueued)
		line := fmt.Sprintf("%v %s %s", b.loop.Now().Sub(start), f.Pod.Name, f.Queue)
		if !f.Until.IsZero() {
			line += fmt.Sprintf(" until %v", f.Until.Sub(start))
		}
		b.log = append(b.log, line)
		return cause + 1
	}})
	return b
}

// run executes fn as a process and lets d pass.
func (b *bench) run(d time.Duration, fn func(p *sim.Proc)) {
	b.loop.Spawn(b.loop.NewGroup("test"), "test", fn)
	b.loop.RunUntil(context.Background(), b.loop.Now().Add(d))
}

func labelChange(to string) *framework.Change {
	return &framework.Change{Kind: framework.NodeLabels, OldNode: fixture.Node("w2:"), NewNode: fixture.Node("w2: label " + to), Why: "labels of node w2 changed"}
}

func TestPodsWaitByPriorityThenByTime(t *testing.T) {
	b := newBench()
	var got []string
	b.run(time.Minute, func(p *sim.Proc) {
		for _, s := range []string{"a:", "b: priority 10", "c:", "d: priority 10", "e: priority -1"} {
			b.q.Add(fixture.Pod(s), 1)
			p.Sleep(time.Millisecond)
		}
		for range 5 {
			got = append(got, b.q.Pop(p).Info.Pod.Name)
		}
	})
	if s := strings.Join(got, " "); s != "b d a c e" {
		t.Errorf("got %s", s)
	}
}

func TestBackoffAfterErrorsDoublesUpToTenSeconds(t *testing.T) {
	b := newBench()
	var gaps []string
	b.run(10*time.Minute, func(p *sim.Proc) {
		b.q.Add(fixture.Pod("a:"), 1)
		for range 7 {
			before := p.Now()
			it := b.q.Pop(p)
			gaps = append(gaps, p.Now().Sub(before).String())
			b.q.Failed(it, 1)
		}
	})
	if s := strings.Join(gaps, " "); s != "0s 1s 2s 4s 8s 10s 10s" {
		t.Errorf("gaps are %s", s)
	}
}

func TestRefusedPodsBackOffTheSame(t *testing.T) {
	b := newBench()
	b.run(10*time.Minute, func(p *sim.Proc) {
		b.q.Add(fixture.Pod("a: cpu 1"), 1)
		for range 6 {
			it := b.q.Pop(p)
			b.q.Refused(it, []string{"NodeResourcesFit"}, 1)
			b.q.Move(&framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q:")}, 2)
			p.Sleep(it.until.Sub(p.Now()))
		}
	})
	var untils []string
	for _, l := range b.log {
		if _, u, ok := strings.Cut(l, "until "); ok {
			untils = append(untils, u)
		}
	}
	if s := strings.Join(untils, " "); s != "1s 3s 7s 15s 25s 35s" {
		t.Errorf("back-offs end at %s", s)
	}
}

func TestAnIdleSchedulerTakesBackedOffPodsEarly(t *testing.T) {
	b := newBench()
	at := time.Duration(-1)
	b.run(time.Minute, func(p *sim.Proc) {
		b.q.Add(fixture.Pod("a: cpu 1"), 1)
		b.q.Refused(b.q.Pop(p), []string{"NodeResourcesFit"}, 1)
		b.q.Move(&framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q:")}, 2)
		b.q.Pop(p)
		at = p.Now().Sub(start)
	})
	if at != 0 || strings.Join(b.log, "; ") != "0s a active; 0s a unschedulable; 0s a backoff until 1s" {
		t.Errorf("at %v: %v", at, b.log)
	}
}

func TestATypoInANodeSelectorWaitsForItsLabel(t *testing.T) {
	b := newBench()
	var cause event.Seq
	var popped, moved time.Duration
	b.run(90*time.Second, func(p *sim.Proc) {
		b.q.Add(fixture.Pod("p: selector disktype=sdd"), 1)
		b.q.Refused(b.q.Pop(p), []string{"TaintToleration", "NodeAffinity"}, 2)
		p.Go("changes", func(p *sim.Proc) {
			p.Sleep(30 * time.Second)
			b.q.Move(labelChange("disktype=ssd"), 40)
			b.q.Move(&framework.Change{Kind: framework.NodeAllocatable, OldNode: fixture.Node("w1:"), NewNode: fixture.Node("w1: cpu 8")}, 41)
			b.q.Move(&framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q:")}, 42)
			p.Sleep(30 * time.Second)
			b.q.Move(labelChange("disktype=sdd"), 50)
			moved = p.Now().Sub(start)
		})
		it := b.q.Pop(p)
		popped, cause = p.Now().Sub(start), it.Cause
	})
	if popped != 60*time.Second || moved != popped || cause != 51 {
		t.Errorf("popped at %v (label at %v), cause %d: %v", popped, moved, cause, b.log)
	}
}

func TestForgottenPodsAreTriedAfterFiveMinutes(t *testing.T) {
	b := newBench()
	var popped time.Duration
	b.run(10*time.Minute, func(p *sim.Proc) {
		b.q.Add(fixture.Pod("p: selector a=b"), 1)
		p.Sleep(10 * time.Second)
		b.q.Refused(b.q.Pop(p), []string{"NodeAffinity"}, 2)
		p.Go("flush", func(p *sim.Proc) {
			for {
				p.Sleep(FlushEvery)
				b.q.Flush()
			}
		})
		b.q.Pop(p)
		popped = p.Now().Sub(start)
	})
	if popped != 310*time.Second+30*time.Second { // flushes fall on 10 s + 30 s·n; at 310 s it is not yet longer than 5 min
		t.Errorf("popped at %v", popped)
	}
}

func TestGatedPodsWaitForTheirGates(t *testing.T) {
	b := newBench()
	gated := fixture.Pod("p: gate example.com/ready")
	var popped bool
	b.run(time.Hour, func(p *sim.Proc) {
		b.q.Add(gated, 1)
		p.Go("popper", func(p *sim.Proc) { b.q.Pop(p); popped = true })
		for range 100 {
			p.Sleep(FlushEvery)
			b.q.Flush()
		}
		if popped {
			t.Error("popped with its gate")
		}
		free := gated.DeepCopy()
		free.Spec.SchedulingGates = nil
		free.Generation++
		b.q.Add(free, 2)
		p.Sleep(1)
		if !popped {
			t.Error("not popped without its gate")
		}
	})
}

func TestAStatusPatchOfItsOwnWakesNobody(t *testing.T) {
	b := newBench()
	b.run(time.Hour, func(p *sim.Proc) {
		pod := fixture.Pod("p: cpu 1")
		b.q.Add(pod, 1)
		b.q.Refused(b.q.Pop(p), []string{"NodeResourcesFit", "PodTopologySpread", "NodeAffinity"}, 2)
		patched := pod.DeepCopy()
		patched.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
		b.q.Add(patched, 3)
		if s := b.q.State(0, nil); s.Parts[Unschedulable] != 1 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
		if it, _ := b.q.Get("default/p"); it.Info.Pod != patched {
			t.Error("the new version was not taken in")
		}
	})
}

func TestDeletedPodsLeaveEveryPart(t *testing.T) {
	b := newBench()
	b.run(time.Hour, func(p *sim.Proc) {
		for _, n := range []string{"a:", "b:", "c:", "d:"} {
			b.q.Add(fixture.Pod(n), 1)
		}
		b.q.Refused(b.q.Pop(p), []string{"NodeAffinity"}, 1)
		b.q.Refused(b.q.Pop(p), []string{"NodeResourcesFit"}, 1)
		b.q.Move(&framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q:")}, 2)
		b.q.Failed(b.q.Pop(p), 1)
		if s := b.q.State(3, nil); s.Waiting != 1 || s.InWork != 3 || s.Parts[Backoff] != 2 || s.Parts[Unschedulable] != 1 || !s.NextDue.Equal(start.Add(time.Second)) {
			t.Errorf("%+v", s)
		}
		for _, n := range []string{"a", "b", "c", "d"} {
			b.q.Delete(framework.NewPodInfo(fixture.Pod(n+":")).Key, 1, "gone")
		}
		if s := b.q.State(0, nil); s.Waiting+s.Delayed != 0 {
			t.Errorf("%+v", s)
		}
	})
}
