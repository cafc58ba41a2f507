package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// scene is a program that records events about one pod.
type scene struct {
	c   *apitest.Cluster
	pr  *kubeapi.Process
	pod *corev1.Pod
}

func newScene(t testing.TB) *scene {
	c := apitest.New(t)
	return &scene{c: c, pr: c.Process("master-1", "kube-controller-manager", apitest.ControllerManager), pod: c.Create(apitest.Pod("web")).(*corev1.Pod)}
}

// say runs fn in the program and lets everything be sent.
func (s *scene) say(fn func(p *sim.Proc)) {
	s.c.DoAs(s.pr, func(p *sim.Proc, _ *kubeapi.Client) { fn(p) })
	s.c.Run(100 * time.Millisecond)
}

func (s *scene) log() []string { return s.c.Log(kinds.Events) }

func (s *scene) events() []*corev1.Event {
	var out []*corev1.Event
	for _, o := range s.c.List(kinds.Events) {
		out = append(out, o.(*corev1.Event))
	}
	return out
}

func TestAnEventNamesItsObjectAndSource(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "replicaset-controller")
	s.say(func(p *sim.Proc) { r.Eventf(p, s.pod, corev1.EventTypeNormal, "Reason", "message %d", 1) })
	e := s.events()[0]
	o := e.InvolvedObject
	got := fmt.Sprint(e.Namespace, " ", o.Kind, o.APIVersion, o.Namespace, o.Name, o.UID == s.pod.UID, o.ResourceVersion == s.pod.ResourceVersion, " ", e.Type, e.Reason, e.Message, " ",
		e.Source.Component, e.Source.Host, e.ReportingController, " ", e.Count, e.FirstTimestamp.Equal(&e.LastTimestamp), e.EventTime.IsZero())
	if want := "default Podv1defaultwebtruetrue NormalReasonmessage 1 replicaset-controllerreplicaset-controller 1truetrue"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var nanos int64
	if n, err := fmt.Sscanf(e.Name, "web.%x", &nanos); n != 1 || err != nil || time.Unix(0, nanos).Sub(s.c.Loop.Now()).Abs() > time.Second {
		t.Errorf("name %s does not hold the time", e.Name)
	}
}

func TestTheKubeletsSourceNamesItsHost(t *testing.T) {
	s := newScene(t)
	pr := s.c.Process("worker-1", "kubelet", apitest.Admin)
	r := record.New(pr, "kubelet")
	r.EventFor(0, record.ReferenceTo(s.pod), corev1.EventTypeNormal, "Pulled", "m")
	s.c.Run(time.Second)
	if got := s.events()[0].Source; got.Host != "worker-1" || got.Component != "kubelet" {
		t.Errorf("source %+v", got)
	}
}

func TestAnEventOnAnObjectWithoutNamespaceGoesToDefault(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "node-controller")
	r.EventFor(0, corev1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: "worker-1"}, corev1.EventTypeNormal, "RegisteredNode", "m")
	s.c.Run(time.Second)
	if got := s.events()[0].Namespace; got != "default" {
		t.Errorf("namespace %s", got)
	}
}

func TestARepeatRaisesTheCount(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "kubelet")
	for range 3 {
		s.say(func(p *sim.Proc) { r.Event(p, s.pod, corev1.EventTypeWarning, "BackOff", "Back-off") })
		s.c.Run(10 * time.Second)
	}
	want := []string{
		`added events Pod/web Warning BackOff "Back-off" from=kubelet count=1`,
		`modified events Pod/web Warning BackOff "Back-off" from=kubelet count=2`,
		`modified events Pod/web Warning BackOff "Back-off" from=kubelet count=3`}
	if got := s.log(); !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	if e := s.events()[0]; e.LastTimestamp.Sub(e.FirstTimestamp.Time) < 20*time.Second {
		t.Errorf("first %v, last %v", e.FirstTimestamp, e.LastTimestamp)
	}
}

func TestTwoEventsAtOneInstantAreTwo(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "kubelet")
	s.say(func(p *sim.Proc) {
		r.Event(p, s.pod, corev1.EventTypeNormal, "Created", "a")
		r.Event(p, s.pod, corev1.EventTypeNormal, "Started", "b")
	})
	if n := len(s.events()); n != 2 {
		t.Errorf("%d events, want 2; failures %v", n, s.c.Failures())
	}
}

