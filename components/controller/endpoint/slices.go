package endpoint

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

const (
	// endpointsMax of a slice (--max-endpoints-per-slice).
	endpointsMax = 100
	managedBy    = "endpointslice-controller.k8s.io"
)

// reserved labels of a slice are not taken from its Service.
var reserved = []string{discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy, corev1.IsHeadlessService}

// Slices is the endpointslice controller. Its keys are Services.
type Slices struct {
	in       *informers.Informers
	recorder *record.Recorder
	owned    *owned
	triggers triggers
	*reconcile.Controller
}

// NewSlices makes the controller and registers its handlers; the informers must not have been started yet.
func NewSlices(pr *kubeapi.Process, in *informers.Informers) *Slices {
	c := &Slices{in: in, recorder: record.New(pr, "endpoint-slice-controller"), triggers: triggers{}}
	c.Controller = reconcile.New(pr, "endpoint_slice", c)
	in.Services.Handle(func(ch kubeapi.Change[*corev1.Service]) { c.Add(ch.Key(), ch.Cause) })
	in.Pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) { wake(in, ch, c.Add) })
	c.owned = newOwned(in, managedBy, func(key kubeapi.Key, cause event.Seq) {
		c.AddAfter(key, settle, cause, "somebody else changed a slice")
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Slices) Start() { c.Controller.Start(Workers) }

// Reconcile brings the slices of one Service to what its pods are. Those of a Service that is gone go by their owner reference.
func (c *Slices) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	svc, ok := c.in.Services.Get(key)
	if !ok {
		c.owned.forget(key)
		delete(c.triggers, key)
		return reconcile.Done, nil
	}
	if !leads(svc) {
		return reconcile.Done, nil
	}
	have := c.owned.of(key)
	if c.owned.stale(key, have, ps.Now()) {
		return reconcile.Result{After: staleRetry, Why: "slices that were written just now are not seen yet"}, nil
	}
	pods := selected(c.in, svc)
	trigger := c.triggers.since(key, svc, pods)
	pods, homeless := c.placed(pods, svc)
	var do change
	for _, family := range svc.Spec.IPFamilies {
		do.add(plan(svc, family, have, c.wanted(svc, family, pods)))
	}
	for _, s := range have { // of a family that the Service no longer has
		if !slices.ContainsFunc(svc.Spec.IPFamilies, func(f corev1.IPFamily) bool { return addressType(f) == s.AddressType }) {
			do.remove = append(do.remove, s)
		}
	}
	err := errors.Join(c.carry(ps, key, svc, do, trigger), homeless)
	if err != nil {
		c.recorder.Eventf(ps.Proc, svc, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices", "Error updating Endpoint Slices for Service %s: %v", key, err)
	}
	return reconcile.Done, err
}

// placed are the pods that have an address and whose machines are known: the slice says where a pod is. Others are left out and tried again, unless the Service shows pods in any state.
func (c *Slices) placed(pods []*corev1.Pod, svc *corev1.Service) (out []*corev1.Pod, homeless error) {
	for _, pod := range pods {
		if !belongs(pod, true) {
			continue
		}
		if _, ok := c.in.Nodes.Get(kubeapi.Key(pod.Spec.NodeName)); !ok && !svc.Spec.PublishNotReadyAddresses {
			homeless = errors.Join(homeless, fmt.Errorf("skipping Pod %s for Service %s: Node %s Not Found", pod.Name, kubeapi.KeyOf(svc), pod.Spec.NodeName))
			continue
		}
		out = append(out, pod)
	}
	return out, homeless
}

// group is what is to be in slices of the same ports.
type group struct {
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// wanted are the endpoints of a family, by the ports that they share, in a fixed order.
func (c *Slices) wanted(svc *corev1.Service, family corev1.IPFamily, pods []*corev1.Pod) (out []*group) {
	by := map[string]*group{}
	numbers := make([]byte, 0, 5*len(svc.Spec.Ports))
	for _, pod := range pods {
		ips := addresses(pod, family)
		if len(ips) == 0 {
			continue
		}
		numbers = numbers[:0]
		for i := range svc.Spec.Ports {
			n, _ := portOf(pod, &svc.Spec.Ports[i]) // 0: it has no such port
			numbers = binary.AppendVarint(numbers, int64(n))
		}
		g := by[string(numbers)]
		if g == nil {
			g = &group{ports: portsOf(pod, svc)}
			by[string(numbers)] = g
		}
		g.endpoints = append(g.endpoints, c.endpoint(svc, pod, ips))
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

// portsOf are the ports of a pod that a Service leads to, in the order of a real slice.
func portsOf(pod *corev1.Pod, svc *corev1.Service) []discoveryv1.EndpointPort {
	ports := []discoveryv1.EndpointPort{}
	for i := range svc.Spec.Ports {
		sp := &svc.Spec.Ports[i]
		if n, ok := portOf(pod, sp); ok {
			ports = append(ports, discoveryv1.EndpointPort{Name: &sp.Name, Port: &n, Protocol: &sp.Protocol, AppProtocol: sp.AppProtocol})
		}
	}
	return byHash(ports)
}

// portsKey is the same for the same ports in whatever order.
func portsKey(ports []discoveryv1.EndpointPort) string {
	all := make([]string, 0, len(ports))
	for _, p := range ports {
		all = append(all, fmt.Sprintf("%s %d %s %s", value(p.Name), value(p.Port), value(p.Protocol), value(p.AppProtocol)))
	}
	slices.Sort(all)
	return strings.Join(all, ";")
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// endpoint is how a pod stands in a slice.
func (c *Slices) endpoint(svc *corev1.Service, pod *corev1.Pod, ips []string) discoveryv1.Endpoint {
	serving, terminating := kinds.PodIsReady(pod), pod.DeletionTimestamp != nil
	ready := svc.Spec.PublishNotReadyAddresses || serving && !terminating
	e := discoveryv1.Endpoint{Addresses: ips, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating}, TargetRef: reference(pod)}
	if name := pod.Spec.NodeName; name != "" {
		e.NodeName = &name
	}
	if node, ok := c.in.Nodes.Get(kubeapi.Key(pod.Spec.NodeName)); ok {
		if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
			e.Zone = &zone
		}
	}
	if name := hostname(pod, svc); name != "" {
		e.Hostname = &name
	}
	if ready {
		e.Hints = hints(svc, &e)
	}
	return e
}

// hints are for whom an endpoint is, where the Service wants its traffic kept near.
func hints(svc *corev1.Service, e *discoveryv1.Endpoint) *discoveryv1.EndpointHints {
	h := &discoveryv1.EndpointHints{}
	switch value(svc.Spec.TrafficDistribution) {
	case corev1.ServiceTrafficDistributionPreferSameNode:
		if e.NodeName != nil {
			h.ForNodes = []discoveryv1.ForNode{{Name: *e.NodeName}}
		}
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone:
	default:
		return nil
	}
	if e.Zone != nil {
		h.ForZones = []discoveryv1.ForZone{{Name: *e.Zone}}
	}
	if len(h.ForNodes) == 0 && len(h.ForZones) == 0 {
		return nil
	}
	return h
}

func addressType(f corev1.IPFamily) discoveryv1.AddressType { return discoveryv1.AddressType(f) }

// change is what is to be written.
type change struct{ create, update, remove []*discoveryv1.EndpointSlice }

func (d *change) add(o change) {
	d.create, d.update, d.remove = append(d.create, o.create...), append(d.update, o.update...), append(d.remove, o.remove...)
}

// plan brings the slices of a family to what is wanted with few writes: what stands in a slice stays there, room in slices that are written anyway is filled first, then a slice with room for all that
// is left, then new ones. A Service without endpoints has one empty slice. Slices of an older Service of the same name are not touched but to delete them. Pure.
func plan(svc *corev1.Service, family corev1.IPFamily, have []*discoveryv1.EndpointSlice, wanted []*group) change {
	var d change
	by := map[string][]*discoveryv1.EndpointSlice{}
	count := 0
	for _, s := range have {
		if s.AddressType != addressType(family) {
			continue
		}
		count++
		if of(s, svc) {
			by[portsKey(s.Ports)] = append(by[portsKey(s.Ports)], s)
		} else {
			d.remove = append(d.remove, s)
		}
	}
	for _, g := range wanted {
		key := portsKey(g.ports)
		d.add(fill(svc, family, by[key], g))
		delete(by, key)
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		d.remove = append(d.remove, by[key]...)
	}
	if count == len(d.remove) && len(d.create) == 0 {
		empty := blank(svc, family, []discoveryv1.EndpointPort{})
		if len(d.remove) == 1 && of(d.remove[0], svc) && len(d.remove[0].Endpoints) == 0 && len(d.remove[0].Ports) == 0 && maps.Equal(d.remove[0].Labels, empty.Labels) {
			d.remove = nil
		} else {
			d.create = append(d.create, empty)
		}
	}
	d.remove = slices.DeleteFunc(d.remove, func(old *discoveryv1.EndpointSlice) bool { // rather write one anew than delete it and make another
		last := len(d.create) - 1
		if last < 0 || !of(old, svc) {
			return false
		}
		d.create[last].Name = old.Name
		d.update, d.create = append(d.update, d.create[last]), d.create[:last]
		return true
	})
	return d
}

// of reports that a slice is owned by this Service, and not by one that had its name before.
func of(s *discoveryv1.EndpointSlice, svc *corev1.Service) bool {
	return slices.ContainsFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID == svc.UID && o.Kind == kinds.Services.Kind && o.APIVersion == "v1"
	})
}

// identity is what makes an endpoint of a slice the same as one that is wanted; the rest of it may have changed.
type identity struct{ addresses, hostname, namespace, name string }

func identify(e *discoveryv1.Endpoint) identity {
	id := identity{hostname: value(e.Hostname)}
	if id.addresses = strings.Join(e.Addresses, " "); len(e.Addresses) > 1 {
		id.addresses = strings.Join(slices.Sorted(slices.Values(e.Addresses)), " ")
	}
	if e.TargetRef != nil {
		id.namespace, id.name = e.TargetRef.Namespace, e.TargetRef.Name
	}
	return id
}

// alike compares what an endpoint is beyond its identity. A pod's version does not count.
func alike(a, b *discoveryv1.Endpoint) bool {
	return same(a.NodeName, b.NodeName) && same(a.Zone, b.Zone) && same(a.Conditions.Ready, b.Conditions.Ready) && same(a.Conditions.Serving, b.Conditions.Serving) &&
		same(a.Conditions.Terminating, b.Conditions.Terminating) && (a.TargetRef == nil) == (b.TargetRef == nil) && unversioned(a.TargetRef) == unversioned(b.TargetRef) &&
		(a.Hints == nil) == (b.Hints == nil) && slices.Equal(value(a.Hints).ForZones, value(b.Hints).ForZones) && slices.Equal(value(a.Hints).ForNodes, value(b.Hints).ForNodes)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func unversioned(ref *corev1.ObjectReference) corev1.ObjectReference {
	r := value(ref)
	r.ResourceVersion = ""
	return r
}

// endpoints are some that are wanted, in the order in which they are taken.
type endpoints struct {
	by    map[identity]*discoveryv1.Endpoint
	order []identity
}

func wantedSet(list []discoveryv1.Endpoint) *endpoints {
	w := &endpoints{by: make(map[identity]*discoveryv1.Endpoint, len(list)), order: make([]identity, 0, len(list))}
	for i := range list {
		id := identify(&list[i])
		if w.by[id] == nil {
			w.order = append(w.order, id)
		}
		w.by[id] = &list[i]
	}
	return w
}

// put moves as many as fit into a slice.
func (w *endpoints) put(s *discoveryv1.EndpointSlice, limit int) {
	for len(w.by) > 0 && len(s.Endpoints) < limit {
		id := w.order[0]
		w.order = w.order[1:]
		if e := w.by[id]; e != nil {
			s.Endpoints = append(s.Endpoints, *e)
			delete(w.by, id)
		}
	}
}

// fill does so for the slices of one set of ports.
func fill(svc *corev1.Service, family corev1.IPFamily, have []*discoveryv1.EndpointSlice, g *group) change {
	var d change
	left := wantedSet(g.endpoints)
	var unchanged []*discoveryv1.EndpointSlice
	for _, s := range have {
		keep := make([]discoveryv1.Endpoint, 0, len(s.Endpoints))
		changed := false
		for i := range s.Endpoints {
			id := identify(&s.Endpoints[i])
			w := left.by[id]
			if w == nil {
				changed = true
				continue
			}
			delete(left.by, id)
			changed = changed || !alike(&s.Endpoints[i], w)
			keep = append(keep, *w)
		}
		switch {
		case changed && len(keep) == 0:
			d.remove = append(d.remove, s)
		case changed || !maps.Equal(unreserved(s.Labels), unreserved(svc.Labels)):
			n := s.DeepCopy()
			n.Endpoints, n.Labels = keep, labelsOf(svc, managedBy)
			d.update = append(d.update, n)
		default:
			unchanged = append(unchanged, s)
		}
	}
	slices.SortStableFunc(d.update, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(len(b.Endpoints), len(a.Endpoints)) }) // fullest first
	for _, s := range d.update {
		left.put(s, endpointsMax)
	}
	if n := len(left.by); n > 0 && n < endpointsMax {
		var best *discoveryv1.EndpointSlice
		for _, s := range unchanged {
			if len(s.Endpoints)+n <= endpointsMax && (best == nil || len(s.Endpoints) > len(best.Endpoints)) {
				best = s
			}
		}
		if best != nil {
			s := best.DeepCopy()
			left.put(s, endpointsMax)
			d.update = append(d.update, s)
		}
	}
	for len(left.by) > 0 {
		s := blank(svc, family, g.ports)
		left.put(s, endpointsMax)
		d.create = append(d.create, s)
	}
	return d
}

// unreserved are the labels that a slice and its Service have in common.
func unreserved(labels map[string]string) map[string]string {
	if !slices.ContainsFunc(reserved, func(k string) bool { _, ok := labels[k]; return ok }) {
		return labels
	}
	out := maps.Clone(labels)
	for _, k := range reserved {
		delete(out, k)
	}
	return out
}

// labelsOf a slice: those of the Service, and what the slice is.
func labelsOf(svc *corev1.Service, by string) map[string]string {
	out := maps.Clone(unreserved(svc.Labels))
	if out == nil {
		out = map[string]string{}
	}
	if headless(svc) {
		out[corev1.IsHeadlessService] = ""
	}
	out[discoveryv1.LabelServiceName], out[discoveryv1.LabelManagedBy] = svc.Name, by
	return out
}

// prefix of the names of slices.
func prefix(service string) string {
	if p := service + "-"; len(validation.NameIsDNSSubdomain(p, true)) == 0 {
		return p
	}
	return service
}

// blank is a slice of a Service without endpoints.
func blank(svc *corev1.Service, family corev1.IPFamily, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, GenerateName: prefix(svc.Name), Labels: labelsOf(svc, managedBy),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(svc, kinds.Services.GVK())}},
		AddressType: addressType(family), Ports: ports, Endpoints: []discoveryv1.Endpoint{},
	}
}

