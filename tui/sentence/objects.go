package sentence

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/words"
)

// raft tells of elections; progress and heartbeats stay hidden.
func (t *Teller) raft(r event.Record, w *world.World) Sentence {
	switch e := r.Event.(type) {
	case event.RaftRole:
		s := Sentence{Who: "raft", Tone: Quiet}
		args := []any{"member", e.Member, "term", e.Term, "leader", e.Leader, "error", e.Err}
		switch e.Role {
		case "leader":
			if now := fmt.Sprint(e.Member, e.Term); t.leaders["raft"] != now {
				t.leaders["raft"] = now
			} else { // the same victory, told again because something else of the member changed
				s.One = t.words.Say("story.elected", args...)
				return s
			}
			if votes := t.votes[vote{e.Member, e.Term}]; votes > 0 { // its own beside them; it had a majority, also where the answers are recorded later
				key := "story.elected-by"
				if gap := vacant(w, e); gap >= 100*time.Millisecond {
					key, args = "story.elected-after", append(args, "gap", words.Short(gap))
				}
				s.One, s.Weight, s.Tone, s.Mark, s.MarkWord = t.words.Say(key, append(args, "votes", max(votes+1, world.ArithmeticOf(members(w)).Quorum), "of", members(w))...), Headline, Lead, Elect, "raft"
				return s
			}
			s.One, s.Weight, s.Tone, s.Mark, s.MarkWord = t.words.Say("story.elected", args...), Headline, Lead, Elect, "raft"
		case "candidate":
			s.One, s.Weight, s.Tone = t.words.Say("story.candidate", args...), Routine, Warn
			s.Fold = "candidate " + e.Member
		case "down":
			s.One = t.words.Say("story.member-down", args...)
			if e.Err != "" {
				s.One, s.Weight, s.Tone = t.words.Say("story.member-failed", args...), Headline, Bad
			}
		default:
			s.One = t.words.Say("story.follower", args...)
			if e.Leader == "" {
				s.One = t.words.Say("story.no-leader", args...)
			}
		}
		return s
	case event.RaftProgress:
		return Sentence{Who: "raft", Tone: Quiet, One: t.words.Say("story.progress", "member", e.Member, "last", e.LastIndex, "commit", e.CommitIndex)}
	case event.RaftMessage:
		kind := e.Kind
		if kind == "vote" && e.Reply && e.Granted {
			if len(t.votes) > 64 { // old terms
				clear(t.votes)
			}
			t.votes[vote{e.To, e.Term}]++
		}
		key := "story.raft-ask"
		switch {
		case e.Lost:
			key = "story.raft-lost"
		case e.Reply && e.Granted:
			key = "story.raft-yes"
		case e.Reply:
			key = "story.raft-no"
		}
		return Sentence{Who: "raft", Tone: Quiet, One: t.words.Say(key, "from", e.From, "to", e.To, "kind", kind, "term", e.Term)}
	}
	return Sentence{}
}

func members(w *world.World) int {
	if w == nil {
		return 0
	}
	if w.Store.Group.Known() {
		return w.Arithmetic().Voters
	}
	return max(w.Members.Len(), len(w.Header.Masters))
}

// object tells of a committed change.
func (t *Teller) object(e event.ObjectChanged) Sentence {
	if e.Object == nil {
		return Sentence{Who: "etcd", Tone: Quiet, One: t.words.Say("story.revision", "revision", e.Revision)}
	}
	switch o := e.Object.(type) {
	case *corev1.Event:
		return t.k8sEvent(e, o)
	case *appsv1.Deployment:
		return t.deployment(e, o)
	case *corev1.Pod:
		return t.pod(e, o)
	}
	kind := "object"
	if k, err := kinds.Of(e.Object); err == nil {
		kind = k.Kind
	}
	args := []any{"kind", kind, "name", name(e.Object), "revision", e.Revision}
	s := Sentence{Who: "etcd", Tone: Quiet}
	switch e.Type {
	case event.Added:
		s.One = t.words.Say("story.object-added", args...)
		if kind == "Node" {
			s.Weight, s.Fold, s.Many = Routine, "node-added", t.many("story.nodes-added")
		}
	case event.Deleted:
		s.One = t.words.Say("story.object-deleted", args...)
		if kind != "Lease" {
			s.Weight = Routine
			s.Fold, s.Many = "deleted "+kind, t.many("story.objects-deleted", args...)
		}
	default:
		s.One = t.words.Say("story.object-modified", args...)
	}
	return s
}

