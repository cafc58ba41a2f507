package queueview

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/target"
)

// kindOf is the kind whose objects the keys of a queue name; nil where a key says its kind itself.
func kindOf(queue string) *kinds.Kind {
	switch queue {
	case "deployment":
		return kinds.Deployments
	case "replicaset":
		return kinds.ReplicaSets
	case "endpoint", "endpoint_slice":
		return kinds.Services
	case "endpoint_slice_mirroring":
		return kinds.Endpoints
	case "node_lifecycle_controller", "zone_noexec_tainter", "noexec_taint_node":
		return kinds.Nodes
	case "node_lifecycle_controller_pods", "noexec_taint_pod", "taint_eviction_timed", "scheduler", "pod_workers":
		return kinds.Pods
	}
	return nil
}

// itemTarget is the object that an item is about; the queue itself where that is no object we know.
func itemTarget(r *row, it event.QueueItem) target.Target {
	key, kind := it.Key, kindOf(r.t.Name)
	if kind == nil { // "pods default/web" of an API server, "ReplicaSet default/web uid" of the garbage collector
		words := strings.Fields(key)
		if len(words) < 2 {
			return r.t
		}
		for _, k := range kinds.All() {
			if k.String() == words[0] || k.Kind == words[0] {
				kind = k
			}
		}
		key = words[1]
	}
	if kind == nil {
		return r.t
	}
	namespace, name := "", key
	if kind.Namespaced {
		var ok bool
		if namespace, name, ok = strings.Cut(key, "/"); !ok {
			return r.t
		}
	}
	t := target.ForObject(kind, namespace, name)
	if r.t.Process == kubelet {
		t.Host = r.t.Host
	}
	return t
}

// itemAt is the place of the selected item in a list; where it left, that of the one that took its place.
func (v View) itemAt(list []event.QueueItem) int {
	for i := range list {
		if list[i].Key == v.item {
			return i
		}
	}
	return max(0, min(v.itemNo, len(list)-1))
}

// waitAt is the same for a chain.
func (v View) waitAt(list []wait) int {
	for i := range list {
		if list[i].id == v.wait {
			return i
		}
	}
	return max(0, min(v.waitNo, len(list)-1))
}
