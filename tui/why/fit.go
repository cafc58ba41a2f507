package why

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"example.com/kubeviz/engine/world"
)

// need is what a pod asks of a node, worked out once.
type need struct {
	pod         *corev1.Pod
	cpu, memory int64 // milli-CPU, bytes
	rest        corev1.ResourceList
	ports       []hostPort
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
}

func needOf(pod *corev1.Pod) need {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	n := need{pod: pod, cpu: requests.Cpu().MilliValue(), memory: requests.Memory().Value(), affinity: nodeaffinity.GetRequiredNodeAffinity(pod),
		tolerations: pod.Spec.Tolerations, ports: portsOf(pod)}
	delete(requests, corev1.ResourceCPU)
	delete(requests, corev1.ResourceMemory)
	for name, q := range requests {
		if q.Sign() <= 0 {
			delete(requests, name)
		}
	}
	if len(requests) > 0 {
		n.rest = requests
	}
	return n
}

// lack is what stands between a pod and a node, of every filter and not only of the first that refuses.
type lack struct {
	node      *world.Node
	cordoned  bool
	otherName bool
	taints    []corev1.Taint // not tolerated, NoSchedule or NoExecute
	labels    bool           // nodeSelector or required node affinity does not match
	ports     []*world.Pod   // that hold a host port the pod wants
	full      bool           // as many pods as the node takes
	cpu       bool
	memory    bool
	rest      []string // other resources that are short, sorted
	// freeCPU and freeMemory are what is left to give away on the node; both may be negative.
	freeCPU, freeMemory int64
}

// kinds counts the different things that are lacking; 0: the pod fits.
func (l *lack) kinds() int {
	n := len(l.rest)
	for _, is := range []bool{l.cordoned, l.otherName, len(l.taints) > 0, l.labels, len(l.ports) > 0, l.full, l.cpu, l.memory} {
		if is {
			n++
		}
	}
	return n
}

// reason of the first filter that refuses, in the scheduler's order.
type reason int

const (
	fits reason = iota
	cordoned
	otherName
	tainted
	unlabelled
	portTaken
	tooSmall // a resource, or the number of pods
)

func (l *lack) reason() reason {
	switch {
	case l.cordoned:
		return cordoned
	case l.otherName:
		return otherName
	case len(l.taints) > 0:
		return tainted
	case l.labels:
		return unlabelled
	case len(l.ports) > 0:
		return portTaken
	case l.full || l.cpu || l.memory || len(l.rest) > 0:
		return tooSmall
	}
	return fits
}

// edit is a change to a cluster that might let a pod fit on a node. The zero edit changes nothing.
type edit struct {
	node string
	// cpu and memory are the pod's requests afterwards; nil: as they are.
	cpu, memory *int64
	tolerate    []corev1.Taint
	// heal takes these taints off the node by making the node well again.
	heal     []corev1.Taint
	uncordon bool
	label    map[string]string
	remove   []*world.Pod
}

// check runs the scheduler's filters of one node, as the store has node and pods, with an edit on top. Affinity between pods and spreading are not among them.
func (n *need) check(w *world.World, node *world.Node, e edit) lack {
	o := node.Object
	l := lack{node: node}
	l.otherName = n.pod.Spec.NodeName != "" && n.pod.Spec.NodeName != o.Name
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	l.cordoned = o.Spec.Unschedulable && !e.uncordon && !n.tolerates(&cordon, e)
	for i := range o.Spec.Taints {
		t := &o.Spec.Taints[i]
		hard := t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
		gone := has(e.heal, t) || t.MatchTaint(&cordon) && (e.uncordon || l.cordoned) // the taint of a cordon comes and goes with it: one thing, not two
		if hard && !gone && !n.tolerates(t, e) {
			l.taints = append(l.taints, *t)
		}
	}
	labelled := o
	if len(e.label) > 0 {
		labelled = o.DeepCopy()
		if labelled.Labels == nil {
			labelled.Labels = map[string]string{}
		}
		for k, v := range e.label {
			labelled.Labels[k] = v
		}
	}
	matches, err := n.affinity.Match(labelled)
	l.labels = !matches || err != nil
	var gone sum
	for _, p := range e.remove {
		if p.Object.Spec.NodeName == o.Name && !p.Ended {
			gone.add(needOf(p.Object))
		}
	}
	cpu, memory := n.cpu, n.memory
	if e.cpu != nil {
		cpu = *e.cpu
	}
	if e.memory != nil {
		memory = *e.memory
	}
	room := o.Status.Allocatable
	l.freeCPU = room.Cpu().MilliValue() - node.MilliCPU + gone.cpu
	l.freeMemory = room.Memory().Value() - node.Memory + gone.memory
	l.cpu = cpu > 0 && cpu > l.freeCPU
	l.memory = memory > 0 && memory > l.freeMemory
	l.full = int64(node.Pods-gone.pods)+1 > room.Pods().Value()
	if len(n.ports) > 0 || len(n.rest) > 0 {
		n.detail(w, node, e, &l)
	}
	return l
}

// detail looks at the pods on the node, which only few pods make necessary.
func (n *need) detail(w *world.World, node *world.Node, e edit, l *lack) {
	used := corev1.ResourceList{}
	w.PodsOnNode(node.Object.Name, func(p *world.Pod) bool {
		if p.Ended || slices.ContainsFunc(e.remove, func(x *world.Pod) bool { return x.Object.UID == p.Object.UID }) {
			return true
		}
		if clash(n.ports, portsOf(p.Object)) {
			l.ports = append(l.ports, p)
		}
		if len(n.rest) > 0 {
			for name, q := range resource.PodRequests(p.Object, resource.PodResourcesOptions{}) {
				u := used[name]
				u.Add(q)
				used[name] = u
			}
		}
		return true
	})
	for name, want := range n.rest {
		have := node.Object.Status.Allocatable[name]
		have.Sub(used[name])
		if want.Cmp(have) > 0 {
			l.rest = append(l.rest, string(name))
		}
	}
	slices.Sort(l.rest)
}

type sum struct {
	cpu, memory int64
	pods        int
}

func (s *sum) add(n need) {
	s.cpu += n.cpu
	s.memory += n.memory
	s.pods++
}

func (n *need) tolerates(t *corev1.Taint, e edit) bool {
	for i := range n.tolerations {
		if n.tolerations[i].ToleratesTaint(logr.Discard(), t, false) {
			return true
		}
	}
	return has(e.tolerate, t)
}

func has(list []corev1.Taint, t *corev1.Taint) bool {
	return slices.ContainsFunc(list, func(x corev1.Taint) bool { return x.Key == t.Key && x.Value == t.Value && x.Effect == t.Effect })
}

type hostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

// portsOf lists the ports that a pod takes on the machine itself: of its containers and sidecars.
func portsOf(pod *corev1.Pod) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				h := hostPort{p.HostIP, p.Protocol, p.HostPort}
				if h.ip == "" {
					h.ip = "0.0.0.0"
				}
				if h.protocol == "" {
					h.protocol = corev1.ProtocolTCP
				}
				out = append(out, h)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return out
}

func clash(a, b []hostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.port == y.port && x.protocol == y.protocol && (x.ip == y.ip || x.ip == "0.0.0.0" || y.ip == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}
