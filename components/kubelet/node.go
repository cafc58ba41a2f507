package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Periods of node status (k/k pkg/kubelet/apis/config: nodeStatusUpdateFrequency, nodeStatusReportFrequency; kubelet_node_status.go).
const (
	statusPeriod     = 10 * time.Second
	reportPeriod     = 5 * time.Minute
	statusTries      = 5
	heartbeatTimeout = 10 * time.Second
	registerMin      = 100 * time.Millisecond
	registerMax      = 7 * time.Second
	periodJitter     = 0.04
	imagesMax        = 50
)

// hardEviction of memory is kept back from what pods may use (memory.available<100Mi).
var hardEviction = resource.MustParse("100Mi")

// nodeState is what the kubelet remembers of its Node.
type nodeState struct {
	uid           types.UID
	reported      time.Time
	nextReport    time.Time
	unschedulable bool
	scheduleKnown bool
	// agreed is the state in which the API's object and the machine said the same: while neither changes there is nothing to compute.
	agreed agreement
}

type agreement struct {
	version string // of the Node
	images  int
	ready   bool
}

// MasterLabels and MasterTaints are what kubeadm gives to control-plane machines.
func MasterLabels() map[string]string {
	return map[string]string{"node-role.kubernetes.io/control-plane": "", "node.kubernetes.io/exclude-from-external-load-balancers": ""}
}

// MasterTaints keep ordinary pods away from control-plane machines.
func MasterTaints() []corev1.Taint {
	return []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
}

func capacity(c corev1.ResourceList) corev1.ResourceList {
	out := c.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	if _, ok := out[corev1.ResourcePods]; !ok {
		out[corev1.ResourcePods] = *resource.NewQuantity(110, resource.DecimalSI)
	}
	return out
}

// allocatable is the capacity without what is kept back for the hard eviction threshold.
func allocatable(c corev1.ResourceList) corev1.ResourceList {
	out := capacity(c)
	if m, ok := out[corev1.ResourceMemory]; ok && m.Cmp(hardEviction) > 0 {
		m.Sub(hardEviction)
		out[corev1.ResourceMemory] = m
	}
	return out
}

// describe is the Node this kubelet wants to see in the API, without status.
func (k *Kubelet) describe() *corev1.Node {
	labels := map[string]string{corev1.LabelHostname: k.cfg.Node, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"}
	for name, v := range k.cfg.Labels {
		labels[name] = v
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.cfg.Node, Labels: labels,
		Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
		Spec: corev1.NodeSpec{Taints: k.cfg.Taints}}
}

// runNode registers the Node and keeps its status.
func (k *Kubelet) runNode(p *sim.Proc) {
	for _, what := range []string{"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"} {
		k.statusEvent(p, what)
	}
	k.nodeEvent(p.Cause, corev1.EventTypeNormal, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	for wait := registerMin; !k.register(p); wait = min(2*wait, registerMax) {
		p.Sleep(wait)
	}
	for _, w := range k.allPods() {
		if w.static {
			k.checkMirror(w, w.cause)
		}
	}
	if at := k.rt.NetworkReadyAt(); p.Now().Before(at) { // the fast path: Ready as soon as the machine can
		k.updateNode(p)
		p.Sleep(at.Sub(p.Now()))
	}
	for {
		k.updateNode(p)
		p.Sleep(statusPeriod + time.Duration(k.rng.Float64()*periodJitter*float64(statusPeriod)))
	}
}

func (k *Kubelet) statusEvent(p *sim.Proc, what string) {
	k.nodeEvent(p.Cause, corev1.EventTypeNormal, what, "Node "+k.cfg.Node+" status is now: "+what)
}

// register creates the Node, or makes the labels of the one that exists right.
func (k *Kubelet) register(p *sim.Proc) bool {
	c := k.pr.Client.WithTimeout(heartbeatTimeout)
	fresh := k.describe()
	k.setNodeStatus(p, fresh, nil)
	made, err := kubeapi.Make(p, c, fresh)
	if err == nil {
		k.node.uid = made.UID
		return true
	}
	if !apierrors.IsAlreadyExists(err) {
		return false
	}
	old, err := kubeapi.Fetch[*corev1.Node](p, c, kinds.Nodes, "", k.cfg.Node)
	if err != nil {
		return false
	}
	changed := old.DeepCopy()
	for name, v := range k.describe().Labels {
		if changed.Labels == nil {
			changed.Labels = map[string]string{}
		}
		changed.Labels[name] = v
	}
	if _, err := kubeapi.PatchFrom(p, c, "", old, changed); err != nil {
		return false
	}
	k.node.uid = old.UID
	if was := old.Status.NodeInfo.BootID; was != "" && was != k.rt.BootID() {
		k.nodeEvent(p.Cause, corev1.EventTypeWarning, "Rebooted", "Node "+k.cfg.Node+" has been rebooted, boot id: "+k.rt.BootID())
	}
	return true
}

// updateNode computes the status and posts it when it changed or is due, trying five times.
func (k *Kubelet) updateNode(p *sim.Proc) {
	for try := range statusTries {
		if k.tryUpdateNode(p) == nil {
			return
		}
		if try > 0 {
			k.hangUp()
		}
	}
}

func (k *Kubelet) tryUpdateNode(p *sim.Proc) error {
	c := k.pr.Client.WithTimeout(heartbeatTimeout)
	resp, err := c.Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Nodes, Name: k.cfg.Node, ResourceVersion: "0"})
	if err != nil {
		return err
	}
	old := resp.Object.(*corev1.Node)
	k.noteSchedulable(p, old)
	present := agreement{old.ResourceVersion, k.rt.ImageCount(), !p.Now().Before(k.rt.NetworkReadyAt())}
	if present == k.node.agreed && p.Now().Before(k.node.nextReport) {
		return nil
	}
	changed := old.DeepCopy()
	k.setNodeStatus(p, changed, old)
	differs := !sameNodeStatus(&old.Status, &changed.Status)
	now := p.Now()
	if !differs && now.Before(k.node.nextReport) {
		k.node.agreed = present
		return nil
	}
	if k.pr.Silenced != nil { // a status that must be mended follows from what lets this machine be heard again
		defer func(before event.Seq) { p.Cause = before }(p.Cause)
		p.Cause = max(p.Cause, k.pr.Silenced(k.cfg.Node))
	}
	if _, err := kubeapi.PatchFrom(p, c, "status", old, changed); err != nil {
		return err
	}
	k.node.reported = now
	k.node.nextReport = now.Add(reportPeriod)
	if differs { // so that a mass change does not make all nodes report in step for ever
		k.node.nextReport = now.Add(reportPeriod/2 + time.Duration(k.rng.Float64()*float64(reportPeriod)))
	}
	return nil
}

