package world

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// The table of kinds, by Go type and with names ready made: both are asked for once per record.
var (
	kindsByType   = map[reflect.Type]*kinds.Kind{}
	resourceNames = map[*kinds.Kind]string{}
)

func init() {
	for _, k := range kinds.All() {
		kindsByType[reflect.TypeOf(k.New())] = k
		resourceNames[k] = k.String()
	}
}

func (w *World) objectChanged(r event.Record, e event.ObjectChanged) {
	w.Revision = max(w.Revision, e.Revision)
	k, ok := kindsByType[reflect.TypeOf(e.Object)]
	if c, is := e.Object.(*kinds.Custom); is {
		if k, ok = c.Row(), c.Row() != nil; ok {
			k = w.defined(k)
		}
	}
	if !ok {
		return // of a kind this program does not know
	}
	gone := e.Type == event.Deleted
	key := objectKey(k, e.Object)
	if gone {
		w.Objects.Delete(key)
	} else {
		w.Objects.Set(key, &Object{Kind: k, Object: e.Object, Seq: r.Seq, At: r.At})
	}
	switch o := e.Object.(type) {
	case *corev1.Pod:
		w.podChanged(r, o, gone)
	case *corev1.Node:
		w.nodeChanged(r, o, gone)
	case *coordinationv1.Lease:
		w.leaseChanged(r, o, gone)
	case *appsv1.Deployment:
		put(&w.indexes.stuck, podKey(o.Namespace, o.Name), !gone && RolloutOf(o).Stuck)
	}
}

// defined is the row by which the World knows a defined kind. A kind that was defined anew otherwise takes the place of the one before.
func (w *World) defined(k *kinds.Kind) *kinds.Kind {
	name := k.String()
	if have, ok := w.Defined.Get(name); ok && kinds.Same(have, k) {
		return have
	}
	w.Defined.Set(name, k)
	return k
}

func (w *World) podChanged(r event.Record, o *corev1.Pod, gone bool) {
	key := podKey(o.Namespace, o.Name)
	old, had := w.Pods.Get(key)
	var now *Pod
	if !gone {
		now = w.makePod(r, o, old)
	}
	w.indexPod(key, old, now)
	if now == nil {
		w.Pods.Delete(key)
	} else {
		w.Pods.Set(key, now)
	}
	if gone || now.Deleting || (had && old.Object.UID != o.UID) {
		w.forgetEviction(key)
	}
	if gone || o.Spec.NodeName != "" || now.Ended {
		w.Attempts.Delete(key)
	}
}

func (w *World) makePod(r event.Record, o *corev1.Pod, old *Pod) *Pod {
	c := kinds.ColumnsOf(o)
	p := &Pod{
		Object: o, Seq: r.Seq, Status: c.Status, Ready: c.Ready, Total: c.Total, Restarts: c.Restarts,
		Deleting: o.DeletionTimestamp != nil, Ended: kinds.PodEnded(o), Since: r.At,
	}
	same := old != nil && old.Object.UID == o.UID
	if same && old.Status == p.Status {
		p.Since = old.Since
	}
	switch {
	case p.Ended:
	case same && !old.Ended && old.Object.Generation == o.Generation && o.Generation != 0: // requests are part of the spec
		p.milliCPU, p.memory = old.milliCPU, old.memory
	default:
		req := resource.PodRequests(o, resource.PodResourcesOptions{})
		p.milliCPU, p.memory = req.Cpu().MilliValue(), req.Memory().Value()
	}
	return p
}

// indexPod moves one pod between the indexes and the sums of nodes; nil for a pod that is not there.
func (w *World) indexPod(key string, old, now *Pod) {
	x := &w.indexes
	oldNode, node := boundTo(old), boundTo(now)
	if oldNode != node {
		if oldNode != "" {
			x.onNode.Delete(oldNode + " " + key)
		}
		if node != "" {
			x.onNode.Insert(node + " " + key)
		}
	}
	if was, is := old.waitsForNode(), now.waitsForNode(); was != is {
		put(&x.unbound, key, is)
	}
	if was, is := old.Failing(), now.Failing(); was != is {
		put(&x.failing, key, is)
	}
	if was, is := old.status(), now.status(); was != is {
		if was != "" {
			count(&x.statuses, was, -1)
		}
		if is != "" {
			count(&x.statuses, is, 1)
		}
	}
	before, after := old.load(), now.load()
	if oldNode == node {
		w.addLoad(node, after.minus(before))
	} else {
		w.addLoad(oldNode, load{}.minus(before))
		w.addLoad(node, after)
	}
}

