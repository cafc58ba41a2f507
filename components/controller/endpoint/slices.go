package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	// echo is how long a slice that was written is waited for in the picture.
	echo = time.Minute
)

// reserved labels of a slice are not taken from its Service.
var reserved = []string{discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy, corev1.IsHeadlessService}

// Slices is the endpointslice controller. Its keys are Services.
type Slices struct {
	in       *informers.Informers
	recorder *record.Recorder
	// written are the slices that this controller wrote and has not seen since, by Service: until they show, a pass would write them again.
	written map[kubeapi.Key]map[types.UID]mark
	*reconcile.Controller
}

type mark struct {
	generation int64
	at         time.Time
}

// NewSlices makes the controller and registers its handlers; the informers must not have been started yet.
func NewSlices(pr *kubeapi.Process, in *informers.Informers) *Slices {
	c := &Slices{in: in, recorder: record.New(pr, "endpoint-slice-controller"), written: map[kubeapi.Key]map[types.UID]mark{}}
	c.Controller = reconcile.New(pr, "endpoint_slice", c)
	in.Services.Handle(func(ch kubeapi.Change[*corev1.Service]) {
		if ch.Type == event.Deleted {
			delete(c.written, ch.Key()) // the slices go by their owner reference
			return
		}
		c.Add(ch.Key(), ch.Cause)
	})
	in.Pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) { wake(in, ch, c.Add) })
	in.EndpointSlices.Handle(c.sliceChanged)
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Slices) Start() { c.Controller.Start(Workers) }

func mine(s *discoveryv1.EndpointSlice) bool {
	return s.Labels[discoveryv1.LabelManagedBy] == managedBy
}

func serviceOf(s *discoveryv1.EndpointSlice) kubeapi.Key {
	return kubeapi.MakeKey(s.Namespace, s.Labels[discoveryv1.LabelServiceName])
}

// sliceChanged wakes the Service of a slice that somebody else changed.
func (c *Slices) sliceChanged(ch kubeapi.Change[*discoveryv1.EndpointSlice]) {
	if ch.Old != nil && mine(ch.Old) && (ch.Type == event.Deleted || serviceOf(ch.Old) != serviceOf(ch.New)) {
		delete(c.written[serviceOf(ch.Old)], ch.Old.UID)
		c.Add(serviceOf(ch.Old), ch.Cause)
	}
	if ch.Type == event.Deleted || !mine(ch.New) {
		return
	}
	key := serviceOf(ch.New)
	m, ours := c.written[key][ch.New.UID]
	if ours && ch.New.Generation >= m.generation {
		delete(c.written[key], ch.New.UID)
	}
	if !ours || ch.New.Generation > m.generation {
		c.Add(key, ch.Cause)
	}
}

// note remembers a slice that was just written, unless the picture has it already.
func (c *Slices) note(key kubeapi.Key, s *discoveryv1.EndpointSlice, now time.Time) {
	if seen, ok := c.in.EndpointSlices.Get(kubeapi.KeyOf(s)); ok && seen.UID == s.UID && seen.Generation >= s.Generation {
		return
	}
	if c.written[key] == nil {
		c.written[key] = map[types.UID]mark{}
	}
	c.written[key][s.UID] = mark{s.Generation, now}
}

func (c *Slices) stale(key kubeapi.Key, now time.Time) bool {
	for uid, m := range c.written[key] {
		if now.Sub(m.at) < echo {
			return true
		}
		delete(c.written[key], uid)
	}
	return false
}

