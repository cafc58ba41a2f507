// Package endpoint says where Services lead: the addresses of the pods that their selectors match. Three controllers share its rules: Slices writes EndpointSlices (k/k
// pkg/controller/endpointslice and k8s.io/endpointslice; fidelity EPS-1, EPS-2), Endpoints writes the Endpoints of old clients (k/k pkg/controller/endpoint), and Mirror writes slices from the
// Endpoints that people keep for Services without a selector (k/k pkg/controller/endpointslicemirroring).
//
// A slice lists pods that are not ready too, and says so; Endpoints keep them apart. Slices go with their Service or Endpoints by their owner reference, Endpoints are deleted here.
//
// Not here: hints that follow from the annotation service.kubernetes.io/topology-mode, which shares endpoints out among zones by the CPU of their nodes; hints that follow from
// spec.trafficDistribution are.
//
// Owns: the EndpointSlices and Endpoints of Services, but for those of the API servers themselves. Imports of ours: components/kubeapi and its record, components/reconcile,
// components/controller/informers and podcondition, engine/event, engine/kinds. Goroutines: the loop. Time: simulated.
package endpoint

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/dump"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many Services each of them works on at a time (--concurrent-service-endpoint-syncs, --concurrent-endpoint-syncs, --mirroring-concurrent-service-endpoint-syncs).
const Workers = 5

// wake calls add for the Services that a change of a pod may concern.
func wake(in *informers.Informers, ch kubeapi.Change[*corev1.Pod], add func(kubeapi.Key, event.Seq)) {
	moved, changed, namespace := false, true, ""
	switch ch.Type {
	case event.Modified:
		if moved, changed = tells(ch.Old, ch.New); !moved && !changed {
			return
		}
		namespace = ch.New.Namespace
	case event.Added:
		namespace = ch.New.Namespace
	case event.Deleted:
		namespace = ch.Old.Namespace
	}
	for _, svc := range in.Services.ByIndex(informers.ByNamespace, namespace) {
		if len(svc.Spec.Selector) == 0 {
			continue
		}
		sel := labels.SelectorFromValidatedSet(svc.Spec.Selector)
		was := ch.Type != event.Added && sel.Matches(labels.Set(ch.Old.Labels))
		is := ch.Type != event.Deleted && sel.Matches(labels.Set(ch.New.Labels))
		if was != is || changed && is {
			add(kubeapi.KeyOf(svc), ch.Cause)
		}
	}
}

// tells reports that a pod may belong to other Services than before (moved), or may stand otherwise in those that it belongs to (changed).
func tells(old, pod *corev1.Pod) (moved, changed bool) {
	renamed := old.Spec.Hostname != pod.Spec.Hostname || old.Spec.Subdomain != pod.Spec.Subdomain
	changed = renamed || old.UID != pod.UID || (old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil) || kinds.PodIsReady(old) != kinds.PodIsReady(pod) ||
		kinds.PodEnded(old) != kinds.PodEnded(pod) || old.Spec.NodeName != pod.Spec.NodeName || !slices.Equal(old.Status.PodIPs, pod.Status.PodIPs)
	return !maps.Equal(old.Labels, pod.Labels), changed
}

// leads reports that somebody here says where a Service leads: it has a selector and is no mere name of something elsewhere.
func leads(svc *corev1.Service) bool {
	return svc.Spec.Type != corev1.ServiceTypeExternalName && len(svc.Spec.Selector) > 0
}

// selected lists the pods that the selector of a Service matches.
func selected(in *informers.Informers, svc *corev1.Service) (out []*corev1.Pod) {
	sel := labels.SelectorFromValidatedSet(svc.Spec.Selector)
	for _, pod := range in.Pods.ByIndex(informers.ByNamespace, svc.Namespace) {
		if sel.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out
}

// belongs reports that a pod can be an endpoint: it has an address and has not ended.
func belongs(pod *corev1.Pod, terminating bool) bool {
	return !kinds.PodEnded(pod) && (pod.Status.PodIP != "" || len(pod.Status.PodIPs) > 0) && (terminating || pod.DeletionTimestamp == nil)
}

// addresses are those of a pod in a family.
func addresses(pod *corev1.Pod, family corev1.IPFamily) (out []string) {
	for _, ip := range pod.Status.PodIPs {
		if a, err := netip.ParseAddr(ip.IP); err == nil && a.Is6() == (family == corev1.IPv6Protocol) {
			out = append(out, ip.IP)
		}
	}
	return out
}

// portOf finds the port of a pod that a port of a Service leads to; a name is looked up among the ports of its containers, those of sidecars too.
func portOf(pod *corev1.Pod, sp *corev1.ServicePort) (int32, bool) {
	if sp.TargetPort.Type == intstr.Int {
		return sp.TargetPort.IntVal, true
	}
	find := func(all []corev1.ContainerPort) (int32, bool) {
		for _, p := range all {
			if p.Name == sp.TargetPort.StrVal && p.Protocol == sp.Protocol {
				return p.ContainerPort, true
			}
		}
		return 0, false
	}
	for i := range pod.Spec.Containers {
		if n, ok := find(pod.Spec.Containers[i].Ports); ok {
			return n, true
		}
	}
	for i := range pod.Spec.InitContainers {
		if ic := &pod.Spec.InitContainers[i]; ic.RestartPolicy != nil && *ic.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			if n, ok := find(ic.Ports); ok {
				return n, true
			}
		}
	}
	return 0, false
}

// hostname is the name that a pod has in DNS under a Service; empty: none.
func hostname(pod *corev1.Pod, svc *corev1.Service) string {
	if pod.Spec.Subdomain == svc.Name && pod.Namespace == svc.Namespace {
		return pod.Spec.Hostname
	}
	return ""
}

func reference(pod *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: kinds.Pods.Kind, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// headless Services have no address of their own.
func headless(svc *corev1.Service) bool {
	return svc.Spec.ClusterIP == "" || svc.Spec.ClusterIP == corev1.ClusterIPNone
}

// byHash puts things into the order of the FNV-128a of their printed forms, as the ports of slices and the subsets of Endpoints stand in a real cluster.
func byHash[T any](list []T) []T {
	if len(list) < 2 {
		return list
	}
	type hashed struct {
		key  string
		item T
	}
	all := make([]hashed, len(list))
	for i, item := range list {
		h := fnv.New128a()
		fmt.Fprint(h, dump.ForHash(item))
		all[i] = hashed{string(h.Sum(nil)), item}
	}
	slices.SortStableFunc(all, func(a, b hashed) int { return cmp.Compare(a.key, b.key) })
	for i := range all {
		list[i] = all[i].item
	}
	return list
}
