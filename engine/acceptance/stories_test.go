package acceptance

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
)

// tale is one part of the recording in testdata, or of a run: what happened to each object, in order.
type tale struct {
	name, do string
	seen     map[string][]string // by object; a life is one line
	or       map[string]variant  // by object
}

// variant is another outcome of a race: line number n, from 1, reads as lines.
type variant struct {
	n     int
	lines []string
}

// expected is what is recorded of an object, or its variant where that fits better what happened.
func (s *tale) expected(subject string, got []string) []string {
	want := s.seen[subject]
	v, ok := s.or[subject]
	if i := v.n - 1; ok && i+len(v.lines) <= len(got) && slices.Equal(got[i:i+len(v.lines)], v.lines) {
		return slices.Concat(want[:i], v.lines, want[i+1:])
	}
	return want
}

func readTales(t *testing.T, file string) []*tale {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*tale
	subject, copies, or := "", 0, 0
	var life []string
	close := func() {
		if copies > 0 {
			all[len(all)-1].lived(subject, life, copies)
		}
		copies, or, life = 0, 0, nil
	}
	for _, l := range strings.Split(string(data), "\n") {
		first, rest, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "  ") && copies > 0:
			life = append(life, l[2:])
		case strings.HasPrefix(l, "  ") && or > 0:
			v := all[len(all)-1].or[subject]
			all[len(all)-1].or[subject] = variant{or, append(v.lines, l[2:])}
		case strings.HasPrefix(l, "  "):
			all[len(all)-1].seen[subject] = append(all[len(all)-1].seen[subject], l[2:])
		case l == "" || first == "#":
			if len(all) > 0 {
				close()
			}
		case first == "story":
			close()
			all = append(all, &tale{name: rest, seen: map[string][]string{}, or: map[string]variant{}})
		case first == "do":
			all[len(all)-1].do = rest
		case first == "life" || first == "rest":
			close()
			n, who, _ := strings.Cut(rest, " ")
			if copies, err = strconv.Atoi(n); err != nil {
				t.Fatalf("%s: %q", file, l)
			}
			subject = first + " " + who
		case first == "or":
			close()
			n, who, _ := strings.Cut(rest, " ")
			if or, err = strconv.Atoi(n); err != nil {
				t.Fatalf("%s: %q", file, l)
			}
			subject = who
		default:
			close()
			subject = l
		}
	}
	if len(all) > 0 {
		close()
	}
	return all
}

func (s *tale) lived(subject string, states []string, copies int) {
	for range copies {
		s.seen[subject] = append(s.seen[subject], strings.Join(states, "; "))
	}
	slices.Sort(s.seen[subject])
}

// teller turns records of objects into the words of the recording. What is left out, because it depends on how long containers take, which was a stand-in's doing there:
//   - terminatingReplicas, and states that differ in nothing else from the one before;
//   - the condition PodReadyToStartContainers, which the stand-in did not set, and what a pod that is being deleted says of its containers;
//   - events of kubelets, and how often the scheduler repeats that a pod fits nowhere.
//
// Objects are told apart, so their order among each other is free but for what causes demand.
type teller struct {
	namespace string
	sets      map[string]string // A and B by name of the replica set
	last      map[string]string
}

var (
	podSuffix = regexp.MustCompile(`\b([AB])-[a-z0-9]{5}\b`)
	toNode    = regexp.MustCompile(`to worker-\d+`)
)

func (c *teller) names(s string) string {
	for name, letter := range c.sets {
		s = strings.ReplaceAll(s, name, letter)
	}
	return toNode.ReplaceAllString(podSuffix.ReplaceAllString(s, "$1-*"), "to *")
}

