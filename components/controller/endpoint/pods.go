// Package endpoint says where Services lead: the addresses of the pods that their selectors match. Two controllers work from the same rules: one writes EndpointSlices (k/k
// pkg/controller/endpointslice and k8s.io/endpointslice; fidelity EPS-1, EPS-2), the other the Endpoints of old clients (k/k pkg/controller/endpoint).
//
// A slice lists pods that are not ready too, and says so; Endpoints keep them apart. Slices go with their Service by their owner reference, Endpoints are deleted here.
//
// Not here: Endpoints that people write for a Service without a selector get no slices, and the times of the changes that led to a write are not noted in annotations.
//
// Owns: the EndpointSlices and Endpoints of Services with selectors. Imports of ours: components/kubeapi and its record, components/reconcile, components/controller/informers, engine/event,
// engine/kinds. Goroutines: the loop. Time: simulated.
package endpoint

import (
	"maps"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many Services each of the two works on at a time (--concurrent-service-endpoint-syncs, --concurrent-endpoint-syncs).
const Workers = 5

// wake calls add for the Services that a change of a pod may concern.
func wake(in *informers.Informers, ch kubeapi.Change[*corev1.Pod], add func(kubeapi.Key, event.Seq)) {
	if ch.Type == event.Modified && !tells(ch.Old, ch.New) {
		return
	}
	namespace := ""
	for _, pod := range []*corev1.Pod{ch.Old, ch.New} {
		if pod != nil {
			namespace = pod.Namespace
		}
	}
	for _, svc := range in.Services.ByIndex(informers.ByNamespace, namespace) {
		if len(svc.Spec.Selector) == 0 {
			continue
		}
		sel := labels.SelectorFromValidatedSet(svc.Spec.Selector)
		if ch.Old != nil && sel.Matches(labels.Set(ch.Old.Labels)) || ch.New != nil && sel.Matches(labels.Set(ch.New.Labels)) {
			add(kubeapi.KeyOf(svc), ch.Cause)
		}
	}
}

// tells reports that a change of a pod may change where a Service leads.
func tells(old, pod *corev1.Pod) bool {
	return old.UID != pod.UID || !maps.Equal(old.Labels, pod.Labels) || (old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil) || kinds.PodIsReady(old) != kinds.PodIsReady(pod) ||
		kinds.PodEnded(old) != kinds.PodEnded(pod) || old.Spec.NodeName != pod.Spec.NodeName || old.Spec.Hostname != pod.Spec.Hostname || old.Spec.Subdomain != pod.Spec.Subdomain ||
		!apiequality.Semantic.DeepEqual(old.Status.PodIPs, pod.Status.PodIPs)
}

// leads reports that somebody here says where a Service leads: it has a selector and is no mere name of something elsewhere.
func leads(svc *corev1.Service) bool {
	return svc.Spec.Type != corev1.ServiceTypeExternalName && len(svc.Spec.Selector) > 0
}

// selected lists the pods behind a Service that have an address and have not ended.
func selected(in *informers.Informers, svc *corev1.Service) (out []*corev1.Pod) {
	sel := labels.SelectorFromValidatedSet(svc.Spec.Selector)
	for _, pod := range in.Pods.ByIndex(informers.ByNamespace, svc.Namespace) {
		if sel.Matches(labels.Set(pod.Labels)) && !kinds.PodEnded(pod) && (pod.Status.PodIP != "" || len(pod.Status.PodIPs) > 0) {
			out = append(out, pod)
		}
	}
	return out
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
