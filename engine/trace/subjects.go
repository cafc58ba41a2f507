package trace

import (
	"reflect"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Subjects lists what a record is about: machines, processes, objects and queues, without repetition.
func Subjects(r event.Record) []Subject {
	var out []Subject
	f := finder{found: func(s []byte) {
		for _, o := range out {
			if string(o) == string(s) {
				return
			}
		}
		out = append(out, Subject(s))
	}}
	f.find(&r)
	return out
}

// finder spells what records are about, each subject in the same bytes, so that looking one up makes no garbage.
type finder struct {
	spelt []byte
	found func(subject []byte)
}

func (f *finder) say(parts ...string) {
	f.spelt = f.spelt[:0]
	for _, p := range parts {
		f.spelt = append(f.spelt, p...)
	}
	f.found(f.spelt)
}

func (f *finder) host(name string) {
	if name != "" {
		f.say(hostPrefix, name)
	}
}

// process is also about its machine.
func (f *finder) process(host, name string) {
	if host != "" {
		f.say(hostPrefix, host)
		f.say(processPrefix, host, "/", name)
	}
}

// end is one end of a link: "worker-1", "master-1/etcd", "all".
func (f *finder) end(name string) {
	switch host, process, ok := strings.Cut(name, "/"); {
	case host == "all":
	case ok:
		f.process(host, process)
	default:
		f.host(host)
	}
}

func (f *finder) object(resource, namespace, name string) {
	switch {
	case name == "":
	case namespace == "":
		f.say(resource, " ", name)
	default:
		f.say(resource, " ", namespace, "/", name)
	}
}

func (f *finder) pod(ref kinds.ObjectRef) { f.object("pods", ref.Namespace, ref.Name) }

// key is "namespace/name", or a name alone.
func (f *finder) key(resource, key string) {
	if resource != "" && key != "" {
		f.say(resource, " ", key)
	}
}

// resources by the Go type of their objects.
var resources = func() map[reflect.Type]string {
	m := map[reflect.Type]string{}
	for _, k := range kinds.All() {
		m[reflect.TypeOf(k.New())] = k.String()
	}
	return m
}()

// leases and nodes are the resources whose names facts imply.
var (
	leases = kinds.Leases.String()
	nodes  = kinds.Nodes.String()
)

// keyed are the resources that the keys of controllers' queues name.
var keyed = map[string]string{
	"deployment":                     kinds.Deployments.String(),
	"replicaset":                     kinds.ReplicaSets.String(),
	"node_lifecycle_controller":      kinds.Nodes.String(),
	"node_lifecycle_controller_pods": kinds.Pods.String(),
	"noexec_taint_node":              kinds.Nodes.String(),
	"noexec_taint_pod":               kinds.Pods.String(),
	"taint-eviction-controller":      kinds.Pods.String(),
	"pod-garbage-collector":          kinds.Pods.String(),
}

// find tells found of everything a record is about; of some things twice.
func (f *finder) find(r *event.Record) {
	switch e := r.Event.(type) {
	case event.MachineUp:
		f.host(e.Host)
	case event.MachineDown:
		f.host(e.Host)
	case event.ProcessStarted:
		f.process(e.Host, e.Process)
	case event.ProcessStopped:
		f.process(e.Host, e.Process)
	case event.FaultAdded:
		f.end(e.Fault.A)
		f.end(e.Fault.B)
	case event.FaultRemoved:
		f.end(e.Fault.A)
		f.end(e.Fault.B)
	case event.BackendChanged:
		f.process(e.Backend, "apiserver")
	case event.RaftRole:
		f.process(e.Member, "etcd")
	case event.RaftContact:
		f.process(e.Member, "etcd")
	case event.RaftTruncated:
		f.process(e.Member, "etcd")
	case event.RaftSnapshot:
		f.process(e.Member, "etcd")
	case event.MembersChanged:
		for _, m := range e.Members {
			f.process(m.Name, "etcd")
		}
	case event.StoreDefragmented:
		f.process(e.Member, "etcd")
	case event.StoreAlarm:
		f.process(e.Member, "etcd")
	case event.StoreBackedUp:
		f.process(e.Member, "etcd")
	case event.DiskChanged:
		f.process(e.Member, "etcd")
	case event.DiskSetAside:
		f.process(e.Member, "etcd")
	case event.TrapSet:
		f.process(e.Member, "etcd")
	case event.TrapSprung:
		f.process(e.Member, "etcd")
	case event.StoreDiverged:
		f.process(e.Member, "etcd")
	case event.WatchOpened:
		f.say(processPrefix, e.Server, "/apiserver")
	case event.WatchBehind:
		f.say(processPrefix, e.Server, "/apiserver")
	case event.WatchClosed:
		f.say(processPrefix, e.Server, "/apiserver")
	case event.Leading:
		f.process(e.Host, strings.TrimPrefix(e.Lease, "kube-"))
		f.object(leases, "kube-system", e.Lease)
	case event.ObjectChanged:
		f.changed(e)
	case event.LeaseRenewed:
		f.object(leases, e.Namespace, e.Lease)
	case event.RequestReceived:
		f.object(e.Resource, e.Namespace, e.ObjectName)
	case event.RequestDone:
		f.object(e.Resource, e.Namespace, e.ObjectName)
	case event.QueueChanged:
		f.say(queuePrefix, string(r.Actor), " ", e.Queue)
	case event.Reconciled:
		f.key(keyed[e.Controller], e.Key)
	case event.SchedulingAttempt:
		f.pod(e.Pod)
	case event.PodQueued:
		f.pod(e.Pod)
	case event.NodeJudged:
		f.host(e.Node)
		f.object(nodes, "", e.Node)
	case event.EvictionPlanned:
		f.pod(e.Pod)
		f.host(e.Node)
	case event.EvictionCancelled:
		f.pod(e.Pod)
		f.host(e.Node)
	case event.ContainerChanged:
		f.pod(e.Pod)
		f.process(e.Node, "kubelet")
	case event.Crashed:
		f.end(r.Actor.Host())
	}
}

// changed objects of a node are about its machine, too.
func (f *finder) changed(e event.ObjectChanged) {
	if e.Object == nil {
		return
	}
	resource, known := resources[reflect.TypeOf(e.Object)]
	if !known {
		return
	}
	f.object(resource, e.Object.GetNamespace(), e.Object.GetName())
	if resource == nodes {
		f.host(e.Object.GetName())
	}
}