func (k *Kubelet) noteSchedulable(p *sim.Proc, n *corev1.Node) {
	if k.node.scheduleKnown && k.node.unschedulable != n.Spec.Unschedulable {
		what := "NodeSchedulable"
		if n.Spec.Unschedulable {
			what = "NodeNotSchedulable"
		}
		k.statusEvent(p, what)
	}
	k.node.scheduleKnown, k.node.unschedulable = true, n.Spec.Unschedulable
}

// setNodeStatus fills in the status as it is now; old is what the API has, nil for a Node that is made.
func (k *Kubelet) setNodeStatus(p *sim.Proc, n, old *corev1.Node) {
	now := stamp(p.Now())
	st := &n.Status
	st.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: k.cfg.NodeIP}, {Type: corev1.NodeHostName, Address: k.cfg.Node}}
	st.Capacity, st.Allocatable = capacity(k.cfg.Capacity), allocatable(k.cfg.Capacity)
	st.DaemonEndpoints.KubeletEndpoint.Port = 10250
	st.NodeInfo = corev1.NodeSystemInfo{MachineID: k.rt.MachineID(), SystemUUID: k.rt.MachineID(), BootID: k.rt.BootID(), KernelVersion: "6.12.48+deb13-amd64",
		OSImage: "Debian GNU/Linux 13 (trixie)", ContainerRuntimeVersion: runtime.Version, KubeletVersion: Version, OperatingSystem: "linux", Architecture: "amd64"}
	st.Images = k.nodeImages()
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if p.Now().Before(k.rt.NetworkReadyAt()) {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, "KubeletNotReady", runtime.ErrNetwork.Error()
	}
	for _, c := range []struct {
		corev1.NodeCondition
		event string
	}{
		{corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"}, "NodeHasSufficientMemory"},
		{corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"}, "NodeHasNoDiskPressure"},
		{corev1.NodeCondition{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"}, "NodeHasSufficientPID"},
		{ready, map[corev1.ConditionStatus]string{corev1.ConditionTrue: "NodeReady", corev1.ConditionFalse: "NodeNotReady"}[ready.Status]},
	} {
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		if turned := setCondition(st, c.NodeCondition); turned && old != nil {
			k.statusEvent(p, c.event)
		}
	}
}

// setCondition puts c in its place; it reports that a condition was there and turned.
func setCondition(st *corev1.NodeStatus, c corev1.NodeCondition) (turned bool) {
	for i := range st.Conditions {
		o := &st.Conditions[i]
		if o.Type != c.Type {
			continue
		}
		turned = o.Status != c.Status
		if !turned {
			c.LastTransitionTime = o.LastTransitionTime
		}
		*o = c
		return turned
	}
	st.Conditions = append(st.Conditions, c)
	return false
}

// nodeImages are the largest images of the machine, as the scheduler's ImageLocality reads them.
func (k *Kubelet) nodeImages() []corev1.ContainerImage {
	list := k.rt.Images()
	var out []corev1.ContainerImage
	for _, i := range list[:min(len(list), imagesMax)] {
		out = append(out, corev1.ContainerImage{Names: []string{i.ID, i.Ref}, SizeBytes: i.Size})
	}
	return out
}

// sameNodeStatus compares without heartbeat times.
func sameNodeStatus(a, b *corev1.NodeStatus) bool {
	if len(a.Conditions) != len(b.Conditions) || len(a.Images) != len(b.Images) {
		return false
	}
	for i := range a.Conditions {
		x, y := a.Conditions[i], b.Conditions[i]
		x.LastHeartbeatTime, y.LastHeartbeatTime = metav1.Time{}, metav1.Time{}
		if !equality.Semantic.DeepEqual(x, y) {
			return false
		}
	}
	return a.NodeInfo == b.NodeInfo && equality.Semantic.DeepEqual(a.Addresses, b.Addresses) && equality.Semantic.DeepEqual(a.Capacity, b.Capacity) &&
		equality.Semantic.DeepEqual(a.Allocatable, b.Allocatable) && equality.Semantic.DeepEqual(a.Images, b.Images)
}
