// Package sentence turns every fact of the journal into a sentence a person understands, with how much it matters.
//
// A Teller reads records in order, because some facts only mean something beside the one before (a Deployment that wants 5 now wanted 3). Any single
// record can be told as well, out of order, for a chain of causes; the sentence is then a little plainer.
//
// Imports of ours: engine/event, engine/fault, engine/kinds, engine/world, tui/grid, tui/target, tui/theme, tui/words. Goroutines: one owner. Time: simulated.
package sentence

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/words"
)

// Weight says how much a sentence matters.
type Weight int

// The weights. Hidden sentences appear only in chains of causes; Routine ones in the story; Headline ones are also shown when they happen.
const (
	Hidden Weight = iota
	Routine
	Notable
	Headline
)

// Tone is how a sentence is coloured; the theme has a role for each.
type Tone int

// The tones.
const (
	Quiet Tone = iota
	Plain
	Good
	Warn
	Bad
	Lead
	User
)

// Mark is the sign a fact leaves on the time line.
type Mark int

// The marks.
const (
	NoMark Mark = iota
	Order       // of the user
	Break       // a fault or a loss of power
	Elect       // a new leader
	Trouble
)

// Sentence about one record.
type Sentence struct {
	// Who speaks, short: "scheduler", "kubelet/worker-1", "you".
	Who  string
	One  string
	Many func(n int) string
	// Subject is the thing it is about; nothing where there is none that one can go to.
	Subject target.Target
	// Fold is equal for sentences that say the same of like things; empty: never folded.
	Fold     string
	Weight   Weight
	Tone     Tone
	Mark     Mark
	MarkWord string
	// TouchesStore: it may change what the store can bear.
	TouchesStore bool
}

// Teller of sentences.
type Teller struct {
	words   *words.Catalogue
	wants   map[string]int    // replicas by deployment, as last told
	leaders map[string]string // the last victory told, by what it was about
	out     map[string]bool   // API servers that the balancer has taken out at least once
	votes   map[vote]int      // granted to a candidate by others
	masters map[string]bool   // machines of the control plane, from the header
	filling map[string]bool   // ReplicaSets whose decision to create or delete pods was told: each pod of it is no news
	ending  map[string]bool   // containers that were asked to stop, by "namespace/pod container": their exit is no news
	going   map[string]bool   // pods whose eviction was told, by UID
	made    map[string]bool   // processes that were started before, by "host/process"
	group   world.Group       // members of the store, as last told
}

// remembered bounds each of the memories that grow with what a cluster has seen.
const remembered = 2048

// note puts a name into a memory, which is emptied when it is full: what is forgotten is told once more.
func note(m map[string]bool, key string) {
	if len(m) >= remembered {
		clear(m)
	}
	m[key] = true
}

type vote struct {
	member string
	term   uint64
}

// NewTeller speaks the language of the catalogue.
func NewTeller(c *words.Catalogue) *Teller {
	return &Teller{words: c, wants: map[string]int{}, leaders: map[string]string{}, out: map[string]bool{}, votes: map[vote]int{},
		masters: map[string]bool{}, filling: map[string]bool{}, ending: map[string]bool{}, going: map[string]bool{}, made: map[string]bool{}}
}

// Tell says one record. w is the World after it; nil when it is not at hand.
func (t *Teller) Tell(r event.Record, w *world.World) Sentence {
	s := t.tell(r, w)
	if s.Who == "" {
		s.Who = who(r.Actor)
	}
	s.Subject = t.subject(r, w)
	if e, ok := r.Event.(event.MembersChanged); ok && t.group.Seq < r.Seq {
		t.group = world.Group{Members: e.Members, Seq: r.Seq}
	}
	return s
}

// who shortens an actor: parts that are one of a kind lose their machine.
func who(a event.Actor) string {
	switch c := a.Component(); c {
	case "kubelet", "containerd", "apiserver", "etcd":
		return string(a)
	case "haproxy":
		return "balancer"
	default:
		return c
	}
}

