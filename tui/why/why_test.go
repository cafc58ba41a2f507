package why

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

// tape is a journal that goes on from a fixture.
type tape struct {
	records []event.Record
	at      time.Time
}

func from(t *fixture.Tape) *tape { return &tape{append([]event.Record(nil), t.Records...), t.At()} }

func (t *tape) put(actor event.Actor, cause event.Seq, e event.Event) event.Seq {
	seq := event.Seq(len(t.records) + 1)
	t.records = append(t.records, event.Record{Seq: seq, At: t.at, Actor: actor, Cause: cause, Event: e})
	return seq
}

func (t *tape) order(text string) event.Seq {
	return t.put(event.You, 0, event.CommandGiven{Text: text})
}

func (t *tape) object(change event.ChangeType, cause event.Seq, o kinds.Object) event.Seq {
	return t.put("etcd/master-1", cause, event.ObjectChanged{Type: change, Revision: int64(len(t.records)), Object: o.DeepCopyObject().(kinds.Object)})
}

func (t *tape) wait(d time.Duration) { t.at = t.at.Add(d) }

// renew keeps the leases of the control plane alive.
func (t *tape) renew() {
	for name, holder := range map[string]string{"kube-scheduler": "master-3_5c1e", "kube-controller-manager": "master-2_77ab"} {
		t.put("etcd/master-1", 0, event.LeaseRenewed{Namespace: "kube-system", Lease: name, Holder: holder})
	}
}

func (t *tape) frame() view.Frame { return viewtest.Frame(t.records, 80, 20) }

