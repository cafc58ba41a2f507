// Package worldtest makes up journals for tests and benchmarks of what reads them: plausible records of a cluster with commands, failures, elections,
// pods that come and go, leases, tallies and queues. Equal seeds make equal records.
//
// Imports of ours: engine/event, engine/fault, engine/kinds. Goroutines: any. Time: simulated.
package worldtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

// Start is the instant of the first record.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Story makes records one after another.
type Story struct {
	rng     *rand.Rand
	at      time.Time
	seq     event.Seq
	rev     int64
	step    time.Duration // mean distance of records
	masters []string
	workers []string
	pods    []*corev1.Pod
	maxPods int
	down    map[string]bool
	faults  []event.Seq
	planned []kinds.ObjectRef
	term    uint64
	leader  string
	given   event.Seq
	uid     int
	watches uint64
	done    int64
	queue   []event.Record
	calm    bool
}

// Options of a story; zero values are small and eventful.
type Options struct {
	Seed    uint64
	Workers int           // 4
	Pods    int           // at most; 40
	Step    time.Duration // mean distance of records; 100 ms
	// Calm leaves out machines, links and elections.
	Calm bool
}

// Records makes the first n records of a story.
func Records(o Options, n int) []event.Record {
	s := New(o)
	recs := make([]event.Record, n)
	for i := range recs {
		recs[i] = s.Next()
	}
	return recs
}

// New begins a story.
func New(o Options) *Story {
	s := &Story{rng: rand.New(rand.NewPCG(o.Seed, 7)), at: Start, step: o.Step, maxPods: o.Pods, down: map[string]bool{}, calm: o.Calm}
	if s.step == 0 {
		s.step = 100 * time.Millisecond
	}
	if s.maxPods == 0 {
		s.maxPods = 40
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	for i := range 3 {
		s.masters = append(s.masters, fmt.Sprint("master-", i+1))
	}
	for i := range o.Workers {
		s.workers = append(s.workers, fmt.Sprint("worker-", i+1))
	}
	s.put(event.Engine, 0, event.ClusterStarted{Preset: "made-up", Seed: o.Seed, Store: "raft", Masters: s.masters, Workers: s.workers})
	for _, h := range s.hosts() {
		up := s.put(event.On("machine", h), 1, event.MachineUp{Host: h})
		s.put(event.On("kubelet", h), up, event.ProcessStarted{Host: h, Process: "kubelet"})
		s.object(event.Added, 1, s.node(h, true))
	}
	for _, m := range s.masters {
		for _, p := range []string{"etcd", "apiserver", "scheduler", "controller-manager"} {
			s.put(event.On("kubelet", m), 1, event.ProcessStarted{Host: m, Process: p})
		}
		s.put(event.On("etcd", m), 1, event.RaftRole{Member: m, Role: "follower"})
	}
	s.elect()
	return s
}

func (s *Story) hosts() []string { return append(append([]string(nil), s.masters...), s.workers...) }

// Next is the next record.
func (s *Story) Next() event.Record {
	for len(s.queue) == 0 {
		s.at = s.at.Add(time.Duration(s.rng.Int64N(int64(2 * s.step))))
		s.happen()
	}
	r := s.queue[0]
	s.queue = s.queue[1:]
	return r
}

func (s *Story) put(actor event.Actor, cause event.Seq, e event.Event) event.Seq {
	s.seq++
	s.queue = append(s.queue, event.Record{Seq: s.seq, At: s.at, Actor: actor, Cause: cause, Event: e})
	return s.seq
}

func pick[T any](s *Story, list []T) T { return list[s.rng.IntN(len(list))] }

func (s *Story) object(t event.ChangeType, cause event.Seq, o kinds.Object) event.Seq {
	s.rev++
	o.SetResourceVersion(fmt.Sprint(s.rev))
	return s.put("store", cause, event.ObjectChanged{Type: t, Revision: s.rev, Index: uint64(s.rev), Term: s.term, Object: o})
}

// happen makes one thing happen, in roughly the proportions of a live cluster.
func (s *Story) happen() {
	if !s.calm && s.rng.IntN(100) < 6 {
		s.trouble()
		return
	}
	switch n := s.rng.IntN(100); {
	case n < 35:
		s.podStep()
	case n < 60:
		h := pick(s, s.hosts())
		s.rev++
		s.put("store", 0, event.LeaseRenewed{Namespace: "kube-node-lease", Lease: h, Holder: h, Revision: s.rev})
	case n < 72:
		m := pick(s, s.masters)
		s.put(event.On("apiserver", m), 0, event.RequestTally{Server: m, Total: 12, ByCode: map[int]int{200: 10, 201: 1, 409: 1}, Watches: 20})
	case n < 90:
		q := pick(s, []string{"deployment", "replicaset", "node"})
		s.put(event.On("controller-manager", pick(s, s.masters)), 0, s.work(q, s.rng.IntN(5), s.rng.IntN(2)))
	case n < 92:
		s.raft(pick(s, s.masters))
	case n < 93:
		s.store(pick(s, s.masters))
	case n < 95:
		m := pick(s, s.masters)
		s.put(event.On("etcd", m), 0, event.RaftProgress{Member: m, LastIndex: uint64(s.rev), CommitIndex: uint64(s.rev), Applied: uint64(s.rev), Revision: s.rev})
	case n < 97:
		s.object(event.Modified, s.given, s.deployment())
	case n < 98:
		s.object(event.Modified, 0, s.lease())
	default:
		s.object(event.Modified, 0, s.node(pick(s, s.workers), s.rng.IntN(5) > 0))
	}
}

func (s *Story) trouble() {
	h := pick(s, s.hosts())
	switch s.rng.IntN(9) {
	case 0, 1:
		s.power(h)
	case 2:
		s.process(pick(s, s.masters), pick(s, []string{"etcd", "apiserver", "scheduler"}))
	case 3:
		s.given = s.put(event.You, 0, event.CommandGiven{Text: "cut " + h + " all"})
		s.faults = append(s.faults, s.put(event.Engine, s.given, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: h, B: fault.All}}))
		s.put(event.You, s.given, event.CommandDone{Text: "cut"})
	case 4:
		if len(s.faults) > 0 {
			s.put(event.Engine, 0, event.FaultRemoved{ID: s.faults[0]})
			s.faults = s.faults[1:]
		}
	case 5:
		if len(s.pods) > 0 {
			ref := kinds.RefOf(pick(s, s.pods))
			s.put("controller-manager/master-1", 0, event.EvictionPlanned{Pod: ref, Node: pick(s, s.workers), Due: s.at.Add(5 * time.Minute)})
			s.planned = append(s.planned, ref)
		}
	case 6:
		if len(s.planned) > 0 {
			s.put("controller-manager/master-1", 0, event.EvictionCancelled{Pod: s.planned[0]})
			s.planned = s.planned[1:]
		}
	case 7:
		s.elect()
	default:
		s.put("balancer", 0, event.BackendChanged{Backend: pick(s, s.masters), Healthy: s.rng.IntN(2) == 0, Reason: "connection refused"})
		s.put(event.You, 0, event.CommandRefused{Text: "kill nobody", Reason: "no such thing"})
		s.put(event.On("scheduler", h), 0, event.Leading{Lease: "kube-scheduler", Host: h, Identity: h, Leading: s.rng.IntN(2) == 0})
	}
}