func (t *Teller) tell(r event.Record, w *world.World) Sentence {
	say := t.words.Say
	switch e := r.Event.(type) {
	case event.ClusterStarted:
		for _, m := range e.Masters {
			note(t.masters, m)
		}
		return Sentence{Weight: Notable, Tone: Plain, One: say("story.started", "preset", e.Preset, "masters", len(e.Masters), "workers", len(e.Workers), "seed", e.Seed)}
	case event.CommandGiven:
		return Sentence{Who: string(event.You), Weight: hiddenIf(paceWord(e.Text)), Tone: User, One: e.Text, Mark: markIf(!paceWord(e.Text), Order), MarkWord: firstWord(e.Text)}
	case event.CommandRefused:
		return Sentence{Who: string(event.You), Weight: Notable, Tone: Warn, One: say("story.refused", "text", e.Text, "reason", e.Reason)}
	case event.CommandDone:
		if e.Error != "" {
			return Sentence{Who: string(event.You), Weight: Notable, Tone: Warn, One: say("story.failed", "what", t.order(e.Text), "error", e.Error)}
		}
		return Sentence{Who: string(event.You), Tone: Quiet, One: say("story.done", "text", e.Text)}
	case event.RateChanged:
		return t.rate(e)
	case event.MachineUp:
		if e.Joined {
			note(t.masters, e.Host)
		}
		return Sentence{Weight: Notable, Tone: Good, One: say("story.machine-up", "host", e.Host), Fold: "up", Many: t.many("story.machines-up", "host", e.Host)}
	case event.MachineDown:
		return Sentence{Weight: Headline, Tone: Bad, Mark: Break, MarkWord: e.Host, TouchesStore: w != nil && has(w, e.Host), One: say("story.machine-down", "host", e.Host, "reason", e.Reason)}
	case event.ProcessStarted:
		return t.processStarted(e)
	case event.ProcessStopped:
		return t.processStopped(e, w)
	case event.FaultAdded:
		return Sentence{Who: "network", Weight: Headline, Tone: Warn, Mark: Break, MarkWord: string(e.Fault.Kind), One: t.fault(e.Fault), Fold: oneOrder(e.Fault),
			Many: t.many("story.faults", "fault", e.Fault.String())}
	case event.FaultRemoved:
		return Sentence{Who: "network", Weight: Headline, Tone: Good, One: say("story.healed", "fault", e.Fault.String()), Fold: "healed", Many: t.many("story.healed-many", "fault", e.Fault.String())}
	case event.BackendChanged:
		if e.Healthy && !t.out[e.Backend] {
			return Sentence{Weight: Routine, Tone: Good, One: say("story.backend-first", "host", e.Backend), Fold: "backend-first", Many: t.many("story.backends-first", "host", e.Backend)}
		}
		if e.Healthy {
			return Sentence{Weight: Routine, Tone: Good, One: say("story.backend-up", "host", e.Backend), Fold: "backend-up", Many: t.many("story.backends-up", "host", e.Backend)}
		}
		t.out[e.Backend] = true
		return Sentence{Weight: Notable, Tone: Warn, One: say("story.backend-down", "host", e.Backend, "reason", e.Reason), Fold: "backend-down " + e.Backend,
			Many: t.many("story.backends-down", "host", e.Backend, "reason", e.Reason)}
	case event.RaftRole, event.RaftProgress, event.RaftMessage:
		return t.raft(r, w)
	case event.RaftTiming, event.RaftContact, event.RaftAppended, event.RaftTruncated, event.RaftSnapshot:
		return t.raftLog(r.Event)
	case event.MembersChanged:
		return t.members(r, e, w)
	case event.StoreCompacted, event.StoreDefragmented, event.StoreAlarm, event.StoreLease, event.StoreQuota, event.StoreBackedUp, event.StoreRestored, event.StoreDiverged:
		return t.store(r.Event)
	case event.DiskChanged, event.DiskSetAside, event.TrapSet, event.TrapSprung:
		return t.disk(r.Event)
	case event.ObjectChanged:
		return t.object(e)
	case event.LeaseRenewed:
		return Sentence{Tone: Quiet, One: say("story.lease", "lease", e.Namespace+"/"+e.Lease, "holder", holder(e.Holder))}
	case event.RequestReceived:
		return Sentence{Tone: Quiet, One: say("story.request", "user", e.User, "verb", e.Verb, "what", what(e.Resource, e.Subresource, e.Namespace, e.ObjectName))}
	case event.RequestDone:
		return t.request(e)
	case event.RequestTally:
		return Sentence{Tone: Quiet, One: say("story.tally", "n", e.Total, "server", e.Server)}
	case event.WatchOpened:
		return Sentence{Tone: Quiet, One: say("story.watch", "client", string(e.Client), "what", what(e.Resource, "", e.Namespace, ""), "server", e.Server)}
	case event.WatchClosed:
		s := Sentence{Tone: Quiet, One: say("story.watch-over", "client", string(e.Client), "what", what(e.Resource, "", "", ""), "server", e.Server, "reason", e.Reason)}
		if e.Reason == world.TooSlow {
			s.Weight, s.Tone, s.One = Notable, Warn, say("story.watch-dropped", "client", string(e.Client), "what", what(e.Resource, "", "", ""), "server", e.Server)
		}
		return s
	case event.WatchBehind:
		return t.behind(r, e)
	case event.ClientConnected:
		return t.client(e)
	case event.ClientGone:
		return Sentence{Tone: Quiet, One: say("story.client-gone", "client", string(e.Client))}
	case event.QueueChanged:
		return Sentence{Tone: Quiet, One: say("story.queue", "queue", e.Queue, "waiting", e.Waiting, "inwork", e.InWork, "delayed", e.Delayed)}
	case event.Reconciled:
		return t.reconciled(e)
	case event.Leading:
		return t.leading(e)
	case event.SchedulingAttempt:
		return t.attempt(e)
	case event.PodQueued:
		if e.Queue == "" {
			return Sentence{Tone: Quiet, One: say("story.pod-unqueued", "pod", e.Pod.String(), "why", e.Why)}
		}
		return Sentence{Tone: Quiet, One: say("story.pod-queued", "pod", e.Pod.String(), "queue", e.Queue, "why", e.Why)}
	case event.NodeJudged:
		return t.judged(e)
	case event.EvictionPlanned:
		return Sentence{Who: "taint-eviction", Weight: Notable, Tone: Warn, One: say("story.eviction", "pod", e.Pod.Name, "node", e.Node, "in", max(e.Due.Sub(r.At), 0).Round(time.Second)), Fold: "evict " + e.Node,
			Many: t.many("story.evictions", "node", e.Node, "in", max(e.Due.Sub(r.At), 0).Round(time.Second))}
	case event.EvictionCancelled:
		return Sentence{Who: "taint-eviction", Weight: Notable, Tone: Good, One: say("story.eviction-off", "pod", e.Pod.Name, "node", e.Node), Fold: "noevict " + e.Node,
			Many: t.many("story.evictions-off", "node", e.Node)}
	case event.ContainerChanged:
		return t.container(e)
	case event.Crashed:
		return Sentence{Weight: Headline, Tone: Bad, Mark: Trouble, MarkWord: e.Who, One: say("story.crashed", "who", e.Who, "value", e.Value)}
	}
	return Sentence{Tone: Quiet, One: say("story.unknown", "name", r.Event.Name())}
}

