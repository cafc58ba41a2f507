// Package kubelet is the agent of one machine: it registers the Node and its heartbeats, runs the pods bound to it through the container runtime, and reports
// their status.
//
// One kubelet is three waiting processes (pod watch, lease, node status) and the event sender; everything else is a timer or a process that lives only while
// there is work: a pod has a process while it is being synced (pod.go, sync.go), statuses have one while some are unsent (statusmanager.go). So an idle kubelet
// costs its heartbeats and nothing else, however many pods it runs.
//
// What runs is the runtime's knowledge, not the kubelet's: a restarted kubelet adopts what it finds there. Decisions are pure functions over pictures: plan.go
// (what to do for a pod now), status.go (what the API shall read), admit.go.
//
// Owns: Kubelet, ControlPlanePods. Imports of ours: components/kubeapi and record, kubelet/runtime, engine/sim, engine/clock, engine/event, engine/kinds.
// Goroutines: the loop. Time: simulated.
package kubelet

import (
	"math/rand/v2"
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Version is what the kubelet reports.
const Version = "v1.37.2"

// Periods of the kubelet (k/k pkg/kubelet/kubelet.go).
const (
	relistPeriod       = time.Second      // PLEG
	housekeepingPeriod = 2 * time.Second  // pods that nobody wants any more
	statusSyncPeriod   = 10 * time.Second // statuses that could not be sent, or that somebody changed
	resyncMax          = time.Minute      // longest step while a container waits for its restart
	errorBackoff       = 10 * time.Second // next sync after a failed one, stretched by 0-50 %
	transientBackoff   = time.Second      // the same while the network is not ready
)

// Config of a kubelet.
type Config struct {
	Node string
	// Capacity of the machine: cpu, memory, pods. "pods" is 110 when absent.
	Capacity corev1.ResourceList
	Labels   map[string]string
	Taints   []corev1.Taint
	// StaticPods are the machine's manifests, named without the node ("kube-apiserver").
	StaticPods []*corev1.Pod
	// Runtime is the machine's; it outlives the kubelet.
	Runtime *runtime.Runtime
	NodeIP  string
	// Health answers HTTP probes of containers that run a runtime.Program, by container name and path ("/livez", "/readyz", "/healthz"), and names the record that keeps an
	// unhealthy one so, where it is known. nil: always healthy.
	Health func(container, path string) (ok bool, cause event.Seq)
}

// Kubelet of one machine. Start makes one.
type Kubelet struct {
	pr       *kubeapi.Process
	cfg      Config
	rt       *runtime.Runtime
	client   *kubeapi.Client
	events   *record.Recorder
	informer *kubeapi.Informer[*corev1.Pod]
	rng      *rand.Rand
	started  time.Time

	pods    btree.Map[types.UID, *pod]
	statics map[kubeapi.Key]*pod // the present static pod of that name
	sum     admitted
	// confirmed: the API's pods are known, so pods that are not among them may be killed.
	confirmed bool

	crashes backoffs // per pod and container
	pulls   backoffs // per pod and image
	puller  puller

	relist      *clock.Timer
	relisted    []*pod
	unsent      []*pod
	sending     bool
	statusTick  *clock.Timer
	statusLater []*pod
	node        nodeState
	nodeRef     corev1.ObjectReference
}

// Start runs a kubelet in pr's group and returns at once. The runtime's machine must have power.
func Start(pr *kubeapi.Process, cfg Config) *Kubelet {
	k := &Kubelet{pr: pr, cfg: cfg, rt: cfg.Runtime, client: pr.Client, rng: pr.Loop.Rand("kubelet " + cfg.Node + " " + cfg.Runtime.BootID()),
		started: pr.Loop.Now(), statics: map[kubeapi.Key]*pod{}}
	k.crashes = newBackoffs()
	k.pulls = newBackoffs()
	k.nodeRef = corev1.ObjectReference{Kind: "Node", Name: cfg.Node, UID: types.UID(cfg.Node), APIVersion: "v1"}
	k.sum.allocatable = allocatable(cfg.Capacity)
	k.events = record.New(pr, "kubelet")
	k.nodeEvent(pr.Cause, corev1.EventTypeNormal, "Starting", "Starting kubelet.")
	k.rt.Subscribe(pr.Group, k.runtimeChanged)
	k.informer = kubeapi.NewInformer[*corev1.Pod](pr, kinds.Pods, kubeapi.InformerOptions{Fields: fields.OneTermEqualSelector("spec.nodeName", cfg.Node)})
	k.informer.Handle(k.podChanged)

	k.SetStaticPods(pr.Cause, cfg.StaticPods)
	k.adopt()
	k.informer.Start()
	pr.Go("node status", k.runNode)
	pr.Go("node lease", k.runLease)
	pr.Go("housekeeping", k.confirm)
	return k
}

// adopt takes over what already runs on the machine.
func (k *Kubelet) adopt() {
	for _, s := range k.rt.ListPodSandbox() {
		if _, known := k.pods.Get(s.Pod.UID); known {
			continue
		}
		w := k.add(s.Pod)
		w.static = s.Pod.Annotations[sourceAnnotation] == sourceFile
		k.sum.add(w)
		if w.static { // its manifest went while no kubelet was there
			k.stop(w, stopRemoved, k.pr.Cause)
			continue
		}
		w.unconfirmed = true
	}
}

// confirm waits for the first list of pods; then pods found on the machine that the API does not know are killed, and mirror pods can be judged.
func (k *Kubelet) confirm(p *sim.Proc) {
	k.informer.WaitSynced(p)
	p.Sleep(time.Duration(k.rng.Int64N(int64(housekeepingPeriod))))
	k.confirmed = true
	for _, w := range k.allPods() {
		if w.unconfirmed {
			w.unconfirmed = false
			k.stop(w, stopRemoved, p.Cause)
		}
		if w.static {
			k.checkMirror(w, w.cause)
		}
	}
	k.informer.Each(func(obj *corev1.Pod) bool { // mirrors of manifests that went while no kubelet was there
		if key := kubeapi.KeyOf(obj); isMirror(obj) && k.statics[key] == nil {
			k.removeMirror(key, p.Cause)
		}
		return true
	})
}

func (k *Kubelet) allPods() []*pod {
	out := make([]*pod, 0, k.pods.Len())
	k.pods.Scan(func(_ types.UID, w *pod) bool { out = append(out, w); return true })
	return out
}

// runtimeChanged is the PLEG: changes are found out at the next relist. Nothing is scanned while nothing changes.
func (k *Kubelet) runtimeChanged(e runtime.Event) {
	w, ok := k.pods.Get(e.Pod)
	if !ok {
		return
	}
	w.relistCause = max(w.relistCause, e.Cause)
	if w.relisting {
		return
	}
	w.relisting = true
	k.relisted = append(k.relisted, w)
	if k.relist != nil {
		return
	}
	since := k.pr.Loop.Now().Sub(k.started)
	k.relist = k.pr.Loop.After(relistPeriod-since%relistPeriod, func() {
		k.relist = nil
		found := k.relisted
		k.relisted = nil
		for _, w := range found {
			w.relisting = false
			k.wake(w, w.relistCause)
		}
	})
}

// nodeEvent writes an event about the Node.
func (k *Kubelet) nodeEvent(cause event.Seq, eventtype, reason, message string) {
	k.events.EventFor(cause, k.nodeRef, eventtype, reason, message)
}

// podEvent writes an event about a pod, or about a container of it when one is named.
func (k *Kubelet) podEvent(p *sim.Proc, w *pod, container, eventtype, reason, message string) {
	k.podEventFor(p.Cause, w, container, eventtype, reason, message)
}

func (k *Kubelet) podEventFor(cause event.Seq, w *pod, container, eventtype, reason, message string) {
	ref := record.ReferenceTo(w.spec)
	if container != "" {
		ref.FieldPath = "spec.containers{" + container + "}"
		if isInit(w.spec, container) {
			ref.FieldPath = "spec.initContainers{" + container + "}"
		} else if isEphemeral(w.spec, container) {
			ref.FieldPath = "spec.ephemeralContainers{" + container + "}"
		}
	}
	k.events.EventFor(cause, ref, eventtype, reason, message)
}