func TestTheTenthSimilarEventIsCombined(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "replicaset-controller")
	for i := range 12 {
		s.say(func(p *sim.Proc) {
			r.Eventf(p, s.pod, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: web-%d", i+1)
		})
	}
	got := s.log()
	want := []string{
		`added events Pod/web Normal SuccessfulCreate "Created pod: web-9" from=replicaset-controller count=1`,
		`added events Pod/web Normal SuccessfulCreate "(combined from similar events): Created pod: web-10" from=replicaset-controller count=1`,
		`modified events Pod/web Normal SuccessfulCreate "(combined from similar events): Created pod: web-11" from=replicaset-controller count=2`,
		`modified events Pod/web Normal SuccessfulCreate "(combined from similar events): Created pod: web-12" from=replicaset-controller count=3`}
	if len(got) < 4 || !slices.Equal(got[len(got)-4:], want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	s.c.Run(11 * time.Minute)
	s.say(func(p *sim.Proc) {
		r.Event(p, s.pod, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: web-13")
	})
	if last := s.log(); last[len(last)-1] != `added events Pod/web Normal SuccessfulCreate "Created pod: web-13" from=replicaset-controller count=1` {
		t.Errorf("after ten quiet minutes: %s", last[len(last)-1])
	}
}

func TestABurstOfTwentyFiveThenOnePerFiveMinutes(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "kubelet")
	for range 40 {
		s.say(func(p *sim.Proc) { r.Event(p, s.pod, corev1.EventTypeWarning, "BackOff", "m") })
	}
	if n := s.events()[0].Count; n != 25 {
		t.Errorf("count %d after 40 at once, want 25", n)
	}
	s.c.Run(5 * time.Minute)
	for range 3 {
		s.say(func(p *sim.Proc) { r.Event(p, s.pod, corev1.EventTypeWarning, "BackOff", "m") })
	}
	// what the filter held back is counted all the same: the next one that passes tells
	if n := s.events()[0].Count; n != 41 {
		t.Errorf("count %d five minutes later, want 41", n)
	}
	if r.Dropped != 17 {
		t.Errorf("%d dropped, want 17", r.Dropped)
	}
}

func TestEventsWaitForTheAPIServer(t *testing.T) {
	s := newScene(t)
	pr := s.c.Process("worker-1", "kubelet", apitest.Admin)
	pr.Client = pr.Client.WithTimeout(time.Second)
	r := record.New(pr, "kubelet")
	s.c.Net.SetHost("master-1", false)
	r.EventFor(0, record.ReferenceTo(s.pod), corev1.EventTypeNormal, "Killing", "m")
	s.c.Run(45 * time.Second)
	if n := len(s.log()); n != 0 {
		t.Fatalf("%d events went to a machine that is off", n)
	}
	s.c.Net.SetHost("master-1", true)
	s.c.Run(12 * time.Second)
	if n := len(s.log()); n != 1 {
		t.Fatalf("%d events after it is back, want 1", n)
	}
}

func TestAnEventIsGivenUpAfterTwelveTries(t *testing.T) {
	s := newScene(t)
	pr := s.c.Process("worker-1", "kubelet", apitest.Admin)
	pr.Client = pr.Client.WithTimeout(time.Second)
	r := record.New(pr, "kubelet")
	s.c.Net.SetHost("master-1", false)
	r.EventFor(0, record.ReferenceTo(s.pod), corev1.EventTypeNormal, "Killing", "m")
	s.c.Run(100 * time.Second)
	if r.Dropped != 0 {
		t.Fatal("given up before twelve tries")
	}
	s.c.Run(30 * time.Second)
	if r.Dropped != 1 {
		t.Fatalf("%d given up, want 1", r.Dropped)
	}
}

func TestAnEventFollowsFromWhatItsProcessFollowsFrom(t *testing.T) {
	s := newScene(t)
	r := record.New(s.pr, "kubelet")
	cause := s.c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "x"})
	s.say(func(p *sim.Proc) { p.Cause = cause; r.Event(p, s.pod, corev1.EventTypeNormal, "Pulled", "m") })
	for _, rec := range s.c.Records() {
		if ch, ok := rec.Event.(event.ObjectChanged); ok && kinds.MustOf(ch.Object) == kinds.Events {
			if chain := s.c.Chain(rec.Seq); !slices.Equal(chain, []string{"ObjectChanged", "RequestReceived", "CommandGiven"}) {
				t.Errorf("chain %v", chain)
			}
		}
	}
}

func TestASeriesHasNoCountUntilItRepeats(t *testing.T) {
	s := newScene(t)
	r := record.NewSeries(s.pr, "default-scheduler")
	fail := func() {
		s.say(func(p *sim.Proc) {
			r.Eventf(p, s.pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "0/%d nodes are available.", 3)
		})
	}
	fail()
	e := s.events()[0]
	if e.Count != 0 || e.Series != nil || e.EventTime.IsZero() || !e.FirstTimestamp.IsZero() || e.ReportingController != "default-scheduler" || e.ReportingInstance != "default-scheduler-master-1" ||
		e.Action != "Scheduling" || e.Source.Component != "" {
		t.Errorf("first: %+v", e)
	}
	fail()
	fail()
	if e := s.events()[0]; e.Series == nil || e.Series.Count != 2 {
		t.Errorf("the second makes a series of 2 and further ones are only counted, got %+v", e.Series)
	}
	s.c.Run(13 * time.Minute)
	if e := s.events()[0]; e.Series.Count != 3 {
		t.Errorf("when the series ends its count is written: %d, want 3", e.Series.Count)
	}
	fail()
	if n := len(s.events()); n != 2 {
		t.Errorf("%d events, want a second one after the series ended", n)
	}
}

func TestASeriesEndsWhenTheObjectChanges(t *testing.T) {
	s := newScene(t)
	r := record.NewSeries(s.pr, "default-scheduler")
	for range 2 {
		s.say(func(p *sim.Proc) {
			r.Eventf(p, s.pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "no")
		})
		s.pod = s.c.Update(kinds.Pods, "default", "web", "status", func(o kinds.Object) { o.(*corev1.Pod).Status.Message = "changed" }).(*corev1.Pod)
	}
	if n := len(s.events()); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

func BenchmarkEvent(b *testing.B) {
	s := newScene(b)
	r := record.New(s.pr, "kubelet")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.EventFor(0, corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "default", Name: fmt.Sprintf("p-%d", i), UID: s.pod.UID}, corev1.EventTypeNormal, "Pulled", "m")
		if i%100 == 99 {
			s.c.Run(time.Second)
		}
	}
}