// client tells of a program that comes in from outside.
func (t *Teller) client(e event.ClientConnected) Sentence {
	key, many := "story.client", "story.clients"
	if e.User == "" {
		key, many = "story.client-bare", "story.clients-bare"
	}
	at := ""
	if e.Door != "balancer" {
		at = " " + t.words.Say("story.client-at", "door", e.Door)
	}
	args := []any{"client", event.ProgramName(e.Client), "user", e.User, "at", at}
	return Sentence{Weight: Routine, Tone: Quiet, One: t.words.Say(key, args...), Fold: "client " + e.Program() + " " + e.Door, Many: t.many(many, args...)}
}

// behind tells of a client that reads its watch slowly.
func (t *Teller) behind(r event.Record, e event.WatchBehind) Sentence {
	fold := "behind " + string(e.Client) + " " + e.Server + " " + strconv.FormatUint(e.Watch, 10)
	if e.Changes == 0 {
		return Sentence{Weight: Routine, Tone: Quiet, One: t.words.Say("story.caught-up", "what", e.Resource, "server", e.Server)}
	}
	s := Sentence{Weight: Routine, Tone: Warn, One: t.words.Say("story.behind", "n", e.Changes, "what", e.Resource, "server", e.Server, "since", r.At.Sub(e.Since)), Fold: fold}
	s.Many = func(int) string { return s.One }
	return s
}

