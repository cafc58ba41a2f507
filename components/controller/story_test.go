package controller_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// setNames are the replica sets of the stories. That of A is the name the real cluster gave it (reference of a lost node), so the hash of templates is the real one.
var setNames = map[string]string{"A": "nginx-67dc647948", "B": "nginx-74c897db65"}

// story is one part of the recording.
type story struct {
	name, command string
	acts          []act
	want          map[string][]string // by subject: "deployment", "set A", "event deployment-controller"
	or            []variant
}

// variant is another outcome of a race: one line of a subject, from 1, may read as lines.
type variant struct {
	subject string
	line    int
	lines   []string
}

// expected is what is recorded of a subject, or its variant where what happened here fits that better.
func (s *story) expected(subject string, got []string) []string {
	want := s.want[subject]
	for _, v := range s.or {
		i := v.line - 1
		if v.subject == subject && i+len(v.lines) <= len(got) && slices.Equal(got[i:i+len(v.lines)], v.lines) {
			want = slices.Concat(want[:i], v.lines, want[i+1:])
		}
	}
	return want
}

type act struct {
	at        time.Duration
	verb, set string
}

func readStories(t *testing.T, file string) []*story {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*story
	for _, l := range strings.Split(string(data), "\n") {
		first, rest, _ := strings.Cut(l, " ")
		switch {
		case l == "" || first == "#":
		case first == "story":
			all = append(all, &story{name: rest, want: map[string][]string{}})
		case first == "or":
			subject, line, _ := cutLast(rest)
			n, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("%s: cannot read %q", file, l)
			}
			all[len(all)-1].or = append(all[len(all)-1].or, variant{subject: subject, line: n})
		case first == "|":
			v := &all[len(all)-1].or[len(all[len(all)-1].or)-1]
			v.lines = append(v.lines, rest)
		case first == "do":
			all[len(all)-1].command = rest
		case first == "deployment":
			all[len(all)-1].want[first] = append(all[len(all)-1].want[first], rest)
		case first == "set" || first == "event":
			who, what, _ := strings.Cut(rest, " ")
			all[len(all)-1].want[first+" "+who] = append(all[len(all)-1].want[first+" "+who], what)
		default:
			ms, err := strconv.Atoi(first)
			f := strings.Fields(rest)
			if err != nil || len(f) != 2 {
				t.Fatalf("%s: cannot read %q", file, l)
			}
			all[len(all)-1].acts = append(all[len(all)-1].acts, act{time.Duration(ms) * time.Millisecond, f[0], f[1]})
		}
	}
	return all
}

// TestADeploymentLivesAsInTheRecordedCluster plays the recorded life of a Deployment: the same commands, pods that become ready and end at the same times. Every object must
// go through the same states in the same order, and every event must say the same.
func TestADeploymentLivesAsInTheRecordedCluster(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	for _, s := range readStories(t, "testdata/rollout.txt") {
		t.Run(s.name, func(t *testing.T) {
			from := c.Journal.Last()
			give(c, s.command)
			began := c.Loop.Now()
			for _, a := range s.acts {
				c.Run(began.Add(a.at).Sub(c.Loop.Now()))
				c.Do(func(p *sim.Proc, _ *kubeapi.Client) {
					if a.verb == "ready" {
						w.readyOne(p, setNames[a.set])
					} else {
						w.goneOne(p, setNames[a.set])
					}
				})
			}
			c.Run(2 * time.Second)
			got := seen(c, from)
			for _, subject := range subjects(s.want, got) {
				if want := s.expected(subject, got[subject]); !slices.Equal(want, got[subject]) {
					t.Errorf("%s:%s", subject, difference(want, got[subject]))
				}
			}
		})
	}
}

// cutLast cuts around the last space.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func give(c *apitest.Cluster, command string) {
	verb, arg, _ := strings.Cut(command, " ")
	switch u := (user{c}); verb {
	case "create":
		c.Create(nginx(3, "nginx:1.27"))
	case "image":
		u.image(arg)
	case "scale":
		u.scale(arg)
	case "delete":
		u.remove(metav1.DeletePropagationForeground)
	}
}

func subjects(a, b map[string][]string) []string {
	var out []string
	for s := range a {
		out = append(out, s)
	}
	for s := range b {
		if _, ok := a[s]; !ok {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func difference(want, got []string) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "-"
		}
		mark := "  "
		if line(want) != line(got) {
			mark = "! "
		}
		fmt.Fprintf(&b, "\n%srecorded %s\n%shere     %s", mark, line(want), mark, line(got))
	}
	return b.String()
}

// seen is what happened to each object since a record, in the words of the recording.
func seen(c *apitest.Cluster, from event.Seq) map[string][]string {
	out := map[string][]string{}
	for _, r := range c.Records() {
		ch, ok := r.Event.(event.ObjectChanged)
		if !ok || r.Seq <= from {
			continue
		}
		verb := strings.ToLower(string(ch.Type))
		switch o := ch.Object.(type) {
		case *appsv1.Deployment:
			s := o.Status
			var cs []string
			for _, x := range s.Conditions {
				cs = append(cs, fmt.Sprintf("%s=%s %s", x.Type, x.Status, x.Reason))
			}
			add(out, "deployment", verb, o, *o.Spec.Replicas, s.ObservedGeneration, cs, s.TerminatingReplicas, "pods", s.Replicas, "updated", s.UpdatedReplicas, "ready", s.ReadyReplicas,
				"available", s.AvailableReplicas, "unavailable", s.UnavailableReplicas)
		case *appsv1.ReplicaSet:
			s := o.Status
			add(out, "set "+roles(o.Name), verb, o, *o.Spec.Replicas, s.ObservedGeneration, nil, s.TerminatingReplicas, "pods", s.Replicas, "labeled", s.FullyLabeledReplicas, "ready", s.ReadyReplicas,
				"available", s.AvailableReplicas)
		case *corev1.Event:
			from := o.Source.Component
			if from == "deployment-controller" || from == "replicaset-controller" {
				out["event "+from] = append(out["event "+from], fmt.Sprintf("%s %s/%s %s %s %s ×%d", verb, o.InvolvedObject.Kind, roles(o.InvolvedObject.Name), o.Type, o.Reason, roles(o.Message), o.Count))
			}
		}
	}
	return out
}

func add(out map[string][]string, subject, verb string, o kinds.Object, wants int32, observed int64, conditions []string, terminating *int32, counts ...any) {
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
	if terminating != nil {
		l += fmt.Sprintf(" terminating=%d", *terminating)
	}
	if r := o.GetAnnotations()["deployment.kubernetes.io/revision"]; r != "" {
		l += " revision=" + r
	}
	if len(conditions) > 0 {
		l += " [" + strings.Join(conditions, ", ") + "]"
	}
	out[subject] = append(out[subject], l)
}

var podName = regexp.MustCompile(`\b([AB])-[a-z0-9]{5}\b`)

// roles puts A and B for the replica sets and hides the random part of pods' names.
func roles(text string) string {
	for role, name := range setNames {
		text = strings.ReplaceAll(text, name, role)
	}
	return podName.ReplaceAllString(text, "$1-*")
}
