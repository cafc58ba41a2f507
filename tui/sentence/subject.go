package sentence

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"

	corev1 "k8s.io/api/core/v1"
)

// subject is the thing that a record is about: the machine that fell, the pod that was bound, the object a controller worked on. What has no thing of its own is
// about the record itself.
func (t *Teller) subject(r event.Record, w *world.World) target.Target {
	process := func(host, name string) target.Target {
		return target.Target{Kind: target.Process, Host: host, Process: name}
	}
	pod := func(o kinds.ObjectRef, node string) target.Target {
		return target.Target{Kind: target.Pod, Host: node, Namespace: o.Namespace, Name: o.Name}
	}
	switch e := r.Event.(type) {
	case event.CommandGiven:
		return t.ordered(e.Text, w)
	case event.CommandRefused:
		return t.ordered(e.Text, w)
	case event.CommandDone:
		return t.ordered(e.Text, w)
	case event.MachineUp:
		return t.machine(e.Host, w)
	case event.MachineDown:
		return t.machine(e.Host, w)
	case event.ProcessStarted:
		return process(e.Host, e.Process)
	case event.ProcessStopped:
		return process(e.Host, e.Process)
	case event.FaultAdded:
		return t.broken(e.Fault, w)
	case event.FaultRemoved:
		return t.broken(e.Fault, w)
	case event.BackendChanged:
		return process(e.Backend, "apiserver")
	case event.RaftRole:
		return process(e.Member, "etcd")
	case event.RaftProgress:
		return process(e.Member, "etcd")
	case event.RaftMessage:
		return process(e.From, "etcd")
	case event.RaftContact:
		return process(e.Member, "etcd")
	case event.RaftAppended:
		return process(e.Member, "etcd")
	case event.RaftTruncated:
		return process(e.Member, "etcd")
	case event.RaftSnapshot:
		return process(e.Member, "etcd")
	case event.StoreDefragmented:
		return process(e.Member, "etcd")
	case event.StoreAlarm:
		return process(e.Member, "etcd")
	case event.StoreBackedUp:
		return process(e.Member, "etcd")
	case event.DiskChanged:
		return process(e.Member, "etcd")
	case event.DiskSetAside:
		return process(e.Member, "etcd")
	case event.TrapSet:
		if e.Member != "" {
			return process(e.Member, "etcd")
		}
	case event.TrapSprung:
		return process(e.Member, "etcd")
	case event.StoreDiverged:
		return process(e.Member, "etcd")
	case event.MembersChanged:
		if name := t.reconfigured(r, e, w); name != "" {
			return process(name, "etcd")
		}
	case event.ObjectChanged:
		if e.Object != nil {
			return t.changed(e.Object, w)
		}
	case event.LeaseRenewed:
		return target.ForObject(kinds.Leases, e.Namespace, e.Lease)
	case event.RequestReceived:
		return requested(e.Server, e.Resource, e.Namespace, e.ObjectName)
	case event.RequestDone:
		return requested(e.Server, e.Resource, e.Namespace, e.ObjectName)
	case event.RequestTally:
		return process(e.Server, "apiserver")
	case event.WatchOpened:
		return process(e.Server, "apiserver")
	case event.ClientConnected:
		return target.Target{Kind: target.Client, Name: string(e.Client)}
	case event.WatchBehind:
		return target.Target{Kind: target.Client, Name: string(e.Client)}
	case event.ClientGone:
		return target.Target{Kind: target.Client, Name: string(e.Client)}
	case event.WatchClosed:
		return process(e.Server, "apiserver")
	case event.QueueChanged:
		return target.Target{Kind: target.Queue, Host: r.Actor.Host(), Process: r.Actor.Component(), Name: e.Queue}
	case event.Reconciled:
		return t.worked(e, r.Actor, w)
	case event.Leading:
		return process(e.Host, component(e.Lease))
	case event.SchedulingAttempt:
		return pod(e.Pod, e.Node)
	case event.PodQueued:
		return pod(e.Pod, "")
	case event.NodeJudged:
		return t.machine(e.Node, w)
	case event.EvictionPlanned:
		return pod(e.Pod, e.Node)
	case event.EvictionCancelled:
		return pod(e.Pod, e.Node)
	case event.ContainerChanged:
		return pod(e.Pod, e.Node)
	case event.Crashed:
		if a := event.Actor(e.Who); a.Host() != "" {
			return process(a.Host(), a.Component())
		}
	}
	return target.Target{Kind: target.Record, Seq: r.Seq}
}

// machine names a machine, or a process on one ("master-1/etcd"). Whether it is of the control plane the World knows, or the header of the journal.
func (t *Teller) machine(name string, w *world.World) target.Target {
	host, process, part := strings.Cut(name, "/")
	if part {
		return target.Target{Kind: target.Process, Host: host, Process: process}
	}
	if name == "balancer" {
		return target.Target{Kind: target.Balancer, Host: name}
	}
	kind := target.Worker
	if w != nil {
		if h, ok := w.Hosts.Get(name); ok && h.Master {
			kind = target.Master
		}
	}
	if t.masters[name] {
		kind = target.Master
	}
	return target.Target{Kind: kind, Host: name}
}