// Reconcile brings the slices of one Service to what its pods are.
func (c *Slices) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	svc, ok := c.in.Services.Get(key)
	if !ok || !leads(svc) || svc.DeletionTimestamp != nil {
		return reconcile.Done, nil
	}
	if c.stale(key, ps.Now()) {
		return reconcile.Result{After: time.Second, Why: "slices that were written just now are not seen yet"}, nil
	}
	var have []*discoveryv1.EndpointSlice
	for _, s := range c.in.EndpointSlices.ByIndex(informers.ByService, string(key)) {
		if mine(s) && s.DeletionTimestamp == nil {
			have = append(have, s)
		}
	}
	pods, homeless := c.placed(selected(c.in, svc), svc)
	var do change
	for _, family := range svc.Spec.IPFamilies {
		do.add(plan(svc, family, have, c.wanted(svc, family, pods)))
	}
	for _, s := range have { // of a family that the Service no longer has
		if !slices.ContainsFunc(svc.Spec.IPFamilies, func(f corev1.IPFamily) bool { return addressType(f) == s.AddressType }) {
			do.remove = append(do.remove, s)
		}
	}
	if err := c.carry(ps, key, svc, do); err != nil {
		if !apierrors.IsConflict(err) {
			c.recorder.Eventf(ps.Proc, svc, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices", "Error updating Endpoint Slices for Service %s: %v", key, err)
		}
		return reconcile.Done, err
	}
	if homeless != nil {
		return reconcile.Done, homeless
	}
	return reconcile.Done, nil
}