func (c *teller) tell(recs []event.Record) map[string][]string {
	t := &tale{seen: map[string][]string{}}
	lives, born := map[string][]string{}, map[string]bool{}
	add := func(subject, l string) {
		if c.last[subject] != l {
			t.seen[subject] = append(t.seen[subject], l)
		}
		c.last[subject] = l
	}
	for _, r := range recs {
		e, ok := r.Event.(event.ObjectChanged)
		if !ok || e.Object.GetNamespace() != c.namespace {
			continue
		}
		verb := strings.ToLower(string(e.Type))
		switch o := e.Object.(type) {
		case *appsv1.Deployment:
			s := o.Status
			var conds []string
			for _, x := range s.Conditions {
				conds = append(conds, fmt.Sprintf("%s=%s %s", x.Type, x.Status, x.Reason))
			}
			add("deployment", workload(verb, o, *o.Spec.Replicas, s.ObservedGeneration, conds, "pods", s.Replicas, "updated", s.UpdatedReplicas, "ready", s.ReadyReplicas,
				"available", s.AvailableReplicas, "unavailable", s.UnavailableReplicas))
		case *appsv1.ReplicaSet:
			if c.sets[o.Name] == "" {
				c.sets[o.Name] = string(rune('A' + len(c.sets)))
			}
			s := o.Status
			add("set "+c.names(o.Name), workload(verb, o, *o.Spec.Replicas, s.ObservedGeneration, nil, "pods", s.Replicas, "labeled", s.FullyLabeledReplicas, "ready", s.ReadyReplicas,
				"available", s.AvailableReplicas))
		case *corev1.Pod:
			l := podLine(verb, o)
			if l == "" {
				continue
			}
			if verb == "added" {
				born[o.Name] = true
			}
			if ls := lives[o.Name]; len(ls) == 0 && c.last["pod "+o.Name] != l || len(ls) > 0 && ls[len(ls)-1] != l {
				lives[o.Name] = append(ls, l)
			}
			c.last["pod "+o.Name] = l
		case *corev1.Event:
			from := o.Source.Component
			if from == "" {
				from = o.ReportingController
			}
			if from == "kubelet" {
				continue
			}
			l := fmt.Sprintf("%s %s %s", o.Type, o.Reason, c.names(o.Message))
			subject := c.names("event " + o.InvolvedObject.Kind + "/" + o.InvolvedObject.Name)
			if from == "default-scheduler" {
				if l = from + " " + l; !slices.Contains(t.seen[subject], l) && !(strings.Contains(l, "FailedScheduling") && c.last[subject] == l) {
					t.seen[subject] = append(t.seen[subject], l)
				}
				c.last[subject] = l
				continue
			}
			t.seen[subject] = append(t.seen[subject], fmt.Sprintf("%s %s %s ×%d", from, verb, l, o.Count))
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(lives)) {
		kind := "rest "
		if born[pod] {
			kind = "life "
		}
		t.lived(c.names(kind+pod), lives[pod], 1)
	}
	return t.seen
}

func workload(verb string, o kinds.Object, wants int32, observed int64, conditions []string, counts ...any) string {
	l := fmt.Sprintf("%s gen=%d", verb, o.GetGeneration())
	if o.GetDeletionTimestamp() != nil {
		l += " deleting"
	}
	l += fmt.Sprintf(" wants=%d", wants)
	if observed != 0 {
		l += fmt.Sprintf(" observed=%d", observed)
	}
	for i := 0; i < len(counts); i += 2 {
		if n := counts[i+1].(int32); n != 0 {
			l += fmt.Sprintf(" %s=%d", counts[i], n)
		}
	}
	if r := o.GetAnnotations()["deployment.kubernetes.io/revision"]; r != "" {
		l += " revision=" + r
	}
	if slices.Sort(conditions); len(conditions) > 0 {
		l += " [" + strings.Join(conditions, ", ") + "]"
	}
	if f := o.GetFinalizers(); len(f) > 0 && strings.HasPrefix(l, "modified") {
		if _, set := o.(*appsv1.ReplicaSet); set { // the recording names them there
			l += " finalizers=" + strings.Join(f, ",")
		}
	}
	return l
}

// podLine is a state of a pod; empty for its end, which is checked by itself.
func podLine(verb string, o *corev1.Pod) string {
	if o.DeletionTimestamp != nil {
		if verb == "deleted" || *o.DeletionGracePeriodSeconds == 0 {
			return ""
		}
		return fmt.Sprintf("%s gen=%d deleting grace=%d", verb, o.Generation, *o.DeletionGracePeriodSeconds)
	}
	l := fmt.Sprintf("%s gen=%d ", verb, o.Generation)
	if o.Spec.NodeName != "" {
		l += "bound "
	}
	l += string(o.Status.Phase)
	var conds []string
	for _, x := range o.Status.Conditions {
		if x.Type != corev1.PodReadyToStartContainers {
			conds = append(conds, strings.TrimSpace(fmt.Sprintf("%s=%s %s", x.Type, x.Status, x.Reason)))
		}
	}
	if slices.Sort(conds); len(conds) > 0 {
		l += " [" + strings.Join(conds, ", ") + "]"
	}
	return l
}

// bare is a cluster of three masters and workers without anything on it but a namespace.
func bare(workers int, namespace string) *scenario.Scenario {
	s := scenario.Scenario{Name: "bare", Cluster: scenario.Cluster{Masters: 3, Workers: workers}}
	s.Manifests = "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + "}\n"
	s.Default()
	s.Cluster.Worker.CPU = resource.MustParse("4")
	return &s
}