func pod(name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "c"}}}}
	if node != "" {
		p.Status.Phase = corev1.PodRunning
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func asks(cpu, memory string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
}

func podTarget(name string) target.Target {
	return target.Target{Kind: target.Pod, Namespace: "default", Name: name}
}

// text of an answer: lines, changes, what is next.
func text(a Answer) string {
	s := a.Title + "\n" + strings.Join(a.Lines, "\n")
	for _, c := range a.Changes {
		s += "\n=> " + c.Text + " | " + c.Command
	}
	return s + "\n-> " + a.Next
}

func answer(t *testing.T, f view.Frame, on target.Target, id string) Answer {
	t.Helper()
	var ids []string
	for _, a := range Ask(f, on) {
		if a.ID == id {
			return a
		}
		ids = append(ids, a.ID)
	}
	t.Fatalf("nobody asks %q about %+v; there are %v", id, on, ids)
	return Answer{}
}

func TestAnswers(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name string
		on   target.Target
		id   string
		tape func() *tape
		want []string
		not  string
	}{
		{name: "a pod that fits nowhere", on: podTarget("big"), id: "pending", tape: func() *tape { return from(fixture.Trouble(4)) },
			want: []string{"tried 1 time", "6 nodes have too little cpu: it asks for 8, at most 4 is free, on master-1", "unreachable:NoSchedule",
				"=> cpu request from 8 to 4", "tried again when something changes"}},
		{name: "a pod with a gate", on: podTarget("gated"), id: "pending", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.object(event.Added, 0, pod("gated", "", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}} }))
			return p
		}, want: []string{"1 scheduling gate: example.com/wait", "=> take off the gate example.com/wait"}},
		{name: "a pod that nobody schedules, before the lease is over", on: podTarget("late"), id: "pending", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.renew()
			p.wait(6 * time.Second)
			give := p.order("kill master-3/scheduler")
			p.put("kubelet/master-3", give, event.ProcessStopped{Host: "master-3", Process: "scheduler", Reason: "killed"})
			p.object(event.Added, 0, pod("late", ""))
			return p
		}, want: []string{"master-3 held the lease and its scheduler is down", "must wait 9s", "-> the lease runs out and a standby takes over in"}},
		{name: "a pod whose scheduler was started anew and waits for its own old lease", on: podTarget("late"), id: "pending", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.renew()
			p.wait(2 * time.Second)
			p.put("kubelet/master-3", p.order("kill master-3/scheduler"), event.ProcessStopped{Host: "master-3", Process: "scheduler", Reason: "killed"})
			p.wait(2 * time.Second)
			p.put("kubelet/master-3", 0, event.ProcessStarted{Host: "master-3", Process: "scheduler"})
			p.object(event.Added, 0, pod("late", ""))
			return p
		}, want: []string{"the scheduler on master-3 was started anew", "lasts 11s more", "a standby takes over in"}},
		{name: "a pod that nobody schedules, because there is no quorum", on: podTarget("late"), id: "pending", tape: func() *tape {
			p := from(fixture.Healthy(2))
			for _, m := range []string{"master-2", "master-3"} {
				p.put(event.On("machine", m), p.order("kill "+m), event.MachineDown{Host: m, Reason: "killed"})
			}
			p.object(event.Added, 0, pod("late", ""))
			p.wait(20 * time.Second)
			p.put(event.Engine, 0, event.RateChanged{Rate: 1})
			return p
		}, want: []string{"Nobody schedules", "the store takes no writes", "=> start master-2 | start master-2", "=> start master-3 | start master-3"}},
		{name: "an image that does not exist", on: podTarget("img"), id: "not-ready", tape: func() *tape {
			p := from(fixture.Healthy(2))
			o := pod("img", "worker-1", func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}
			})
			seq := p.object(event.Added, 0, o)
			p.put("kubelet/worker-1", seq, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerBackoff, Reason: "ImagePullBackOff", Until: p.at.Add(40 * time.Second)})
			return p
		}, want: []string{"The image nginx:1.27 cannot be pulled. not found", "c is pulled again in"}},
		{name: "a crash loop", on: target.Target{Kind: target.Nothing}, id: "cluster", tape: func() *tape { return from(fixture.Trouble(4)) },
			want: []string{"master-1 is off, by you", "worker-3 is cut off from all", "=> start master-1 | start master-1", "=> heal worker-3 | heal worker-3"}},
		{name: "a pod that is asked to go, its node cut off", on: podTarget("web"), id: "terminating", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.put(event.Engine, p.order("cut worker-1 all"), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "worker-1", B: fault.All}})
			p.object(event.Added, 0, pod("web", "worker-1"))
			p.wait(10 * time.Second)
			give := p.order("kubectl delete pod web")
			req := p.put("apiserver/master-1", give, event.RequestReceived{Server: "master-1", Verb: "delete", Resource: "pods", ObjectName: "web", User: "kubernetes-admin"})
			p.object(event.Modified, req, pod("web", "worker-1", func(o *corev1.Pod) { o.DeletionTimestamp = &metav1.Time{Time: p.at.Add(30 * time.Second)} }))
			p.wait(60 * time.Second)
			p.put(event.Engine, 0, event.RateChanged{Rate: 1})
			return p
		}, want: []string{"asked for by you 60s ago", "Only the kubelet of worker-1 can confirm", "cut off from all, by you", "=> heal worker-1 | heal worker-1", "--grace-period=0 --force"}},
		{name: "a pod that will be evicted", on: target.Target{}, id: "evicting", tape: nil,
			want: []string{"judged worker-3 Unknown", "after 52s of silence", "tolerates node.kubernetes.io/unreachable:NoExecute for 5m00s", "your order", "cut worker-3 all", "=> heal worker-3", "evicted in"}},
		{name: "a pod whose place was chosen by score", on: podTarget("scored"), id: "here", tape: func() *tape {
			p := from(fixture.Healthy(2))
			o := pod("scored", "")
			p.object(event.Added, 0, o)
			a := p.put("scheduler/master-3", 0, event.SchedulingAttempt{Pod: kinds.RefOf(o), Attempt: 1, Node: "worker-2", Nodes: 5, Feasible: 2, Verdicts: []event.NodeVerdict{
				{Node: "worker-1", Scores: map[string]int64{"NodeResourcesFit": 40}, Total: 340}, {Node: "worker-2", Scores: map[string]int64{"NodeResourcesFit": 60}, Total: 360}}})
			o.Spec.NodeName = "worker-2"
			p.object(event.Modified, a, o)
			return p
		}, want: []string{"chose worker-2", "2 of 5 nodes passed", "Its score was 360; the next, worker-1, had 340"}},
		{name: "a static pod", on: podTarget("etcd-master-1"), id: "here", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.object(event.Added, 0, pod("etcd-master-1", "master-1", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }))
			return p
		}, want: []string{"static pod: the kubelet of master-1 runs it from a file"}},
		{name: "a pod that was evicted", on: podTarget("web"), id: "gone", tape: func() *tape {
			p := from(fixture.Healthy(2))
			o := pod("web", "worker-1")
			p.object(event.Added, 0, o)
			f := p.put(event.Engine, p.order("cut worker-1 all"), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "worker-1", B: fault.All}})
			j := p.put("controller-manager/master-2", f, event.NodeJudged{Node: "worker-1", Ready: "Unknown", SilentFor: 52 * time.Second})
			e := p.put("controller-manager/master-2", j, event.EvictionPlanned{Pod: kinds.RefOf(o), Node: "worker-1", Due: p.at.Add(300 * time.Second)})
			p.wait(300 * time.Second)
			o.DeletionTimestamp = &metav1.Time{Time: p.at.Add(30 * time.Second)}
			d := p.object(event.Modified, e, o)
			r := p.put("controller-manager/master-2", d, event.Reconciled{Controller: "replicaset", Key: "default/web", Decision: "create 1 pod"})
			p.object(event.Added, r, pod("web-new", ""))
			p.wait(8 * time.Second)
			p.object(event.Deleted, d, o)
			return p
		}, want: []string{"web was deleted by the taint eviction controller", "worker-1 was judged Unknown after 52s", "tolerated that for 5m00s", "cut worker-1 all", "In its place came web-new"}},
		{name: "a pod that was never there", on: podTarget("nobody"), id: "gone", tape: func() *tape { return from(fixture.Healthy(1)) }, want: []string{"Nothing about nobody"}},
		{name: "a thing that was never there and was asked for", on: target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "ghost"}, id: "refused", tape: func() *tape {
			p := from(fixture.Healthy(1))
			p.put("apiserver/master-1", p.order("kubectl delete deployment ghost"), event.RequestDone{Server: "master-1", Verb: "get", User: "you", Resource: "deployments.apps", Namespace: "default",
				ObjectName: "ghost", Code: 404, Reason: "NotFound", Message: `deployments.apps "ghost" not found`})
			return p
		}, want: []string{"404", `deployments.apps "ghost" not found`, "kubectl delete deployment ghost"}, not: "Nothing about"},
		{name: "a probe that fails", on: podTarget("sick"), id: "not-ready", tape: func() *tape {
			p := from(fixture.Healthy(2))
			o := pod("sick", "worker-1", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{} })
			p.object(event.Added, 0, o)
			p.put("containerd/worker-1", 0, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerRunning})
			p.object(event.Added, p.order("break readiness pod/default/sick"), &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "sick.18"}, Reason: "Unhealthy", Message: "Readiness probe failed: HTTP 503", Count: 4})
			return p
		}, want: []string{"c runs, but: Readiness probe failed: HTTP 503 (4 times", "break readiness", "=> start c anew, which ends what was broken | crash pod/default/sick c"}},
		{name: "a restart", on: podTarget("again"), id: "restarted", tape: func() *tape {
			p := from(fixture.Healthy(2))
			o := pod("again", "worker-1", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 2 })
			p.object(event.Added, 0, o)
			p.put("containerd/worker-1", p.order("crash pod/default/again"), event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(o), Container: "c", State: event.ContainerExited, ExitCode: 1, Reason: "Error"})
			return p
		}, want: []string{"c exited with code 1 (Error)", "the last of 2 restarts", "crash pod/default/again", "restartPolicy is Always"}},
		{name: "a worker that was judged", on: target.Target{Kind: target.Worker, Host: "worker-3"}, id: "state", tape: func() *tape { return from(fixture.Trouble(4)) },
			want: []string{"Why is worker-3 Unknown?", "cut off from all, by you", "judged it", "after 52s", "=> heal worker-3", "evicted in"}},
		{name: "a worker that is silent and not judged yet", on: target.Target{Kind: target.Worker, Host: "worker-1"}, id: "state", tape: func() *tape {
			p := from(fixture.Healthy(2))
			p.put(event.On("machine", "worker-1"), p.order("kill worker-1"), event.MachineDown{Host: "worker-1", Reason: "killed"})
			p.wait(25 * time.Second)
			p.renew()
			return p
		}, want: []string{"Why is worker-1 still Ready?", "waits for 50s of silence", "judged Unknown in about", "=> start worker-1 | start worker-1"}},
		{name: "what is believed of a worker", on: target.Target{Kind: target.Worker, Host: "worker-3"}, id: "belief", tape: func() *tape {
			p := from(fixture.Healthy(4))
			p.put(event.Engine, p.order("cut worker-3 all"), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "worker-3", B: fault.All}})
			return p
		}, want: []string{"1 of its pods as Running", "What runs goes on running, out of sight"}},
		{name: "no eviction yet", on: target.Target{Kind: target.Worker, Host: "worker-3"}, id: "evict", tape: func() *tape { return from(fixture.Trouble(4)) }, want: []string{"eviction is planned", "evicted in"}},
		{name: "a cordoned worker", on: target.Target{Kind: target.Worker, Host: "worker-1"}, id: "cordon", tape: func() *tape {
			p := from(fixture.Healthy(2))
			n, _ := p.frame().World.Nodes.Get("worker-1")
			o := n.Object.DeepCopy()
			o.Spec.Unschedulable = true
			p.object(event.Modified, p.order("kubectl cordon worker-1"), o)
			return p
		}, want: []string{"the scheduler passes it by", "kubectl cordon worker-1", "=> uncordon worker-1 | kubectl uncordon worker-1"}},
		{name: "a master that is off", on: target.Target{Kind: target.Master, Host: "master-1"}, id: "state", tape: func() *tape { return from(fixture.Trouble(4)) },
			want: []string{"master-1 is off, by you", "kill master-1", "2 of 3 members", "0 more may fall", "=> start master-1 | start master-1"}},
		{name: "a program that ended by itself", on: target.Target{Kind: target.Process, Host: "master-2", Process: "etcd"}, id: "down", tape: func() *tape {
			p := from(fixture.Healthy(1))
			p.put("etcd/master-2", 0, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited", ExitCode: 2, Message: "panic"})
			return p
		}, want: []string{"It ended 0s ago: exited", "Exit code 2. panic", "=> the kubelet of master-2 starts etcd again by itself"}},
		{name: "a scheduler that stands by", on: target.Target{Kind: target.Process, Host: "master-1", Process: "scheduler"}, id: "lead-scheduler", tape: func() *tape {
			p := from(fixture.Healthy(1))
			p.renew()
			return p
		}, want: []string{"stand by", "master-3 holds the lease kube-scheduler", "not renewed for 15s"}},
		{name: "a member that leads", on: target.Target{Kind: target.Process, Host: "master-1", Process: "etcd"}, id: "raft", tape: func() *tape { return from(fixture.Healthy(1)) },
			want: []string{"won the election of term 3"}},
		{name: "a lost quorum", on: target.Target{Kind: target.Process, Host: "master-1", Process: "etcd"}, id: "no-quorum", tape: func() *tape {
			p := from(fixture.Healthy(1))
			p.put(event.On("machine", "master-3"), p.order("kill master-3"), event.MachineDown{Host: "master-3", Reason: "killed"})
			p.put(event.Engine, p.order("cut master-1 master-2"), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-1", B: "master-2"}})
			return p
		}, want: []string{"1 of 3 members can vote together; a majority is 2", "master-3 is off, by you", "cut master-1 master-2", "=> start master-3 | start master-3", "=> heal: cut master-1 master-2 | heal master-1"}},
		{name: "an API server without requests", on: target.Target{Kind: target.Process, Host: "master-2", Process: "apiserver"}, id: "backend", tape: func() *tape {
			p := from(fixture.Healthy(1))
			p.put("balancer", 0, event.BackendChanged{Backend: "master-2", Reason: "[-]etcd failed"})
			return p
		}, want: []string{"[-]etcd failed", "ready only while its etcd can reach a leader"}},
		{name: "a write that was refused", on: target.Target{Kind: target.Record, Seq: 0}, id: "refused", tape: nil,
			want: []string{"answered kubernetes-admin with 409 AlreadyExists", "the stage store, after 1 stage", "kubectl create deployment nginx", "=> another name"}},
		{name: "a rollout that is stuck", on: target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "slow"}, id: "rollout", tape: func() *tape {
			p := from(fixture.Healthy(2))
			n := int32(2)
			p.object(event.Added, p.order("kubectl create deployment slow"), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "slow"},
				Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "slow"}}},
				Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, Conditions: []appsv1.DeploymentCondition{
					{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}}}})
			o := pod("slow-1", "", asks("9", "1Gi"), func(p *corev1.Pod) {
				p.Labels = map[string]string{"app": "slow"}
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "slow", Controller: &yes}}
			})
			p.object(event.Added, 0, o)
			p.put("scheduler/master-3", 0, event.SchedulingAttempt{Pod: kinds.RefOf(o), Attempt: 1, Nodes: 5, Message: "0/5 nodes are available: 5 Insufficient cpu."})
			return p
		}, want: []string{"No progress within its deadline (ProgressDeadlineExceeded). timed out", "slow-1 is Pending", "=> cpu request from 9 to 4"}},
		{name: "pods whose node is lost keep a Deployment from being available", on: target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "few"}, id: "rollout", tape: func() *tape {
			p := from(fixture.Healthy(2))
			n := int32(1)
			p.object(event.Added, 0, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "few"},
				Spec:   appsv1.DeploymentSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "few"}}},
				Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1}})
			p.object(event.Added, 0, pod("few-1", "worker-1", func(o *corev1.Pod) {
				o.Labels = map[string]string{"app": "few"}
				o.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
				o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			}))
			p.put(event.On("machine", "worker-1"), p.order("kill worker-1"), event.MachineDown{Host: "worker-1", Reason: "killed"})
			return p
		}, want: []string{"few-1 is Running", "Nothing is heard of its node worker-1", "=> start worker-1 | start worker-1"}},
		{name: "all is well", on: target.Target{}, id: "well", tape: func() *tape { p := from(fixture.Healthy(2)); p.renew(); return p },
			want: []string{"nothing is out of order", "=> kill master-1, the raft leader"}},
		{name: "a balancer with all backends", on: target.Target{Kind: target.Balancer}, id: "state", tape: func() *tape { return from(fixture.Healthy(2)) }, want: []string{"All 3 API servers answer"}},
		{name: "a queue", on: target.Target{Kind: target.Queue, Host: "master-2", Process: "controller-manager", Name: "replicaset"}, id: "queue", tape: func() *tape { return from(fixture.Healthy(2)) },
			want: []string{"1 waiting, 0 in work, 2 for later"}},
		{name: "what you asked last", on: target.Target{Kind: target.Client, Name: "you"}, id: "client", tape: func() *tape { return from(fixture.Healthy(2)) }, want: []string{"kubectl create deployment web"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := c.on
			var p *tape
			switch {
			case c.tape != nil:
				p = c.tape()
			case c.id == "evicting":
				p = from(fixture.Trouble(4))
				for _, r := range p.records {
					if e, ok := r.Event.(event.EvictionPlanned); ok {
						on = podTarget(e.Pod.Name)
					}
				}
			default:
				p = from(fixture.Healthy(2))
				give := p.order("kubectl create deployment nginx")
				on.Seq = p.put("apiserver/master-1", give, event.RequestDone{Server: "master-1", Verb: "create", Resource: "deployments.apps", ObjectName: "nginx", User: "kubernetes-admin",
					Code: 409, Reason: "AlreadyExists", Message: "deployments.apps \"nginx\" already exists", Stages: []event.Stage{{Stage: "validation"}, {Stage: "store"}}})
			}
			answered(t, p, on, c.id, c.want)
		})
	}
}