func (t *Teller) many(key string, args ...any) func(int) string {
	return func(n int) string { return t.words.Say(key, append([]any{"n", n}, args...)...) }
}

// order names a command that was told in full when it was given: its first words.
func (t *Teller) order(text string) string {
	words := strings.Fields(text)
	if len(words) > 1 && words[0] == "kubectl" {
		words = words[1:]
	}
	return strings.Join(words[:min(len(words), 2)], " ")
}

// has reports whether a machine holds a member of the store.
func has(w *world.World, host string) bool {
	_, ok := w.Members.Get(host)
	return ok
}

// oneOrder is the same for the faults that one partition made, and empty for faults made one by one.
func oneOrder(f fault.Fault) string {
	if f.Group == 0 {
		return ""
	}
	return fmt.Sprint("fault ", f.Group)
}

// fault says what a broken link does to packets.
func (t *Teller) fault(f fault.Fault) string {
	key := "story.fault-cut"
	switch {
	case f.Kind == fault.Delay:
		key = "story.fault-delay"
	case f.Kind == fault.Loss:
		key = "story.fault-loss"
	case f.Kind.OfMessages():
		key = "story.fault-" + string(f.Kind)
	case f.OneWay:
		key = "story.fault-oneway"
	}
	return t.words.Say(key, "a", f.A, "b", f.B, "by", words.Short(f.Duration), "percent", f.Percent)
}

func (t *Teller) rate(e event.RateChanged) Sentence {
	switch {
	case e.Rate == 0 && e.Why != "":
		return Sentence{Weight: Headline, Tone: Plain, One: t.words.Say("story.paused-why", "why", e.Why)}
	case e.Rate == 0:
		return Sentence{Tone: Quiet, One: t.words.Say("story.paused")}
	}
	return Sentence{Tone: Quiet, One: t.words.Say("story.rate", "rate", e.Rate)}
}

func (t *Teller) processStarted(e event.ProcessStarted) Sentence {
	args := []any{"process", e.Process, "host", e.Host}
	s := Sentence{Who: "machine", Weight: Routine, Tone: Quiet, One: t.words.Say("story.process-started", args...), Fold: "started", Many: t.many("story.processes-started", args...)}
	if key := e.Host + "/" + e.Process; t.made[key] {
		s.One, s.Tone, s.Fold = t.words.Say("story.process-again", args...), Good, "started again "+e.Host
	} else {
		note(t.made, key)
	}
	return s
}