func (s *Story) power(h string) {
	s.given = s.put(event.You, 0, event.CommandGiven{Text: "kill " + h})
	if s.down[h] {
		s.put(event.On("machine", h), s.given, event.MachineUp{Host: h})
	} else {
		seq := s.put(event.On("machine", h), s.given, event.MachineDown{Host: h, Reason: "killed"})
		s.put(event.On("kubelet", h), seq, event.ProcessStopped{Host: h, Process: "kubelet", Reason: "machine down"})
		if h == s.leader {
			s.at = s.at.Add(time.Second)
			s.elect()
		}
	}
	s.down[h] = !s.down[h]
	s.put(event.You, s.given, event.CommandDone{Text: "kill " + h})
}

// raft makes one of the things happen that happen to a member of the store.
func (s *Story) raft(m string) {
	at, by := uint64(s.rev), event.On("etcd", m)
	other := pick(s, s.masters)
	switch s.rng.IntN(8) {
	case 0:
		s.put(by, 0, event.RaftTiming{Heartbeat: time.Second})
	case 1:
		s.put(by, 0, event.RaftContact{Member: m, Leader: other, Lost: s.rng.IntN(2) == 0, Heard: s.at})
	case 2:
		s.put(by, 0, event.RaftTruncated{Member: m, From: at, To: at + 2, Wiped: s.rng.IntN(4) == 0})
	case 3:
		s.put(by, 0, event.RaftSnapshot{Member: m, Index: at, Term: s.term, Installed: s.rng.IntN(2) == 0})
	case 4:
		s.put(by, 0, event.RaftMessage{From: m, To: other, Kind: "vote", Term: s.term, LastIndex: at, LastTerm: s.term, Lost: s.rng.IntN(3) == 0})
	case 5:
		s.put(by, 0, event.RaftMessage{From: m, To: other, Kind: "vote", Term: s.term, Reply: true, Granted: s.rng.IntN(2) == 0})
	default:
		s.put(by, 0, event.RaftAppended{Member: m, From: at, To: at, Term: s.term, CommitIndex: at - 1, Opened: s.rng.IntN(9) == 0,
			Entries: []event.RaftEntry{{Index: at, Term: s.term, Writes: []event.RaftWrite{{Object: kinds.ObjectRef{Resource: "pods", Name: "p"}}}}}})
	}
}

