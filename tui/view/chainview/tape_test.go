package chainview

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
)

// tape is a journal with times that a test can count on.
type tape struct {
	recs []event.Record
	at   time.Time
	rev  int64
}

func newTape() *tape {
	t := &tape{at: fixture.Start}
	t.put(event.Engine, 0, event.ClusterStarted{Preset: "ha", Store: "raft", Masters: []string{"master-1", "master-2", "master-3"}, Workers: []string{"worker-1", "worker-2"}})
	for _, h := range []string{"master-1", "worker-1", "worker-2"} {
		t.put("machine", 1, event.MachineUp{Host: h})
	}
	return t
}

func (t *tape) after(d time.Duration) *tape { t.at = t.at.Add(d); return t }

func (t *tape) put(a event.Actor, cause event.Seq, e event.Event) event.Seq {
	seq := event.Seq(len(t.recs) + 1)
	t.recs = append(t.recs, event.Record{Seq: seq, At: t.at, Actor: a, Cause: cause, Event: e})
	return seq
}

// request is a write: 1 ms on its way, 1 ms in the API server, 3 ms in the store. It returns the record of the revision.
func (t *tape) request(cause event.Seq, verb, sub string, o kinds.Object) event.Seq {
	k := kinds.MustOf(o)
	t.after(time.Millisecond)
	got := t.put("apiserver/master-1", cause, event.RequestReceived{Server: "master-1", Verb: verb, Resource: k.String(), Subresource: sub, Namespace: o.GetNamespace(), ObjectName: o.GetName(), User: "someone"})
	t.rev++
	index := uint64(t.rev + 100)
	t.after(2 * time.Millisecond)
	t.put("etcd/master-1", got, event.RaftAppended{Member: "master-1", From: index, To: index, Term: 2, Stored: t.at, Entries: []event.RaftEntry{{Index: index, Term: 2, Writes: []event.RaftWrite{{Cause: got}}}}})
	t.after(2 * time.Millisecond)
	change := event.Modified
	if verb == "create" && sub == "" {
		change = event.Added
	}
	seq := t.put("etcd/master-1", got, event.ObjectChanged{Type: change, Revision: t.rev, Index: index, Term: 2, Object: o.DeepCopyObject().(kinds.Object)})
	t.put("apiserver/master-1", got, event.RequestDone{Server: "master-1", Verb: verb, Resource: k.String(), Subresource: sub, Namespace: o.GetNamespace(), ObjectName: o.GetName(), User: "someone", Code: 201,
		Revision: t.rev, Stages: []event.Stage{{Stage: "authentication", Took: time.Millisecond}, {Stage: "authorization"}, {Stage: "store", Took: 3 * time.Millisecond}}})
	t.put("etcd/master-2", 1, event.RaftAppended{Member: "master-2", From: index, To: index, Term: 2, Stored: t.at})
	return seq
}

func pod(n int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("web-5fc9f4bf66-%05d", n)}}
}

// create plays a Deployment of some pods: each hop takes as long as the tests say. Pod n pulls its image n+1 seconds long. It returns the command, and for each pod the
// record of its start.
func (t *tape) create(pods int) (command event.Seq, started []event.Seq) {
	command = t.after(10*time.Second).put(event.You, 0, event.CommandGiven{Text: "kubectl create deployment web --image=nginx"})
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web"}
	n := int32(pods)
	seq := t.request(command, "create", "", &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &n}})
	t.put(event.You, command, event.CommandDone{Text: "kubectl create deployment web --image=nginx"})
	seq = t.after(30*time.Millisecond).put("controller-manager/master-1", seq, event.Reconciled{Controller: "deployment", Key: "default/web", Waited: 20 * time.Millisecond, Decision: "create web-5fc9f4bf66"})
	meta.Name = "web-5fc9f4bf66"
	seq = t.request(seq, "create", "", &appsv1.ReplicaSet{ObjectMeta: meta})
	plan := t.put("controller-manager/master-1", seq, event.Reconciled{Controller: "replicaset", Key: "default/web-5fc9f4bf66", Decision: fmt.Sprintf("create %d pods", pods)})
	for i := range pods {
		o := pod(i)
		made := t.request(plan, "create", "", o)
		t.request(plan, "create", "", &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e" + o.Name}, Reason: "SuccessfulCreate"})
		queued := t.put("scheduler/master-1", made, event.PodQueued{Pod: kinds.RefOf(o), Queue: "active", Why: "the pod has no node"})
		tried := t.after(500*time.Millisecond).put("scheduler/master-1", queued, event.SchedulingAttempt{Pod: kinds.RefOf(o), Attempt: 1, Node: "worker-1", Nodes: 5, Feasible: 2})
		o.Spec.NodeName = "worker-1"
		bound := t.request(tried, "create", "binding", o)
		pulls := t.after(200*time.Millisecond).put("containerd/worker-1", bound, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerPulling, Image: "nginx"})
		created := t.after(time.Duration(i+1)*time.Second).put("containerd/worker-1", pulls, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerCreated})
		started = append(started, t.after(100*time.Millisecond).put("containerd/worker-1", created, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerRunning}))
	}
	return command, started
}

// evict plays a worker that is cut off for six minutes, and one pod of it.
func (t *tape) evict() (cut, replaced, stopped event.Seq) {
	o := pod(7)
	o.Spec.NodeName = "worker-2"
	t.request(1, "create", "", o)
	cut = t.after(10*time.Second).put(event.You, 0, event.CommandGiven{Text: "cut worker-2 all"})
	added := t.put(event.Engine, cut, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "worker-2", B: fault.All}})
	judged := t.after(50*time.Second).put("controller-manager/master-1", added, event.NodeJudged{Node: "worker-2", Ready: "Unknown", SilentFor: 52 * time.Second})
	t.request(judged, "update", "status", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-2"}})
	plan := t.put("controller-manager/master-1", judged, event.EvictionPlanned{Pod: kinds.RefOf(o), Node: "worker-2", Due: t.at.Add(300 * time.Second)})
	gone := t.after(299*time.Second+999*time.Millisecond).request(plan, "delete", "", o)
	made := t.put("controller-manager/master-1", gone, event.Reconciled{Controller: "replicaset", Key: "default/web-5fc9f4bf66", Decision: "create 1 pod"})
	n := pod(8)
	seq := t.request(made, "create", "", n)
	replaced = t.after(time.Second).put("containerd/worker-1", seq, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(n), Container: "c", State: event.ContainerRunning})
	heal := t.after(9*time.Second).put(event.You, 0, event.CommandGiven{Text: "heal"})
	t.put(event.Engine, heal, event.FaultRemoved{ID: added, Fault: fault.Fault{Kind: fault.Cut, A: "worker-2", B: fault.All}})
	stopped = t.after(2*time.Second).put("containerd/worker-2", gone, event.ContainerChanged{Node: "worker-2", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerStopping})
	return cut, replaced, stopped
}
