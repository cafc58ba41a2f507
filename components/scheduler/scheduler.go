// Package scheduler is kube-scheduler: it finds a node for each pod that has none, and says why when there is no such node. "Cannot be scheduled" is a result
// with reasons, not an error.
//
// How a pod goes: informers feed the cluster picture (framework.Cluster) and the queue (queue.Queue); while leading, one process pops a pod, runs the cycle
// (cycle.go: filters, scores, choice) without parking, journals the attempt with each plugin's verdict, and assumes the pod on its node; the binding request, and
// status patches and evictions, are made by processes of their own (calls.go) that carry the attempt as their cause. A standby keeps picture and queue warm and
// tries nothing.
//
// Owns: Start, Config. Imports of ours: components/kubeapi and below, components/scheduler/{framework,plugins,queue}, engine/{event,kinds,sim}.
// Goroutines: the loop. Time: simulated; a cycle takes none.
//
// Not here: the client's limit of 50 requests a second, the rounding of back-offs to windows of a second, PodDisruptionBudgets (the model has none), extenders,
// profiles, Permit and Reserve plugins.
//
// Source: fidelity SCH-1 … SCH-14; k/k pkg/scheduler.
package scheduler

import (
	"slices"

	"github.com/tidwall/btree"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/leaderelect"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/plugins"
	"example.com/kubeviz/components/scheduler/queue"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Config of a scheduler. The zero value is an unconfigured kube-scheduler.
type Config struct {
	// SchedulerName is what spec.schedulerName of its pods says, and the reporter of its events; empty: "default-scheduler".
	SchedulerName string
	// Stop, when set, makes the program release its lease and exit 0 (SIGTERM). The value is the record of the order. nil: it runs until killed.
	Stop *sim.Future[event.Seq]
}

// Names of the lease.
const (
	leaseNamespace = "kube-system"
	leaseName      = "kube-scheduler"
)

type scheduler struct {
	proc        *kubeapi.Process
	name        string
	pods        *kubeapi.Informer[*corev1.Pod]
	nodes       *kubeapi.Informer[*corev1.Node]
	replicaSets *kubeapi.Informer[*appsv1.ReplicaSet]
	namespaces  *kubeapi.Informer[*corev1.Namespace]
	cluster     *framework.Cluster
	queue       *queue.Queue
	algorithm   *algorithm
	events      *record.SeriesRecorder
	calls       *calls
	leading     bool
	binding     btree.Map[kubeapi.Key, event.QueueItem] // pods assumed whose binding is not answered yet
	report      *kubeapi.QueueReporter
}

// Start runs the scheduler in pr's group and returns. It stands for election at once; when a lease once held is lost, the program exits with code 1.
func Start(pr *kubeapi.Process, cfg Config) {
	s := newScheduler(pr, cfg)
	s.pods.Handle(s.podChanged)
	s.nodes.Handle(s.nodeChanged)
	s.nodes.Start()
	s.replicaSets.Start()
	s.namespaces.Start()
	s.pods.Start()
	pr.Go("candidate", func(p *sim.Proc) {
		s.nodes.WaitSynced(p)
		s.replicaSets.WaitSynced(p)
		s.namespaces.WaitSynced(p)
		s.pods.WaitSynced(p)
		err := leaderelect.Run(p, leaderelect.Config{Process: pr, Namespace: leaseNamespace, Name: leaseName, Recorder: record.New(pr, cfg.reporter()),
			ReleaseOnCancel: true, Stop: cfg.Stop, OnStartedLeading: s.lead, OnStoppedLeading: func() { s.leading = false }})
		if err != nil {
			pr.Exit(p, 1, err.Error())
			return
		}
		pr.Exit(p, 0, "stopped")
	})
}

func (c Config) reporter() string {
	if c.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return c.SchedulerName
}

func newScheduler(pr *kubeapi.Process, cfg Config) *scheduler {
	s := &scheduler{
		proc: pr, name: cfg.reporter(),
		pods:        kubeapi.NewInformer[*corev1.Pod](pr, kinds.Pods, kubeapi.InformerOptions{}),
		nodes:       kubeapi.NewInformer[*corev1.Node](pr, kinds.Nodes, kubeapi.InformerOptions{}),
		replicaSets: kubeapi.NewInformer[*appsv1.ReplicaSet](pr, kinds.ReplicaSets, kubeapi.InformerOptions{}),
		namespaces:  kubeapi.NewInformer[*corev1.Namespace](pr, kinds.Namespaces, kubeapi.InformerOptions{}),
		cluster:     framework.NewCluster(),
		events:      record.NewSeries(pr, cfg.reporter()),
	}
	set := plugins.Default(s.ownerSelector, s.namespaceLabels)
	s.algorithm = newAlgorithm(set, s.cluster)
	s.calls = newCalls(pr)
	s.queue = queue.New(queue.Options{Plugins: set, Now: pr.Loop.Now, Emit: s.emitQueued})
	s.report = kubeapi.NewQueueReporter(pr, func() (event.QueueChanged, bool) { return s.queueState(), s.leading })
	s.queue.OnChange(s.queueChanged)
	s.queue.OnTake(s.report.Took)
	return s
}

// lead schedules until the group dies or the lease is lost.
func (s *scheduler) lead(p *sim.Proc) {
	s.leading = true
	s.algorithm.rand = p.Rand()
	s.queueChanged()
	s.proc.Go("flush", func(p *sim.Proc) {
		for s.leading {
			p.Sleep(queue.FlushEvery)
			s.queue.Flush()
		}
	})
	for s.leading {
		it := s.queue.Pop(p)
		if !s.leading {
			return
		}
		s.attempt(p, it)
		p.Yield()
	}
}

// attempt tries one pod: the scheduling cycle. It does not park.
func (s *scheduler) attempt(p *sim.Proc, it *queue.Item) {
	p.Cause = it.Cause
	pod := it.Info.Pod
	if pod.DeletionTimestamp != nil {
		message := "skip schedule deleting pod: " + pod.Namespace + "/" + pod.Name
		s.emitQueued(p.Cause, event.PodQueued{Pod: kinds.RefOf(pod), Why: message})
		s.events.Eventf(p, pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", message)
		return
	}
	if s.cluster.Assumed(pod) {
		return
	}
	res := s.algorithm.schedule(it.Info)
	var target *candidate
	fact := event.SchedulingAttempt{Pod: kinds.RefOf(pod), Attempt: it.Attempts, Nodes: len(res.nodes), Feasible: len(res.feasible)}
	if res.chosen != nil {
		fact.Node = res.chosen.Name
	} else {
		target = s.algorithm.postFilter(it.Info, res)
		fact.Message = res.message()
	}
	fact.Verdicts, fact.Weights = res.verdicts(s.queue.Waiting() < detailWaitingMax), res.weights()
	p.Cause = s.proc.Emit(p, fact)
	if res.chosen != nil {
		s.assume(p, it, res.chosen.Name)
		return
	}
	s.queue.Refused(it, res.refusers(), p.Cause)
	nominated := ""
	if target != nil {
		nominated = target.node.Name
	}
	s.algorithm.nominate(it.Info, nominated)
	s.fail(p, pod, corev1.PodReasonUnschedulable, fact.Message, nominated)
	if target != nil {
		s.preempt(p, it.Info, target)
	}
}

// ownerSelector is the selector of the ReplicaSet that a pod belongs to.
func (s *scheduler) ownerSelector(pod *corev1.Pod) labels.Selector {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != kinds.ReplicaSets.Kind {
		return nil
	}
	rs, ok := s.replicaSets.Get(kubeapi.MakeKey(pod.Namespace, owner.Name))
	if !ok || rs.UID != owner.UID {
		return nil
	}
	sel, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil { // refused by validation
		return nil
	}
	return sel
}

func (s *scheduler) namespaceLabels(name string) labels.Set {
	if ns, ok := s.namespaces.Get(kubeapi.Key(name)); ok {
		return labels.Set(ns.Labels)
	}
	return nil
}

// emitQueued journals moves between the parts of the queue; those of a standby stay untold.
func (s *scheduler) emitQueued(cause event.Seq, e event.Event) event.Seq {
	if !s.leading {
		return 0
	}
	return s.proc.Sink.Emit(s.proc.Actor(), cause, e)
}

// queueChanged has the state of the queue journalled soon.
func (s *scheduler) queueChanged() {
	if !s.leading {
		return
	}
	s.report.Waits(s.queue.Waiting())
	s.report.Changed()
}

// queueState is the queue with the pods that are being bound, the oldest of them first.
func (s *scheduler) queueState() event.QueueChanged {
	items := s.binding.Values()
	slices.SortStableFunc(items, func(a, b event.QueueItem) int { return a.Since.Compare(b.Since) })
	return s.queue.State(len(items), items[:min(len(items), event.QueueItemsMax)])
}