func (t *Teller) processStopped(e event.ProcessStopped, w *world.World) Sentence {
	args := []any{"process", e.Process, "host", e.Host, "reason", e.Reason, "message", e.Message}
	s := Sentence{Who: "machine", Weight: Notable, Tone: Bad, TouchesStore: e.Process == "etcd", One: t.words.Say("story.process-stopped", args...)}
	switch e.Reason {
	case "machine down":
		s.Weight, s.Fold, s.Tone = Hidden, "stopped "+e.Host, Quiet
	case "stopped":
		s.Tone = Warn
	case "crashed", "killed", "exited":
		s.Weight = Headline
		switch {
		case e.Message != "":
			s.One = t.words.Say("story.process-died", args...)
		case e.Reason == "killed" && w != nil && byUser(w, e.Host, e.Process):
			s.One = t.words.Say("story.process-killed-by-you", args...)
		}
		if e.Reason == "exited" {
			s.Weight = Notable
		}
	}
	return s
}

// byUser reports whether the last that happened to a process was the user's doing.
func byUser(w *world.World, host, process string) bool {
	p, ok := w.Process(host, process)
	return ok && p.By == event.You
}

// Leases of components by the name of the component.
func component(lease string) string { return strings.TrimPrefix(lease, "kube-") }

func (t *Teller) leading(e event.Leading) Sentence {
	name := component(e.Lease)
	if e.Leading {
		return Sentence{Who: name, Weight: Headline, Tone: Lead, Mark: Elect, MarkWord: name, One: t.words.Say("story.leading", "component", name, "host", e.Host)}
	}
	return Sentence{Who: name, Weight: Notable, Tone: Warn, One: t.words.Say("story.not-leading", "component", name, "host", e.Host, "why", e.Message)}
}

func (t *Teller) attempt(e event.SchedulingAttempt) Sentence {
	if e.Node != "" {
		owner := template(e.Pod.Name)
		return Sentence{Who: "scheduler", Weight: Routine, Tone: Plain, One: t.words.Say("story.bound", "pod", e.Pod.Name, "node", e.Node, "feasible", e.Feasible, "nodes", e.Nodes),
			Fold: "bound " + owner, Many: t.many("story.bound-many", "owner", owner)}
	}
	return Sentence{Who: "scheduler", Weight: Notable, Tone: Warn, One: t.words.Say("story.unschedulable", "pod", e.Pod.Name, "message", e.Message),
		Fold: "fits-nowhere " + template(e.Pod.Name), Many: t.many("story.unschedulable-many", "owner", template(e.Pod.Name), "message", e.Message)}
}

func (t *Teller) judged(e event.NodeJudged) Sentence {
	switch e.Ready {
	case "True":
		return Sentence{Who: "node-lifecycle", Weight: Headline, Tone: Good, One: t.words.Say("story.node-ready", "node", e.Node)}
	case "Unknown":
		if e.SilentFor < time.Second { // found so by a controller that took over just now: no news
			return Sentence{Who: "node-lifecycle", Weight: Routine, Tone: Warn, One: t.words.Say("story.node-still-unknown", "node", e.Node), Fold: "still unknown " + e.Node}
		}
		return Sentence{Who: "node-lifecycle", Weight: Headline, Tone: Bad, Mark: Trouble, MarkWord: e.Node, One: t.words.Say("story.node-unknown", "node", e.Node, "silent", e.SilentFor)}
	}
	return Sentence{Who: "node-lifecycle", Weight: Headline, Tone: Bad, Mark: Trouble, MarkWord: e.Node, One: t.words.Say("story.node-notready", "node", e.Node)}
}

func (t *Teller) reconciled(e event.Reconciled) Sentence {
	s := t.decided(e)
	s.Who = controller(s.Who)
	return s
}

// controller is the short name: "deployment" for "deployment-controller".
func controller(name string) string {
	switch name {
	case "garbagecollector":
		return "garbage-collector"
	case "pod-garbage-collector":
		return "pod-gc"
	}
	return strings.TrimSuffix(strings.ReplaceAll(name, "_", "-"), "-controller")
}