// broken is the end of a broken link that is a machine.
func (t *Teller) broken(f fault.Fault, w *world.World) target.Target {
	if f.A == "" || f.A == fault.All {
		f.A = f.B
	}
	return t.machine(f.A, w)
}

// changed names an object; of an Event what it is about.
func (t *Teller) changed(o kinds.Object, w *world.World) target.Target {
	if e, ok := o.(*corev1.Event); ok {
		if e.InvolvedObject.Kind == "Node" {
			return t.machine(e.InvolvedObject.Name, w)
		}
		return named(e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name)
	}
	k, err := kinds.Of(o)
	if err != nil {
		return target.Target{}
	}
	t0 := target.ForObject(k, o.GetNamespace(), o.GetName())
	if p, ok := o.(*corev1.Pod); ok {
		t0.Host = p.Spec.NodeName
	}
	return t0
}

// named is an object by the name of its kind, as users and controllers write it.
func named(kind, namespace, name string) target.Target {
	k, ok := kinds.Named(kind)
	if !ok || name == "" {
		return target.Target{}
	}
	if !k.Namespaced {
		namespace = ""
	}
	return target.ForObject(k, namespace, name)
}

// requested is the object of a request, or the API server where it named none.
func requested(server, resource, namespace, name string) target.Target {
	if name == "" {
		return target.Target{Kind: target.Process, Host: server, Process: "apiserver"}
	}
	return named(resource, namespace, name)
}

// worked is the object behind the key of a controller: "default/nginx" of the deployment controller, "Pod default/nginx-1 <uid>" of the garbage collector. Where the
// key says no more, it is the queue.
func (t *Teller) worked(e event.Reconciled, a event.Actor, w *world.World) target.Target {
	key, kind := e.Key, e.Controller
	if e.Controller == "garbagecollector" {
		if words := strings.Fields(e.Key); len(words) >= 2 {
			kind, key = words[0], words[1]
		}
	}
	switch kind {
	case "node_lifecycle_controller", "noexec_taint_node":
		return t.machine(key, w)
	case "noexec_taint_pod", "pod-garbage-collector":
		kind = "pods"
	case "endpoint", "endpoint_slice":
		kind = "services"
	case "endpoint_slice_mirroring":
		kind = "endpoints"
	}
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		namespace, name = "", key
	}
	if o := named(kind, namespace, name); o.Kind != target.Nothing {
		return o
	}
	return target.Target{Kind: target.Queue, Host: a.Host(), Process: a.Component(), Name: e.Controller}
}

// ordered is what a command of the user acts on, where its words name it.
func (t *Teller) ordered(text string, w *world.World) target.Target {
	words := strings.Fields(text)
	if len(words) < 2 {
		return target.Target{}
	}
	known := func(name string) target.Target {
		host, _, _ := strings.Cut(name, "/")
		if w != nil {
			if _, ok := w.Hosts.Get(host); !ok {
				return target.Target{}
			}
		}
		return t.machine(name, w)
	}
	switch words[0] {
	case "member":
		if len(words) > 2 {
			return process(known(words[2]))
		}
	case "disk", "failpoint", "defrag":
		return process(known(words[1]))
	case "duplicate", "reorder", "clog":
		return known(words[1])
	case "kill", "stop", "start", "restart", "wipe", "heal", "cut", "delay", "loss":
		if words[1] == fault.All && len(words) > 2 {
			return known(words[2])
		}
		return known(words[1])
	case "crash", "break":
		for _, word := range words[1:] {
			if parts := strings.Split(word, "/"); len(parts) == 3 {
				return named(parts[0], parts[1], parts[2])
			}
		}
	case "kubectl":
		return order(words[1:])
	}
	return target.Target{}
}

// process is the etcd on a master, for words that are about the store.
func process(t target.Target) target.Target {
	if t.Kind == target.Master {
		return target.Target{Kind: target.Process, Host: t.Host, Process: "etcd"}
	}
	return t
}

// order is the object that a line for kubectl names: KIND NAME, or KIND/NAME, or the pod of run.
func order(words []string) target.Target {
	namespace, plain := "default", make([]string, 0, 4)
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case (word == "-n" || word == "--namespace") && i+1 < len(words):
			i++
			namespace = words[i]
		case strings.HasPrefix(word, "--namespace="):
			namespace = strings.TrimPrefix(word, "--namespace=")
		case strings.HasPrefix(word, "-"):
		default:
			plain = append(plain, word)
		}
	}
	if len(plain) < 2 {
		return target.Target{}
	}
	switch plain[0] {
	case "run":
		return named("pod", namespace, plain[1])
	case "cordon", "uncordon":
		return named("node", "", plain[1])
	}
	for i, word := range plain[1:] {
		if kind, name, ok := strings.Cut(word, "/"); ok {
			return named(kind, namespace, name)
		}
		if _, ok := kinds.Named(word); ok && i+2 < len(plain) {
			return named(word, namespace, plain[i+2])
		}
	}
	return target.Target{}
}
