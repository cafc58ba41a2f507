package engine

import (
	"context"
	"fmt"
	"os"
	"sort"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
)

func TestSmoke(t *testing.T) {
	s, _ := presets.Load("ha")
	store := os.Getenv("STORE")
	if store == "" {
		store = StoreMemory
	}
	if d := os.Getenv("DO"); d != "" {
		s.Steps = append(s.Steps, scenario.Step{At: "60s", Do: d})
	}
	d, _ := time.ParseDuration(os.Getenv("FOR"))
	if d == 0 {
		d = 2 * time.Minute
	}
	wall := time.Now()
	e, err := New(Options{Scenario: s, Store: store, Seed: 1, Rate: sim.Unpaced, Start: RepeatableStart, Repeatable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	fmt.Println("new", time.Since(wall))
	if err := e.RunFor(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	fmt.Println("wall", time.Since(wall), e.loop)
	for _, m := range e.machines {
		if pg := m.programs["apiserver"]; pg != nil {
		}
	}
	recs, lost := e.Journal().Read(nil, 1, 1<<20)
	fmt.Println(len(recs), lost)
	byName := map[string]int{}
	pods := map[string]string{}
	for _, r := range recs {
		byName[r.Event.Name()]++
		at := r.At.Sub(RepeatableStart)
		switch ev := r.Event.(type) {
		case event.ObjectChanged:
			byName["obj "+ev.Object.GetObjectKind().GroupVersionKind().Kind+fmt.Sprintf("%T", ev.Object)]++
			if p, ok := ev.Object.(*corev1.Pod); ok {
				pods[p.Namespace+"/"+p.Name] = fmt.Sprint(kinds.PodStatus(p), " ", p.Spec.NodeName)
				if ev.Type == event.Deleted {
					delete(pods, p.Namespace+"/"+p.Name)
				}
			}
			if x, ok := ev.Object.(*corev1.Event); ok && os.Getenv("V") != "" {
				fmt.Println(at, "EVENT", x.Source.Component, x.InvolvedObject.Kind+"/"+x.InvolvedObject.Name, x.Reason, x.Message, "cause", r.Cause)
			}
		case event.RaftRole, event.Leading, event.Crashed, event.ProcessStarted, event.ProcessStopped, event.MachineDown, event.BackendChanged, event.CommandDone, event.NodeJudged, event.CommandGiven:
			fmt.Printf("%v #%d %s %s %+v <- %d\n", at, r.Seq, r.Actor, r.Event.Name(), ev, r.Cause)
			if c, ok := ev.(event.Crashed); ok {
				fmt.Println(c.Stack)
			}
		case event.RequestDone:
			if ev.Code >= 400 && os.Getenv("V") != "" {
				fmt.Printf("%v %s %+v\n", at, r.Actor, ev)
			}
		}
	}
	var names []string
	for n := range byName {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Println(n, byName[n])
	}
	names = nil
	for n := range pods {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Println(n, pods[n])
	}
}