func (t *Teller) decided(e event.Reconciled) Sentence {
	if strings.Contains(e.Error, "the object has been modified") { // a conflict is how two writers take turns
		return Sentence{Who: e.Controller, Tone: Quiet, One: t.words.Say("story.reconcile-error", "key", e.Key, "error", e.Error)}
	}
	if e.Error != "" {
		return Sentence{Who: e.Controller, Weight: Routine, Tone: Warn, One: t.words.Say("story.reconcile-error", "key", e.Key, "error", e.Error),
			Fold: "err " + e.Controller + e.Key, Many: t.many("story.reconcile-errors", "key", e.Key, "error", e.Error)}
	}
	if e.Decision == "" {
		return Sentence{Who: e.Controller, Tone: Quiet, One: t.words.Say("story.reconciled", "key", e.Key)}
	}
	s := Sentence{Who: e.Controller, Weight: Routine, Tone: Plain, One: t.words.Say("story.decided", "key", e.Key, "decision", e.Decision),
		Fold: "decided " + e.Controller + strings.ReplaceAll(e.Decision, e.Key, "")}
	verb := firstWord(e.Decision)
	_, short, _ := strings.Cut(e.Key, "/")
	switch {
	case verb == "report": // counting pods into a status: true, and nobody's story
		s.Weight, s.Tone = Hidden, Quiet
	case strings.HasSuffix(verb, "taint") && strings.Contains(e.Decision, ":NoSchedule"): // said of the node already, by its Ready
		s.Weight, s.Tone = Hidden, Quiet
	case verb == "taint" && strings.Contains(e.Decision, ":NoExecute"):
		s.One, s.Tone = t.words.Say("story.tainted", "node", e.Key, "taint", taint(e.Decision)), Warn
		s.Many = t.many("story.tainted-many", "node", e.Key, "taint", taint(e.Decision))
	case verb == "untaint":
		s.One, s.Tone = t.words.Say("story.untainted", "node", e.Key, "taint", taint(e.Decision)), Good
		s.Many = t.many("story.untainted-many", "node", e.Key, "taint", taint(e.Decision))
	case e.Controller == "garbagecollector": // its key is a kind, a name and a UID; the decision names the object
		s.One, s.Fold, s.Many = t.words.Say("story.decision", "decision", e.Decision), "collected", t.many("story.collected", "decision", e.Decision)
	case e.Controller == "replicaset":
		s.One = t.words.Say("story.decision", "decision", e.Decision)
		s.Fold = "decided " + e.Key + " " + verb
		note(t.filling, e.Key)
	case strings.HasPrefix(e.Controller, "endpoint"): // two controllers follow each change of a pod; the decision names the service
		s.One, s.Fold = t.words.Say("story.decision", "decision", e.Decision), "decided "+e.Controller+" "+e.Key
	case e.Controller == "deployment":
		if strings.Contains(e.Decision, short) { // it names what it is about
			s.One = t.words.Say("story.decision", "decision", e.Decision)
		}
		words := strings.Fields(e.Decision)
		s.Fold = "decided " + e.Key + " " + strings.Join(words[:min(len(words), 2)], " ")
	}
	return s
}

// taint is the taint that a decision of the node lifecycle controller names, without the domain that all of them share.
func taint(decision string) string {
	words := strings.Fields(decision)
	if len(words) < 2 {
		return decision
	}
	return strings.TrimPrefix(strings.TrimRight(words[1], ";,"), "node.kubernetes.io/")
}

func (t *Teller) request(e event.RequestDone) Sentence {
	args := []any{"user", e.User, "verb", e.Verb, "what", what(e.Resource, e.Subresource, e.Namespace, e.ObjectName), "code", e.Code, "message", e.Message}
	if e.Code < 400 {
		return Sentence{Who: "apiserver/" + e.Server, Tone: Quiet, One: t.words.Say("story.answered", args...)}
	}
	s := Sentence{Who: "apiserver/" + e.Server, Tone: Warn, One: t.words.Say("story.answer-failed", args...)}
	if e.Code >= 500 { // a conflict or a missing object is everyday business of controllers
		s.Weight, s.Fold = Routine, "failed "+e.Server
		s.Many = t.many("story.answers-failed", "server", e.Server, "message", e.Message)
	}
	return s
}