func (t *Teller) deployment(e event.ObjectChanged, d *appsv1.Deployment) Sentence {
	key := name(d)
	want := kinds.Desired(d.Spec.Replicas)
	before, known := t.wants[key]
	args := []any{"name", key, "want", want, "before", before, "n", want}
	switch {
	case e.Type == event.Deleted:
		delete(t.wants, key)
		return Sentence{Who: "deployment", Weight: Notable, Tone: Plain, One: t.words.Say("story.deployment-deleted", args...)}
	case !known && e.Type == event.Modified: // told out of order, or from the middle: what it wanted before is not known
		t.wants[key] = want
	case !known:
		t.wants[key] = want
		return Sentence{Who: "deployment", Weight: Notable, Tone: Plain, One: t.words.Say("story.deployment-wants", args...)}
	case before != want:
		t.wants[key] = want
		return Sentence{Who: "deployment", Weight: Notable, Tone: Plain, One: t.words.Say("story.deployment-scaled", args...)}
	}
	return Sentence{Who: "deployment", Tone: Quiet, One: t.words.Say("story.deployment-status", "name", key, "ready", int(d.Status.ReadyReplicas), "want", want)}
}

func (t *Teller) pod(e event.ObjectChanged, p *corev1.Pod) Sentence {
	owner := template(p.Name)
	args := []any{"pod", p.Name, "owner", owner, "status", kinds.PodStatus(p), "node", p.Spec.NodeName}
	switch {
	case e.Type == event.Added && p.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return Sentence{Who: maker(p), Weight: Routine, Tone: Quiet, One: t.words.Say("story.mirror", args...), Fold: "mirror", Many: t.many("story.mirrors")}
	case e.Type == event.Added:
		s := Sentence{Who: maker(p), Weight: Routine, Tone: Plain, One: t.words.Say("story.pod-added", args...), Fold: "pod-added " + owner, Many: t.many("story.pods-added", "owner", owner)}
		if c := metav1.GetControllerOfNoCopy(p); c != nil && t.filling[p.Namespace+"/"+c.Name] { // its ReplicaSet said so
			s.Weight = Hidden
		}
		return s
	case e.Type == event.Deleted:
		return Sentence{Who: "etcd", Weight: Routine, Tone: Quiet, One: t.words.Say("story.pod-deleted", args...), Fold: "pod-deleted " + owner, Many: t.many("story.pods-deleted", "owner", owner)}
	case p.DeletionTimestamp != nil && disrupted(p) != "" && !t.going[string(p.UID)]:
		note(t.going, string(p.UID))
		args = append(args, "reason", disrupted(p))
		who := "taint-eviction"
		if disrupted(p) == corev1.PodReasonPreemptionByScheduler {
			who = "scheduler"
		}
		return Sentence{Who: who, Weight: Notable, Tone: Warn, One: t.words.Say("story.evicted", args...), Fold: "evicted " + p.Spec.NodeName + disrupted(p),
			Many: t.many("story.evicted-many", args...)}
	case p.DeletionTimestamp != nil:
		return Sentence{Who: "etcd", Tone: Quiet, One: t.words.Say("story.pod-deleting", args...)}
	}
	return Sentence{Who: "etcd", Tone: Quiet, One: t.words.Say("story.pod-status", args...)}
}