// answered holds for every answer: it says what is wanted in a few lines, stands on records that are there, and leaves nothing open in any language.
func answered(t *testing.T, p *tape, on target.Target, id string, want []string) {
	t.Helper()
	f := p.frame()
	a := answer(t, f, on, id)
	got := text(a)
	for _, want := range want {
		if !strings.Contains(got, want) {
			t.Errorf("nothing says %q; there is\n%s", want, got)
		}
	}
	if len(a.Lines) == 0 || len(a.Lines) > 6 {
		t.Errorf("%d lines", len(a.Lines))
	}
	for _, s := range a.Seqs {
		if _, ok := f.Record(s); !ok {
			t.Errorf("it stands on record %d, which is not there", s)
		}
	}
	for _, language := range []string{"en", "ru"} {
		f.Words, _ = words.Language(language)
		for _, a := range Ask(f, on) {
			if s := text(a); strings.Contains(s, "{") {
				t.Errorf("a place is left open in %s: %s", language, s)
			}
		}
	}
}

func TestTheFutureIsNotKnown(t *testing.T) {
	records := fixture.Trouble(4).Records
	f := viewtest.Frame(records, 80, 20)
	early := viewtest.Frame(records[:len(records)/2], 80, 20)
	early.Journal, early.Trace = f.Journal, f.Trace // the journal goes on, the World does not
	for _, a := range Ask(early, podTarget("big")) {
		for _, s := range a.Seqs {
			if s > early.World.Seq {
				t.Errorf("%s stands on record %d, after %d", a.ID, s, early.World.Seq)
			}
		}
	}
}

