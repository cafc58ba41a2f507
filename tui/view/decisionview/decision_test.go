package decisionview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

var mid = target.Target{Kind: target.Pod, Namespace: "default", Name: "mid"}

// tried is a pod that was refused by all nodes, waited, and found a node at its second attempt.
func tried(w, h int) view.Frame {
	t := fixture.Healthy(4)
	records, at := t.Records, t.At()
	ref := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "mid", UID: "u"}
	put := func(e event.Event) {
		records = append(records, event.Record{Seq: event.Seq(len(records) + 1), At: at, Actor: "scheduler/master-3", Event: e})
		at = at.Add(3 * time.Second)
	}
	put(event.ObjectChanged{Type: event.Added, Revision: 9000, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mid", UID: types.UID("u")}}})
	put(event.PodQueued{Pod: ref, Queue: "active", Why: "the pod has no node"})
	refused := func(node, plugin, reason string) event.NodeVerdict {
		return event.NodeVerdict{Node: node, Plugin: plugin, Reasons: []string{reason}}
	}
	put(event.SchedulingAttempt{Pod: ref, Attempt: 1, Nodes: 3, Message: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.",
		Verdicts: []event.NodeVerdict{refused("master-1", "TaintToleration", "node(s) had untolerated taint(s)"), refused("worker-1", "NodeResourcesFit", "Insufficient cpu"), refused("worker-2", "NodeResourcesFit", "Insufficient cpu")}})
	put(event.PodQueued{Pod: ref, Queue: "backoff", Why: "pod gone (NodeResourcesFit)", Until: at.Add(2 * time.Second)})
	put(event.SchedulingAttempt{Pod: ref, Attempt: 2, Nodes: 3, Feasible: 2, Node: "worker-2", Weights: map[string]int64{"TaintToleration": 3, "NodeResourcesFit": 1, "ImageLocality": 1},
		Verdicts: []event.NodeVerdict{refused("master-1", "TaintToleration", "node(s) had untolerated taint(s)"),
			{Node: "worker-1", Raw: map[string]int64{"TaintToleration": 100, "NodeResourcesFit": 31}, Scores: map[string]int64{"TaintToleration": 300, "NodeResourcesFit": 31}, Total: 331},
			{Node: "worker-2", Raw: map[string]int64{"TaintToleration": 100, "NodeResourcesFit": 77}, Scores: map[string]int64{"TaintToleration": 300, "NodeResourcesFit": 77}, Total: 377}}})
	return viewtest.Frame(records, w, h)
}

func open(t target.Target, f view.Frame) view.View { return New(intent.Open{Page: ID, Target: t}, f) }

func TestTheVerdictIsOnOneSmallScreen(t *testing.T) {
	f := tried(80, 20)
	viewtest.Says(t, viewtest.Text(open(mid, f), f), "What the scheduler decided about mid", "★ chose worker-2: 2 of 3 nodes", "try 1: none of 3 fits", "backoff for", "pod gone",
		"▸★ worker-2", "377", "fit 77", "● worker-1", "331", "✗ master-1", "TaintToleration")
}

func TestPluginsHaveColumnsWhereThereIsRoom(t *testing.T) {
	f := tried(130, 30)
	lines := viewtest.Draw(open(mid, f), f)
	viewtest.Says(t, strings.Join(lines, "\n"), "taint×3", "total", "chosen")
	for _, l := range lines {
		if strings.Contains(l, "master-1") && strings.Count(l, "✗") != 2 {
			t.Errorf("where master-1 was refused is not marked: %q", l)
		}
	}
}

func TestKeys(t *testing.T) {
	f := tried(130, 30)
	for _, c := range []struct {
		name string
		do   []intent.Intent
		see  []string
		left string
	}{
		{"another node is compared with the chosen one", []intent.Intent{intent.Move{DY: 1}}, []string{"Why worker-2 and not worker-1: 46 points more", "NodeResourcesFit", "+46", "6 other plugins give both the same"}, ""},
		{"raw scores", []intent.Intent{intent.Option{Name: "raw"}}, []string{"raw 0-100", "100"}, ""},
		{"by name", []intent.Intent{intent.Option{Name: "sort"}}, []string{"▸✗ master-1"}, ""},
		{"an earlier attempt", []intent.Intent{intent.Next{By: 1}, intent.Move{DY: -1}, intent.Move{DY: -1}}, []string{"attempt 1", "0/3 nodes are available", "▸+"}, ""},
		{"left and right change the pane", []intent.Intent{intent.Move{DX: -1}, intent.Move{DY: -1}, intent.Move{DX: 1}, intent.Move{DY: 1}}, []string{"attempt 1"}, ""},
		{"the first and the last", []intent.Intent{intent.Edge{To: 1}}, []string{"▸✗ master-1"}, ""},
		{"a search", []intent.Intent{intent.Text{Value: "taint"}}, []string{"▸✗ master-1"}, ""},
		{"the next match", []intent.Intent{intent.Text{Value: "worker"}, intent.Match{By: 1}}, []string{"▸● worker-1"}, ""},
		{"enter asks about the node", []intent.Intent{intent.Enter{}}, nil, "Page:why Target:{Kind:3 Host:worker-2"},
		{"enter on a move opens its chain", []intent.Intent{intent.Next{By: 1}, intent.Move{DY: -1}, intent.Enter{}}, nil, "Page:chain"},
		{"chain opens that of the attempt", []intent.Intent{intent.Chain{}}, nil, "{Seq:"},
		{"why asks about the pod", []intent.Intent{intent.Why{}}, nil, "Page:why Target:{Kind:5"},
		{"esc leaves", []intent.Intent{intent.Back{}}, nil, "{}"},
		{"wheel and pages", []intent.Intent{intent.Wheel{By: 1, X: 20, Y: 20}, intent.Page{By: 1}, intent.Page{By: -1}}, []string{"▸★ worker-2"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, left := viewtest.Do(open(mid, f), f, c.do...)
			got := ""
			for _, l := range left {
				got += fmt.Sprintf("%+v ", l)
			}
			if !strings.Contains(got, c.left) || c.left == "" && got != "" {
				t.Errorf("to the root: %q, want %q", got, c.left)
			}
			viewtest.Says(t, viewtest.Text(v, f), c.see...)
		})
	}
}

func TestAClickChoosesANodeOrAnAttempt(t *testing.T) {
	for _, w := range []int{80, 130, 200} {
		f := tried(w, 30)
		v := open(mid, f)
		clicked := map[string]bool{}
		for y, l := range viewtest.Draw(v, f) {
			for text, want := range map[string]string{"● worker-1": "▸● worker-1", "try 1": "attempt 1"} {
				if at := strings.Index(l, text); at >= 0 {
					clicked[text] = true
					next, _ := viewtest.Do(v, f, intent.Point{X: len([]rune(l[:at])), Y: y})
					viewtest.Says(t, viewtest.Text(next, f), want)
				}
			}
		}
		if len(clicked) != 2 {
			t.Errorf("%d wide, only %v could be clicked", w, clicked)
		}
	}
}

func TestManyNodesAreToldByTheirReasons(t *testing.T) {
	f := tried(80, 24)
	records := append([]event.Record(nil), read(f)...)
	var verdicts []event.NodeVerdict
	for i := range 100 {
		verdicts = append(verdicts, event.NodeVerdict{Node: fmt.Sprint("worker-", i+1), Plugin: "NodeResourcesFit", Reasons: []string{"Insufficient cpu"}})
	}
	records = append(records, event.Record{Seq: event.Seq(len(records) + 1), At: f.Now, Actor: "scheduler/master-3", Event: event.SchedulingAttempt{
		Pod: kinds.ObjectRef{Namespace: "default", Name: "mid", UID: "u"}, Attempt: 3, Nodes: 5000, Message: "0/5000 nodes are available: 4990 Insufficient cpu. preemption: 0/5000 nodes are available: 5000 No preemption victims.", Verdicts: verdicts}})
	f = viewtest.Frame(records, 80, 24)
	viewtest.Says(t, viewtest.Text(open(mid, f), f), "4,990 nodes", "Insufficient cpu  e.g. worker-1, wor", "of 10 more nodes")
}

func read(f view.Frame) []event.Record {
	all, _ := f.Journal.Read(nil, 1, 1<<20)
	return all
}

func TestAPodThatNobodyScheduledSaysSo(t *testing.T) {
	f := tried(80, 20)
	records := read(f)
	add := func(p *corev1.Pod) {
		p.Namespace = "default"
		records = append(records, event.Record{Seq: event.Seq(len(records) + 1), At: f.Now, Event: event.ObjectChanged{Type: event.Added, Revision: 9001, Object: p}})
	}
	add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "static", Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"}}, Spec: corev1.PodSpec{NodeName: "master-1"}})
	add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "named"}, Spec: corev1.PodSpec{NodeName: "worker-1"}})
	add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "waits"}})
	f = viewtest.Frame(records, 80, 20)
	for name, want := range map[string]string{"static": "static pod", "named": "No attempt of the scheduler is recorded", "waits": "has not tried waits", "nobody": "Nothing about nobody"} {
		viewtest.Says(t, viewtest.Text(open(target.Target{Kind: target.Pod, Namespace: "default", Name: name}, f), f), want)
	}
	viewtest.Says(t, viewtest.Text(open(target.Target{}, f), f), "No pod is selected")
}