// store makes one of the things happen that its operators do or see.
func (s *Story) store(m string) {
	by := event.On("etcd", m)
	switch s.rng.IntN(14) {
	case 0, 1:
		var members []event.StoreMember
		for i, n := range s.masters {
			if i == 0 || s.rng.IntN(4) > 0 {
				members = append(members, event.StoreMember{Name: n, ID: fmt.Sprint(n, "#", 1+s.rng.IntN(2)), Learner: i > 0 && s.rng.IntN(4) == 0})
			}
		}
		s.put(by, s.given, event.MembersChanged{Members: members, Index: uint64(s.rev), Term: s.term})
	case 2:
		s.put(by, 0, event.StoreCompacted{Revision: s.rev - 10})
	case 3:
		s.put(by, 0, event.StoreDefragmented{Member: m, Before: 1 << 20, After: 1 << 19})
	case 4:
		s.put(by, 0, event.StoreAlarm{Kind: pick(s, []string{"NOSPACE", "CORRUPT"}), Member: m, Raised: s.rng.IntN(2) == 0})
	case 5:
		s.put(by, 0, event.StoreLease{ID: int64(s.rng.IntN(5)), Change: pick(s, []string{"granted", "expired", "revoked"}), TTL: time.Minute, Keys: 1})
	case 6:
		s.put(event.Engine, s.given, event.StoreQuota{Bytes: 8 << 20})
	case 7:
		s.put(by, s.given, event.StoreBackedUp{Member: m, File: "f", Revision: s.rev, Keys: 3, Bytes: 99})
	case 8:
		s.put(event.Engine, s.given, event.StoreRestored{File: "f", Revision: s.rev, Restored: s.rev + 1000, Keys: 3})
	case 9:
		s.put(by, s.given, event.DiskChanged{Member: m, State: pick(s, []string{"ok", "full", "slow", "torn"}), Text: "t"})
	case 10:
		s.put(by, s.given, event.DiskSetAside{Member: m, Text: m + ".aside-1"})
	case 11:
		s.put(by, s.given, event.TrapSet{Member: m, Point: pick(s, []string{"before-apply", "after-apply", ""}), Action: "kill"})
	case 12:
		s.put(by, 0, event.TrapSprung{Member: m, Point: "before-apply", Action: "kill"})
	default:
		s.put(by, 0, event.StoreDiverged{Member: m, Index: uint64(s.rev)})
		s.put(by, 0, event.RaftMessage{From: pick(s, s.masters), To: m, Kind: "snapshot", Term: s.term, LastIndex: uint64(s.rev), Piece: 1, Pieces: 3, Lost: s.rng.IntN(2) == 0})
	}
}

func (s *Story) process(h, p string) {
	if p == "apiserver" {
		s.watches++
		opened := event.WatchOpened{Server: h, Watch: s.watches, Resource: "pods", User: "system:kube-scheduler", Client: event.On("scheduler", s.leader), Revision: s.rev}
		s.put(event.On(p, h), 0, opened)
		if s.watches%3 == 0 {
			s.put(event.On(p, h), 0, event.WatchClosed{Server: h, Watch: s.watches, Resource: "pods", Client: opened.Client, Reason: "its time was up"})
		}
		if s.watches%2 == 0 {
			return
		}
	}
	seq := s.put(event.On(p, h), 0, event.ProcessStopped{Host: h, Process: p, Reason: "crashed"})
	if s.rng.IntN(2) == 0 {
		s.put(event.On("kubelet", h), seq, event.ProcessStarted{Host: h, Process: p})
	}
}

// work is what a queue looks like with so many items.
func (s *Story) work(queue string, waiting, busy int) event.QueueChanged {
	s.done += int64(waiting)
	q := event.QueueChanged{Queue: queue, Waiting: waiting, InWork: busy, Added: s.done + int64(waiting), Done: s.done, Peak: waiting + busy, Kept: waiting == 4}
	for i := 0; i < waiting && !q.Kept; i++ {
		q.Oldest = s.at.Add(-time.Second)
		q.Items = append(q.Items, event.QueueItem{Key: fmt.Sprint("default/web-", i), State: event.ItemWaiting, Since: q.Oldest, Cause: s.given})
	}
	return q
}