// load is what pods ask of a node.
type load struct {
	pods             int
	milliCPU, memory int64
}

func (a load) minus(b load) load {
	return load{a.pods - b.pods, a.milliCPU - b.milliCPU, a.memory - b.memory}
}

func (w *World) addLoad(node string, d load) {
	if node == "" || d == (load{}) {
		return
	}
	old, ok := w.Nodes.Get(node)
	if !ok {
		return // summed up when the node appears
	}
	n := *old
	n.Pods += d.pods
	n.MilliCPU += d.milliCPU
	n.Memory += d.memory
	w.Nodes.Set(node, &n)
}

func boundTo(p *Pod) string {
	if p == nil {
		return ""
	}
	return p.Object.Spec.NodeName
}

func (p *Pod) load() load {
	if p == nil || p.Ended || p.Object.Spec.NodeName == "" {
		return load{}
	}
	return load{1, p.milliCPU, p.memory}
}

func (p *Pod) waitsForNode() bool {
	return p != nil && p.Object.Spec.NodeName == "" && !p.Ended
}

func (p *Pod) status() string {
	if p == nil {
		return ""
	}
	return p.Status
}

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

func (w *World) nodeChanged(r event.Record, o *corev1.Node, gone bool) {
	if gone {
		w.Nodes.Delete(o.Name)
		w.indexes.notReady.Delete(o.Name)
		return
	}
	n := Node{Object: o, Seq: r.Seq}
	if old, ok := w.Nodes.Get(o.Name); ok {
		n.Pods, n.MilliCPU, n.Memory = old.Pods, old.MilliCPU, old.Memory
	} else {
		w.PodsOnNode(o.Name, func(p *Pod) bool {
			l := p.load()
			n.Pods += l.pods
			n.MilliCPU += l.milliCPU
			n.Memory += l.memory
			return true
		})
	}
	_, n.Master = o.Labels[controlPlaneLabel]
	n.Since = o.CreationTimestamp.Time
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.NodeReady {
			n.Ready, n.Reason, n.Since = string(c.Status), c.Reason, c.LastTransitionTime.Time
		}
	}
	put(&w.indexes.notReady, o.Name, n.Ready != string(corev1.ConditionTrue))
	w.Nodes.Set(o.Name, &n)
}

func (w *World) leaseChanged(r event.Record, o *coordinationv1.Lease, gone bool) {
	key := podKey(o.Namespace, o.Name)
	if gone {
		w.Leases.Delete(key)
		return
	}
	l := &Lease{Namespace: o.Namespace, Name: o.Name, Renewed: r.At, Seq: r.Seq}
	if s := o.Spec.HolderIdentity; s != nil {
		l.Holder = *s
	}
	if t := o.Spec.RenewTime; t != nil {
		l.Renewed = t.Time
	}
	if d := o.Spec.LeaseDurationSeconds; d != nil {
		l.Duration = time.Duration(*d) * time.Second
	}
	if n := o.Spec.LeaseTransitions; n != nil {
		l.Transitions = int(*n)
	}
	w.Leases.Set(key, l)
}

// leaseRenewed moves the Leases entry; the object in Objects keeps the renewTime of its last full change.
func (w *World) leaseRenewed(r event.Record, e event.LeaseRenewed) {
	w.Revision = max(w.Revision, e.Revision)
	key := podKey(e.Namespace, e.Lease)
	l := Lease{Namespace: e.Namespace, Name: e.Lease}
	if old, ok := w.Leases.Get(key); ok {
		l = *old
	}
	l.Holder, l.Renewed, l.Seq = e.Holder, r.At, r.Seq
	w.Leases.Set(key, &l)
}