func TestVerdictsCanBeCopied(t *testing.T) {
	f := tried(80, 20)
	clips := open(mid, f).(view.Copier).Clips(f)
	if len(clips) != 2 || clips[0].Text != "worker-2\t377\tTaintToleration=300 NodeResourcesFit=77" || !strings.Contains(clips[1].Text, "master-1\tTaintToleration\t") {
		t.Errorf("%+v", clips)
	}
}

func TestNothingHostileGetsThrough(t *testing.T) {
	f := tried(130, 30)
	records := read(f)
	records = append(records, event.Record{Seq: event.Seq(len(records) + 1), At: f.Now, Actor: "scheduler/\x1b[2J", Event: event.SchedulingAttempt{
		Pod: kinds.ObjectRef{Namespace: "default", Name: "mid", UID: "u"}, Nodes: 1, Message: "\x1b[31m\u202e", Verdicts: []event.NodeVerdict{{Node: "\x1b[2J", Plugin: "\a", Reasons: []string{"\x1b]0;x\a"}}}}})
	for _, w := range []int{80, 130, 200} {
		f = viewtest.Frame(records, w, 30)
		if all := viewtest.Text(open(mid, f), f); strings.ContainsAny(all, "\x1b\a\u202e") {
			t.Errorf("%d wide: %q", w, all)
		}
	}
}

func TestRussianIsDrawn(t *testing.T) {
	f := tried(130, 30)
	f.Words, _ = words.Language("ru")
	viewtest.Says(t, viewtest.Text(open(mid, f), f), "Что scheduler решил о mid", "выбран worker-2")
}

func TestEverySizeIsSafe(t *testing.T) {
	f := tried(80, 20)
	v := open(mid, f)
	for w := 0; w <= 200; w += 20 {
		for h := 0; h <= 40; h += 4 {
			f.W, f.H = w, h
			v, _ = viewtest.Do(v, f, intent.Move{DY: 1}, intent.Point{X: w / 2, Y: h / 2}, intent.Next{By: 1})
			viewtest.Draw(v, f)
		}
	}
	for _, s := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}} {
		f.W, f.H = s[0], s[1]
		viewtest.Draw(v, f)
	}
}

func BenchmarkFrame(b *testing.B) {
	f := tried(200, 60)
	v := open(mid, f)
	for range b.N {
		viewtest.Draw(v, f)
	}
}