func (s *Story) elect() {
	s.term++
	next := pick(s, s.masters)
	s.put(event.On("etcd", next), 0, event.RaftRole{Member: next, Role: "candidate", Term: s.term})
	s.at = s.at.Add(200 * time.Millisecond)
	if s.leader != "" && s.leader != next {
		s.put(event.On("etcd", s.leader), 0, event.RaftRole{Member: s.leader, Role: "follower", Term: s.term, Leader: next})
	}
	s.put(event.On("etcd", next), 0, event.RaftRole{Member: next, Role: "leader", Term: s.term, Leader: next})
	s.leader = next
}

// podStep moves one pod one stage on, or makes a new one.
func (s *Story) podStep() {
	if len(s.pods) < s.maxPods && (len(s.pods) == 0 || s.rng.IntN(3) == 0) {
		s.newPod()
		return
	}
	i := s.rng.IntN(len(s.pods))
	old := s.pods[i]
	p := old.DeepCopy()
	ref := kinds.RefOf(p)
	switch n := s.rng.IntN(20); {
	case p.Spec.NodeName == "" && n < 4:
		s.put("scheduler/master-1", 0, event.SchedulingAttempt{Pod: ref, Attempt: 1, Nodes: 7, Message: "0/7 nodes are available: 7 Insufficient cpu."})
		s.put("scheduler/master-1", 0, event.PodQueued{Pod: ref, Queue: "unschedulable", Why: "no fit"})
		return
	case p.Spec.NodeName == "":
		node := pick(s, s.workers)
		seq := s.put("scheduler/master-1", 0, event.SchedulingAttempt{Pod: ref, Attempt: 1, Nodes: 7, Feasible: 4, Node: node})
		p.Spec.NodeName = node
		s.object(event.Modified, seq, p)
	case n == 0:
		s.object(event.Deleted, 0, p)
		s.put(event.On("containerd", p.Spec.NodeName), 0, event.ContainerChanged{Node: p.Spec.NodeName, Pod: ref, Container: "c", State: event.ContainerGone})
		s.pods = append(s.pods[:i], s.pods[i+1:]...)
		return
	case n == 1:
		p.DeletionTimestamp = &metav1.Time{Time: s.at.Truncate(time.Second)}
		s.object(event.Modified, 0, p)
	case n == 2:
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}
		s.object(event.Modified, 0, p)
	case n == 3:
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		p.Status.ContainerStatuses[0].RestartCount++
		seq := s.put(event.On("containerd", p.Spec.NodeName), 0, event.ContainerChanged{Node: p.Spec.NodeName, Pod: ref, Container: "c", State: event.ContainerBackoff, Until: s.at.Add(time.Minute)})
		s.object(event.Modified, seq, p)
	default:
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		p.Status.ContainerStatuses[0].Ready = true
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		seq := s.put(event.On("containerd", p.Spec.NodeName), 0, event.ContainerChanged{Node: p.Spec.NodeName, Pod: ref, Container: "c", State: event.ContainerRunning, Image: "nginx"})
		s.object(event.Modified, seq, p)
	}
	s.pods[i] = p
}

func (s *Story) newPod() {
	s.uid++
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", s.uid%(s.maxPods+7)), UID: types.UID(fmt.Sprint("uid-", s.uid)), Generation: 1},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(int64(100+s.uid%5*50), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "c"}}},
	}
	for i, q := range s.pods { // names come round again: the older pod goes first
		if q.Name == p.Name {
			s.object(event.Deleted, 0, q.DeepCopy())
			s.put(event.On("containerd", q.Spec.NodeName), 0, event.ContainerChanged{Node: q.Spec.NodeName, Pod: kinds.RefOf(q), Container: "c", State: event.ContainerGone})
			s.pods = append(s.pods[:i], s.pods[i+1:]...)
			break
		}
	}
	seq := s.put("controller-manager/master-1", s.given, event.Reconciled{Controller: "replicaset", Key: "default/web", Decision: "create 1"})
	s.object(event.Added, seq, p)
	s.pods = append(s.pods, p)
}

func (s *Story) node(name string, ready bool) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}}
	if name[0] == 'm' {
		n.Labels["node-role.kubernetes.io/control-plane"] = ""
	}
	c := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Time{Time: s.at.Truncate(time.Second)}}
	if !ready {
		c.Status, c.Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
	}
	n.Status.Conditions = []corev1.NodeCondition{c}
	return n
}

func (s *Story) deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", s.rng.IntN(3))}}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}}
	if s.rng.IntN(4) == 0 {
		d.Status.Conditions[0].Status, d.Status.Conditions[0].Reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
	}
	return d
}

func (s *Story) lease() *coordinationv1.Lease {
	holder, seconds := pick(s, s.masters), int32(15)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: s.at.Truncate(time.Microsecond)}},
	}
}