// TestTheRecordedStoriesHappenHereToo gives the commands of the recording to a whole cluster, one a minute. Every object must go through the same states in the same
// order, and every event must say the same; see teller for what is left out.
func TestTheRecordedStoriesHappenHereToo(t *testing.T) {
	besides(t, engine.StoreMemory)
	tales := readTales(t, "testdata/stories.txt")
	const each = time.Minute
	r := run{scenario: bare(4, "story"), seed: 1, length: time.Duration(len(tales)+1) * each}
	for i, s := range tales {
		args := append(strings.Fields(s.do)[1:], "-n", "story")
		r.do = append(r.do, (time.Duration(i+1)*each).String()+" "+command.Kubectl{Args: args}.String())
	}
	for seed := range uint64(3) {
		r.seed = seed
		p := play(t, r)
		if p.failed {
			t.Fatalf("commands: %+v", p.summary.Commands)
		}
		c := &teller{namespace: "story", sets: map[string]string{}, last: map[string]string{}}
		for i, s := range tales {
			from, to := time.Duration(i+1)*each, time.Duration(i+2)*each
			var recs []event.Record
			for _, r := range p.recs {
				if d := p.since(r.At); d >= from && d < to {
					recs = append(recs, r)
				}
			}
			got := c.tell(recs)
			last := i == len(tales)-1 // there the recording breaks off
			t.Run(fmt.Sprintf("seed %d/%s", seed, s.name), func(t *testing.T) { s.compare(t, got, last) })
		}
		p.endsWell()
		p.kubeletEvents("story")
	}
}

// compare holds what was seen of each object against the recording. With prefix the recording may end earlier.
func (s *tale) compare(t *testing.T, got map[string][]string, prefix bool) {
	t.Helper()
	subjects := map[string]bool{}
	for name := range s.seen {
		subjects[name] = true
	}
	for name := range got {
		subjects[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		w, g := s.expected(name, got[name]), got[name]
		if prefix && len(w) < len(g) {
			g = g[:len(w)]
		}
		if !slices.Equal(w, g) {
			t.Errorf("%s:%s", name, difference(w, g))
		}
	}
}

// kubeletEvents: in place of the stand-in's, each pod that ran has the events of a kubelet, in their order (fidelity 14).
func (p *told) kubeletEvents(namespace string) {
	p.t.Helper()
	reasons, deleted := map[string]string{}, map[string]bool{}
	for _, r := range p.recs {
		e, ok := r.Event.(event.ObjectChanged)
		if !ok || e.Object.GetNamespace() != namespace {
			continue
		}
		switch o := e.Object.(type) {
		case *corev1.Pod:
			deleted[o.Name] = deleted[o.Name] || o.DeletionTimestamp != nil
		case *corev1.Event:
			if o.Source.Component == "kubelet" && e.Type == event.Added {
				reasons[o.InvolvedObject.Name] += o.Reason + " "
			}
		}
	}
	if len(reasons) == 0 {
		p.t.Error("no event of a kubelet")
	}
	for _, pod := range slices.Sorted(maps.Keys(reasons)) {
		got := strings.TrimSpace(strings.TrimPrefix(reasons[pod], "Pulling "))
		want := "Pulled Created Started"
		if deleted[pod] {
			want += " Killing"
		}
		if got != want {
			p.t.Errorf("pod %s: events %q", pod, reasons[pod])
		}
	}
}

func difference(want, got []string) string {
	var b strings.Builder
	line := func(l []string, i int) string {
		if i < len(l) {
			return l[i]
		}
		return "-"
	}
	for i := range max(len(want), len(got)) {
		mark := "  "
		if line(want, i) != line(got, i) {
			mark = "! "
		}
		fmt.Fprintf(&b, "\n%srecorded %s\n%shere     %s", mark, line(want, i), mark, line(got, i))
	}
	return b.String()
}