func (t *Teller) container(e event.ContainerChanged) (s Sentence) {
	args := []any{"container", e.Container, "pod", e.Pod.Name, "node", e.Node, "image", e.Image, "code", e.ExitCode, "reason", e.Reason, "n", e.Restarts}
	s = Sentence{Who: "kubelet/" + e.Node, Tone: Quiet}
	owner := template(e.Pod.Name)
	if e.Pod.Namespace == "kube-system" && strings.HasSuffix(e.Pod.Name, "-"+e.Node) { // a part of the control plane: its program tells of start and end
		defer func() {
			if e.State == event.ContainerExited || e.State == event.ContainerRunning {
				s.Weight = Hidden
			}
		}()
	}
	switch e.State {
	case event.ContainerPulling:
		s.One = t.words.Say("story.pulling", args...)
	case event.ContainerCreated:
		s.One = t.words.Say("story.created", args...)
	case event.ContainerRunning:
		s.One, s.Weight, s.Tone = t.words.Say("story.running", args...), Routine, Good
		if e.Restarts > 0 {
			s.One = t.words.Say("story.restarted", args...)
		}
		s.Fold, s.Many = "running "+owner, t.many("story.running-many", "owner", owner)
	case event.ContainerStopping:
		s.One = t.words.Say("story.stopping", args...)
		note(t.ending, e.Pod.Namespace+"/"+e.Pod.Name+" "+e.Container)
	case event.ContainerExited:
		s.One, s.Weight = t.words.Say("story.exited", args...), Routine
		if key := e.Pod.Namespace + "/" + e.Pod.Name + " " + e.Container; t.ending[key] { // as it was told to
			delete(t.ending, key)
			s.Weight = Hidden
			return s
		}
		s.Fold, s.Many = "exited "+owner, t.many("story.exited-many", "owner", owner)
		if e.ExitCode != 0 && e.ExitCode != 137 && e.ExitCode != 143 {
			s.Weight, s.Tone = Notable, Bad
			s.Fold += " badly"
		}
	case event.ContainerBackoff:
		s.One, s.Weight, s.Tone = t.words.Say("story.backoff", args...), Notable, Warn
		s.Fold = "backoff " + e.Pod.Name
	default:
		s.One = t.words.Say("story.gone", args...)
	}
	return s
}

// paceWord reports whether a command acts on time only.
func paceWord(text string) bool {
	switch firstWord(text) {
	case "speed", "pause", "resume", "step", "until":
		return true
	}
	return false
}

func hiddenIf(b bool) Weight {
	if b {
		return Hidden
	}
	return Notable
}

func markIf(b bool, m Mark) Mark {
	if b {
		return m
	}
	return NoMark
}

func firstWord(s string) string { w, _, _ := strings.Cut(s, " "); return w }

// holder is the machine in a holder identity "<host>_<uuid>".
func holder(identity string) string { h, _, _ := strings.Cut(identity, "_"); return h }

// template is a pod's name without its random end: "nginx-6d4cf56db6" for "nginx-6d4cf56db6-x2x7p".
func template(pod string) string {
	if i := strings.LastIndexByte(pod, '-'); i > 0 && len(pod)-i == 6 {
		return pod[:i]
	}
	return pod
}

func what(resource, sub, namespace, name string) string {
	s := resource
	if sub != "" {
		s += "/" + sub
	}
	if name != "" {
		if namespace != "" {
			name = namespace + "/" + name
		}
		s += " " + name
	}
	return s
}
