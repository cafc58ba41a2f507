package acceptance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// lossWords turns what happened since an instant in namespace lost, and to the node worker-1, into the words of the recording. Left out is what teller leaves out, and the
// condition NetworkUnavailable, which is a cloud's.
func (p *told) lossWords(after time.Duration) map[string][]string {
	t := &tale{seen: map[string][]string{}}
	before := p.at(after - time.Millisecond)
	lost := map[string]bool{} // by name; pods that come later are new
	set := ""
	before.PodsOnNode("worker-1", func(q *world.Pod) bool {
		if q.Object.Namespace == "lost" {
			lost[q.Object.Name] = true
			set = q.Object.OwnerReferences[0].Name
		}
		return true
	})
	pod := regexp.MustCompile(set + `-[a-z0-9]{5}\b`)
	names := func(s string) string {
		s = pod.ReplaceAllStringFunc(s, func(name string) string {
			if lost[name] {
				return "lost pod"
			}
			return "new pod"
		})
		return toNode.ReplaceAllString(strings.ReplaceAll(s, set, "set"), "to *")
	}
	lives, last := map[string][]string{}, map[string]string{}
	add := func(subject, l string) {
		if last[subject] != l {
			t.seen[subject] = append(t.seen[subject], l)
		}
		last[subject] = l
	}
	others := map[string]bool{} // pods that live through it all
	before.Pods.Scan(func(_ string, q *world.Pod) bool { others[q.Object.Name] = !lost[q.Object.Name]; return true })
	before.Nodes.Scan(func(name string, n *world.Node) bool { last["node "+name] = nodeLine(n.Object); return true })
	if d, ok := before.Deployment("lost", "nginx"); ok {
		last["deployment"] = replicasLine(d)
	}
	for _, r := range p.recs {
		e, ok := r.Event.(event.ObjectChanged)
		if !ok || p.since(r.At) < after {
			continue
		}
		switch o := e.Object.(type) {
		case *corev1.Node:
			if o.Name == "worker-1" {
				add("node worker-1", nodeLine(o))
			}
		case *appsv1.Deployment:
			add("deployment", replicasLine(o))
		case *corev1.Pod:
			if o.Namespace != "lost" || others[o.Name] {
				continue
			}
			l := lossPodLine(strings.ToLower(string(e.Type)), o)
			if ls := lives[o.Name]; l != "" && (len(ls) == 0 || ls[len(ls)-1] != l) {
				lives[o.Name] = append(ls, l)
			}
		case *corev1.Event:
			from := o.Source.Component
			if from == "" {
				from = o.ReportingController
			}
			if from == "kubelet" || o.Namespace != "lost" && o.InvolvedObject.Name != "worker-1" {
				continue
			}
			subject, l := names("event "+o.InvolvedObject.Kind+"/"+o.InvolvedObject.Name), names(fmt.Sprintf("%s %s %s %s", from, o.Type, o.Reason, o.Message))
			if o.InvolvedObject.Kind != "Pod" || !slices.Contains(t.seen[subject], l) {
				t.seen[subject] = append(t.seen[subject], l)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		t.lived(names("life "+name), lives[name], 1)
	}
	return t.seen
}

func nodeLine(n *corev1.Node) string {
	var conds, taints []string
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeNetworkUnavailable {
			conds = append(conds, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	for _, x := range n.Spec.Taints {
		taints = append(taints, x.Key+":"+string(x.Effect))
	}
	slices.Sort(conds)
	slices.Sort(taints)
	return strings.Join(conds, "; ") + " taints=" + strings.Join(taints, ",")
}

func replicasLine(d *appsv1.Deployment) string {
	var out []string
	for _, x := range []struct {
		name string
		n    int32
	}{{"pods", d.Status.Replicas}, {"ready", d.Status.ReadyReplicas}, {"available", d.Status.AvailableReplicas}, {"unavailable", d.Status.UnavailableReplicas}} {
		if x.n != 0 {
			out = append(out, fmt.Sprintf("%s=%d", x.name, x.n))
		}
	}
	return strings.Join(out, " ")
}

func lossPodLine(verb string, o *corev1.Pod) string {
	if o.DeletionTimestamp != nil {
		if verb == "deleted" || *o.DeletionGracePeriodSeconds == 0 {
			return ""
		}
		return fmt.Sprintf("%s deleting grace=%d", verb, *o.DeletionGracePeriodSeconds)
	}
	l := verb + " "
	if o.Spec.NodeName != "" {
		l += "bound "
	}
	l += string(o.Status.Phase)
	var conds []string
	for _, x := range o.Status.Conditions {
		s := strings.TrimSpace(fmt.Sprintf("%s=%s %s", x.Type, x.Status, x.Reason))
		if x.Type == corev1.DisruptionTarget {
			s += ": " + x.Message
		}
		if x.Type != corev1.PodReadyToStartContainers {
			conds = append(conds, s)
		}
	}
	if slices.Sort(conds); len(conds) > 0 {
		l += " [" + strings.Join(conds, ", ") + "]"
	}
	return l
}

// TestALostNodeGoesThroughWhatWasRecorded cuts a worker off for 440 s, as long as the recorded node was silent.
func TestALostNodeGoesThroughWhatWasRecorded(t *testing.T) {
	besides(t, engine.StoreMemory)
	want := readTales(t, "testdata/node-loss.txt")[0]
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			const cutAt, healAt = time.Minute, 500 * time.Second
			p := play(t, run{scenario: bare(4, "lost"), seed: seed, length: 10 * time.Minute,
				do: []string{"20s create deployment nginx --image=nginx:1.27 --replicas=8 -n lost", "60s cut worker-1 all", healAt.String() + " heal"}})
			want.compare(t, p.lossWords(cutAt), false)
			judged, _ := must(p, "the judgement", cutAt, func(e event.NodeJudged) bool { return e.Node == "worker-1" })
			within(t, "NotReady", p.since(judged.At)-cutAt, 40*time.Second, 60*time.Second)
			r, _ := must(p, "the eviction", cutAt, func(e event.ObjectChanged) bool {
				return e.Object.GetNamespace() == "lost" && e.Object.GetDeletionTimestamp() != nil
			})
			within(t, "deletion after that", r.At.Sub(judged.At), 300*time.Second, 305*time.Second)
			p.endsWell()
			if d, _ := p.world.Deployment("lost", "nginx"); d.Status.ReadyReplicas != 8 || d.Status.TerminatingReplicas == nil || *d.Status.TerminatingReplicas != 0 {
				t.Errorf("in the end the deployment is %+v", d.Status)
			}
		})
	}
}

// endsWell: every pod that was deleted in good order reads grace 0 and is then gone.
func (p *told) endsWell() {
	p.t.Helper()
	grace := map[string]int64{}
	n := 0
	for _, r := range p.recs {
		e, ok := r.Event.(event.ObjectChanged)
		if !ok {
			continue
		}
		o, ok := e.Object.(*corev1.Pod)
		if !ok || o.DeletionTimestamp == nil {
			continue
		}
		if e.Type == event.Deleted {
			n++
			if last, seen := grace[string(o.UID)]; !seen || last != 0 || *o.DeletionGracePeriodSeconds != 0 {
				p.t.Errorf("#%d pod %s is gone with a grace of %d after one of %d", r.Seq, o.Name, *o.DeletionGracePeriodSeconds, last)
			}
			continue
		}
		grace[string(o.UID)] = *o.DeletionGracePeriodSeconds
	}
	if n == 0 {
		p.t.Error("no pod came to its end")
	}
}