// placed are the pods whose machines are known: the slice says where a pod is. Others are left out and tried again, unless the Service shows pods in any state.
func (c *Slices) placed(pods []*corev1.Pod, svc *corev1.Service) (out []*corev1.Pod, homeless error) {
	for _, pod := range pods {
		if _, ok := c.in.Nodes.Get(kubeapi.Key(pod.Spec.NodeName)); !ok && !svc.Spec.PublishNotReadyAddresses {
			homeless = fmt.Errorf("skipping Pod %s for Service %s: Node %s Not Found", pod.Name, kubeapi.KeyOf(svc), pod.Spec.NodeName)
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
	for _, pod := range pods {
		ips := addresses(pod, family)
		if len(ips) == 0 {
			continue
		}
		ports := portsOf(pod, svc)
		key := portsKey(ports)
		g := by[key]
		if g == nil {
			g = &group{ports: ports}
			by[key] = g
		}
		g.endpoints = append(g.endpoints, c.endpoint(svc, pod, ips))
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

func portsOf(pod *corev1.Pod, svc *corev1.Service) []discoveryv1.EndpointPort {
	ports := []discoveryv1.EndpointPort{}
	for i := range svc.Spec.Ports {
		sp := &svc.Spec.Ports[i]
		if n, ok := portOf(pod, sp); ok {
			ports = append(ports, discoveryv1.EndpointPort{Name: &sp.Name, Port: &n, Protocol: &sp.Protocol, AppProtocol: sp.AppProtocol})
		}
	}
	return ports
}

func portsKey(ports []discoveryv1.EndpointPort) string {
	var all []string
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
// is left, then new ones. A Service without endpoints has one empty slice. Pure.
func plan(svc *corev1.Service, family corev1.IPFamily, have []*discoveryv1.EndpointSlice, wanted []*group) change {
	var d change
	by := map[string][]*discoveryv1.EndpointSlice{}
	count := 0
	for _, s := range have {
		if s.AddressType != addressType(family) {
			continue
		}
		count++
		by[portsKey(s.Ports)] = append(by[portsKey(s.Ports)], s)
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
		if len(d.remove) == 1 && len(d.remove[0].Endpoints) == 0 && len(d.remove[0].Ports) == 0 && maps.Equal(d.remove[0].Labels, empty.Labels) {
			d.remove = nil
		} else {
			d.create = append(d.create, empty)
		}
	}
	for len(d.create) > 0 && len(d.remove) > 0 { // rather write one anew than delete it and make another
		n, old := d.create[0], d.remove[0]
		n.ObjectMeta = metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name, ResourceVersion: old.ResourceVersion, Labels: n.Labels, Annotations: old.Annotations, OwnerReferences: n.OwnerReferences}
		d.update, d.create, d.remove = append(d.update, n), d.create[1:], d.remove[1:]
	}
	return d
}

// fill does so for the slices of one set of ports.
func fill(svc *corev1.Service, family corev1.IPFamily, have []*discoveryv1.EndpointSlice, g *group) change {
	var d change
	left := map[string]discoveryv1.Endpoint{}
	order := make([]string, 0, len(g.endpoints))
	for _, e := range g.endpoints {
		id := string(e.TargetRef.UID)
		left[id] = e
		order = append(order, id)
	}
	var same []*discoveryv1.EndpointSlice
	labels := blank(svc, family, nil).Labels
	for _, s := range have {
		var keep []discoveryv1.Endpoint
		changed := !maps.Equal(s.Labels, labels)
		for _, e := range s.Endpoints {
			id := ""
			if e.TargetRef != nil {
				id = string(e.TargetRef.UID)
			}
			w, ok := left[id]
			if !ok {
				changed = true
				continue
			}
			delete(left, id)
			changed = changed || !apiequality.Semantic.DeepEqual(e, w)
			keep = append(keep, w)
		}
		switch {
		case len(keep) == 0:
			d.remove = append(d.remove, s)
		case changed:
			n := s.DeepCopy()
			n.Endpoints, n.Labels = keep, labels
			d.update = append(d.update, n)
		default:
			same = append(same, s)
		}
	}
	rest := slices.DeleteFunc(order, func(id string) bool { _, ok := left[id]; return !ok })
	put := func(s *discoveryv1.EndpointSlice) {
		n := min(len(rest), endpointsMax-len(s.Endpoints))
		for _, id := range rest[:max(n, 0)] {
			s.Endpoints = append(s.Endpoints, left[id])
		}
		rest = rest[max(n, 0):]
	}
	slices.SortStableFunc(d.update, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(len(b.Endpoints), len(a.Endpoints)) }) // fullest first
	for _, s := range d.update {
		put(s)
	}
	if len(rest) > 0 && len(rest) < endpointsMax {
		var best *discoveryv1.EndpointSlice
		for _, s := range same {
			if len(s.Endpoints)+len(rest) <= endpointsMax && (best == nil || len(s.Endpoints) > len(best.Endpoints)) {
				best = s
			}
		}
		if best != nil {
			n := best.DeepCopy()
			put(n)
			d.update = append(d.update, n)
		}
	}
	for len(rest) > 0 {
		n := blank(svc, family, g.ports)
		put(n)
		d.create = append(d.create, n)
	}
	return d
}

// blank is a slice of a Service without endpoints.
func blank(svc *corev1.Service, family corev1.IPFamily, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	labels := map[string]string{}
	for k, v := range svc.Labels {
		if !slices.Contains(reserved, k) {
			labels[k] = v
		}
	}
	labels[discoveryv1.LabelServiceName], labels[discoveryv1.LabelManagedBy] = svc.Name, managedBy
	if headless(svc) {
		labels[corev1.IsHeadlessService] = ""
	}
	prefix := svc.Name + "-"
	if len(validation.NameIsDNSSubdomain(prefix, true)) > 0 {
		prefix = svc.Name
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, GenerateName: prefix, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(svc, kinds.Services.GVK())}},
		AddressType: addressType(family), Ports: ports, Endpoints: []discoveryv1.Endpoint{},
	}
}

// carry writes what was planned.
func (c *Slices) carry(ps *reconcile.Pass, key kubeapi.Key, svc *corev1.Service, d change) error {
	for _, s := range d.create {
		ps.Decide("create a slice of service %s with %s", svc.Name, told(s))
		made, err := kubeapi.Make(ps.Proc, ps.Client, s)
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("failed to create EndpointSlice for Service %s: %w", key, err)
		}
		c.note(key, made, ps.Now())
	}
	for _, s := range d.update {
		ps.Decide("write slice %s: %s", s.Name, told(s))
		stored, err := kubeapi.Replace(ps.Proc, ps.Client, s)
		if err != nil {
			return fmt.Errorf("failed to update %s EndpointSlice for Service %s: %w", s.Name, key, err)
		}
		c.note(key, stored, ps.Now())
	}
	for _, s := range d.remove {
		ps.Decide("delete slice %s: nothing is left in it", s.Name)
		if err := kubeapi.Remove(ps.Proc, ps.Client, kinds.EndpointSlices, s.Namespace, s.Name, nil); kubeapi.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s EndpointSlice for Service %s: %w", s.Name, key, err)
		}
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