// disrupted is why a pod must go although its owner still wants it: the reason of its DisruptionTarget condition ("DeletionByTaintManager").
func disrupted(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}

// maker names what made a pod: its controller, or a request of somebody else.
func maker(p *corev1.Pod) string {
	o := metav1.GetControllerOfNoCopy(p)
	switch {
	case o == nil:
		return "apiserver"
	case o.Kind == "ReplicaSet":
		return "replicaset"
	case o.Kind == "Node":
		return "kubelet/" + o.Name
	}
	return strings.ToLower(o.Kind)
}

// toldOtherwise are reasons of Event objects whose fact has a sentence of its own.
var toldOtherwise = map[string]bool{"Scheduled": true, "FailedScheduling": true, "Pulling": true, "Pulled": true, "Created": true, "Started": true, "SuccessfulCreate": true,
	"SuccessfulDelete": true, "LeaderElection": true, "RegisteredNode": true, "NodeNotReady": true, "BackOff": true, "Starting": true, "NodeAllocatableEnforced": true,
	"NodeHasSufficientMemory": true, "NodeHasNoDiskPressure": true, "NodeHasSufficientPID": true, "NodeReady": true,
	"ScalingReplicaSet": true, "Killing": true, "Rebooted": true, "TaintManagerEviction": true}

func (t *Teller) k8sEvent(e event.ObjectChanged, o *corev1.Event) Sentence {
	from := o.Source.Component
	if from == "" {
		from = o.ReportingController
	}
	about := o.InvolvedObject.Kind + " " + o.InvolvedObject.Name
	if o.InvolvedObject.Kind == "Pod" { // most are
		about = o.InvolvedObject.Name
	}
	args := []any{"about", about, "reason", o.Reason, "message", o.Message, "n", int(o.Count)}
	s := Sentence{Who: controller(from), Tone: Quiet, One: t.words.Say("story.event", args...)}
	if from == "kubelet" && o.Source.Host != "" {
		s.Who = "kubelet/" + o.Source.Host
	}
	if e.Type == event.Deleted || toldOtherwise[o.Reason] && !strings.Contains(o.Message, "failed liveness probe") {
		return s
	}
	s.Fold = fmt.Sprintf("event %s %s %s", from, o.Reason, about)
	if o.Count > 1 { // the same again, which is no news
		return s
	}
	switch {
	case o.Reason == "Unhealthy" && o.InvolvedObject.Namespace == "kube-system" && !strings.HasPrefix(o.Message, "Liveness"):
		// a part of the control plane is not ready: the balancer and its container tell of that
	case o.Reason == "Unhealthy":
		owner := template(o.InvolvedObject.Name)
		kind, _, _ := strings.Cut(o.Message, " ")
		s.Weight, s.Tone, s.Fold, s.Many = Routine, Warn, "event Unhealthy "+kind+owner, t.many("story.probes", "owner", owner, "message", o.Message)
	case o.Type == corev1.EventTypeWarning && o.InvolvedObject.Kind == "Node":
		s.Weight, s.Tone, s.Fold, s.Many = Notable, Warn, "event node "+o.Reason, t.many("story.events-nodes", "reason", o.Reason, "node", o.InvolvedObject.Name)
	case o.Type == corev1.EventTypeWarning:
		s.Weight, s.Tone = Notable, Warn
	case o.Reason == "Killing": // by its liveness probe; the others are told by who deleted the pod
		s.Weight, s.Tone = Notable, Warn
	}
	return s
}

func name(o kinds.Object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns + "/" + o.GetName()
	}
	return o.GetName()
}

// vacant is how long the store had no leader before this one, in simulated time; 0 where nobody knows.
func vacant(w *world.World, e event.RaftRole) time.Duration {
	if w == nil || len(w.Elections) == 0 {
		return 0
	}
	last := w.Elections[len(w.Elections)-1]
	if last.To != e.Member || last.Term != e.Term || last.From == "" {
		return 0
	}
	return last.Virtual
}