// carry writes what was planned. A Service that is being deleted gets no new slices, which the garbage collector would have to go after.
func (c *Slices) carry(ps *reconcile.Pass, key kubeapi.Key, svc *corev1.Service, d change, trigger time.Time) error {
	for _, s := range d.create {
		if svc.DeletionTimestamp != nil {
			break
		}
		stamp(s, trigger)
		ps.Decide("create a slice of service %s with %s", svc.Name, told(s))
		made, err := kubeapi.Make(ps.Proc, ps.Client, s)
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("failed to create EndpointSlice for Service %s: %w", key, err)
		}
		c.owned.note(key, made, false, ps.Now())
	}
	for _, s := range d.update {
		stamp(s, trigger)
		ps.Decide("write slice %s: %s", s.Name, told(s))
		stored, err := kubeapi.Replace(ps.Proc, ps.Client, s)
		if err != nil {
			return fmt.Errorf("failed to update %s EndpointSlice for Service %s: %w", s.Name, key, err)
		}
		c.owned.note(key, stored, false, ps.Now())
	}
	for _, s := range d.remove {
		ps.Decide("delete slice %s: nothing is left in it", s.Name)
		if err := kubeapi.Remove(ps.Proc, ps.Client, kinds.EndpointSlices, s.Namespace, s.Name, nil); err != nil {
			return fmt.Errorf("failed to delete %s EndpointSlice for Service %s: %w", s.Name, key, err)
		}
		c.owned.note(key, s, true, ps.Now())
	}
	return nil
}

// told counts the endpoints of a slice, for people.
func told(s *discoveryv1.EndpointSlice) string {
	ready := 0
	for _, e := range s.Endpoints {
		if value(e.Conditions.Ready) {
			ready++
		}
	}
	return fmt.Sprintf("%d ready, %d not ready", ready, len(s.Endpoints)-ready)
}