func TestNothingHostileGetsThrough(t *testing.T) {
	p := from(fixture.Healthy(2))
	o := pod("evil", "worker-1", func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "X\x1b[2J", Message: "\x1b]52;c;eA==\a\u202e"}
		p.Labels = map[string]string{"a": "\x1b[31m"}
	})
	p.object(event.Added, p.order("kubectl run \x1b[31m"), o)
	for _, a := range Ask(p.frame(), podTarget("evil")) {
		if s := text(a); strings.ContainsAny(s, "\x1b\a\u202e") {
			t.Errorf("it says %q", s)
		}
	}
}

func TestShortKeepsTheChangeAndWhatComesNext(t *testing.T) {
	f := from(fixture.Trouble(4)).frame()
	var a Asker
	for rows := range 8 {
		lines := a.Short(f, podTarget("big"), 50, rows)
		var all []string
		for _, l := range lines {
			if l.Width() > 50 {
				t.Errorf("%d cells wide", l.Width())
			}
			s := ""
			for _, span := range l {
				s += span.Text
			}
			all = append(all, s)
		}
		if len(lines) > rows {
			t.Errorf("%d lines of %d", len(lines), rows)
		}
		if got := strings.Join(all, "\n"); rows >= 6 && (!strings.Contains(got, "cpu request from 8") || !strings.Contains(got, "tried again")) {
			t.Errorf("in %d rows:\n%s", rows, got)
		}
	}
}
