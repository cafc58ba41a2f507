//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	// addressesMax of Endpoints; what is more is cut off and said so in the annotation.
	addressesMax  = 1000
	managedByKey  = "endpoints.kubernetes.io/managed-by"
	managedByThis = "endpoint-controller"
)

// leaderAnnotation marks Endpoints that a program of old keeps to agree on a leader.
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// Endpoints is the endpoints controller. Its keys are Services.
type Endpoints struct {
	in       *informers.Informers
	recorder *record.Recorder
	triggers triggers
	// replaced are the versions that this controller wrote over: a picture that still shows one is too old to work from.
	replaced map[kubeapi.Key]string
	*reconcile.Controller
}

// NewEndpoints makes the controller and registers its handlers; the informers must not have been started yet.
func NewEndpoints(pr *kubeapi.Process, in *informers.Informers) *Endpoints {
	c := &Endpoints{in: in, recorder: record.New(pr, "endpoint-controller"), triggers: triggers{}, replaced: map[kubeapi.Key]string{}}
	c.Controller = reconcile.New(pr, "endpoint", c)
	in.Services.Handle(func(ch kubeapi.Change[*corev1.Service]) { c.Add(ch.Key(), ch.Cause) })
	in.Pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) { wake(in, ch, c.Add) })
	in.Endpoints.Handle(func(ch kubeapi.Change[*corev1.Endpoints]) {
		if ch.Type == event.Deleted {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then. Endpoints whose Service went while nobody led are looked at once.
func (c *Endpoints) Start() {
	c.Controller.Start(Workers)
	c.in.Endpoints.Each(func(e *corev1.Endpoints) bool {
		if _, elects := e.Annotations[leaderAnnotation]; !elects {
			c.Add(kubeapi.KeyOf(e), 0)
		}
		return true
	})
}

// Reconcile writes the Endpoints of one Service.
func (c *Endpoints) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	have, exist := c.in.Endpoints.Get(key)
	svc, ok := c.in.Services.Get(key)
	if !ok {
		delete(c.triggers, key)
		delete(c.replaced, key)
		if !exist {
			return reconcile.Done, nil
		}
		ps.Decide("delete endpoints %s: their service is gone", have.Name)
		if err := kubeapi.Remove(ps.Proc, ps.Client, kinds.Endpoints, have.Namespace, have.Name, nil); kubeapi.IgnoreNotFound(err) != nil {
			return reconcile.Done, fmt.Errorf("delete endpoints %s: %w", key, err)
		}
		return reconcile.Done, nil
	}
	if !leads(svc) {
		return reconcile.Done, nil
	}
	pods := selected(c.in, svc)
	trigger := c.triggers.since(key, svc, pods)
	next := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name}}
	if exist {
		if have.ResourceVersion == c.replaced[key] {
			return reconcile.Done, fmt.Errorf("endpoints informer cache is out of date, resource version %s already processed for endpoints %s", have.ResourceVersion, key)
		}
		next = have.DeepCopy()
	}
	next.Subsets = subsets(svc, pods)
	cut := truncate(next.Subsets)
	next.Labels = maps.Clone(svc.Labels)
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	next.Labels[managedByKey] = managedByThis
	if _, over := next.Annotations[corev1.EndpointsOverCapacity]; exist && over == cut && apiequality.Semantic.DeepEqual(have.Subsets, next.Subsets) && maps.Equal(beside(have.Labels), beside(next.Labels)) {
		return reconcile.Done, nil
	}
	if delete(next.Labels, corev1.IsHeadlessService); headless(svc) {
		next.Labels[corev1.IsHeadlessService] = ""
	}
	stamp(next, trigger)
	if delete(next.Annotations, corev1.EndpointsOverCapacity); cut {
		if next.Annotations == nil {
			next.Annotations = map[string]string{}
		}
		next.Annotations[corev1.EndpointsOverCapacity] = "truncated"
	}
	ready, waiting := 0, 0
	for _, s := range next.Subsets {
		ready, waiting = ready+len(s.Addresses), waiting+len(s.NotReadyAddresses)
	}
	ps.Decide("write endpoints %s: %d ready, %d not ready", svc.Name, ready, waiting)
	if !exist {
		_, err := kubeapi.Make(ps.Proc, ps.Client, next)
		if err == nil || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return reconcile.Done, nil
		}
		c.recorder.Eventf(ps.Proc, next, corev1.EventTypeWarning, "FailedToCreateEndpoint", "Failed to create endpoint for service %s: %v", key, err)
		return reconcile.Done, fmt.Errorf("create endpoints %s: %w", key, err)
	}
	stored, err := kubeapi.Replace(ps.Proc, ps.Client, next)
	if err != nil {
		c.recorder.Eventf(ps.Proc, next, corev1.EventTypeWarning, "FailedToUpdateEndpoint", "Failed to update endpoint %s: %v", key, err)
		return reconcile.Done, fmt.Errorf("update endpoints %s: %w", key, err)
	}
	if stored.ResourceVersion != have.ResourceVersion {
		c.replaced[key] = have.ResourceVersion
	}
	return reconcile.Done, nil
}

// beside are labels but for the one that says headless, which alone is no reason to write.
func beside(labels map[string]string) map[string]string {
	if _, ok := labels[corev1.IsHeadlessService]; !ok {
		return labels
	}
	out := maps.Clone(labels)
	delete(out, corev1.IsHeadlessService)
	return out
}

// subsets are the addresses of pods by the ports that they have.
func subsets(svc *corev1.Service, pods []*corev1.Pod) []corev1.EndpointSubset {
	family := corev1.IPv4Protocol
	if len(svc.Spec.IPFamilies) > 0 {
		family = svc.Spec.IPFamilies[0]
	}
	by := map[corev1.EndpointPort]*corev1.EndpointSubset{}
	var list []*corev1.EndpointSubset
	put := func(port corev1.EndpointPort, ports []corev1.EndpointPort, a corev1.EndpointAddress, ready bool) {
		s := by[port]
		if s == nil {
			s = &corev1.EndpointSubset{Ports: ports}
			by[port] = s
			list = append(list, s)
		}
		if ready {
			s.Addresses = append(s.Addresses, a)
		} else {
			s.NotReadyAddresses = append(s.NotReadyAddresses, a)
		}
	}
	for _, pod := range pods {
		ips := addresses(pod, family)
		if len(ips) == 0 || !belongs(pod, svc.Spec.PublishNotReadyAddresses) {
			continue
		}
		a := corev1.EndpointAddress{IP: ips[0], NodeName: &pod.Spec.NodeName, Hostname: hostname(pod, svc), TargetRef: reference(pod)}
		ready := svc.Spec.PublishNotReadyAddresses || kinds.PodIsReady(pod)
		if len(svc.Spec.Ports) == 0 && svc.Spec.ClusterIP == corev1.ClusterIPNone {
			put(corev1.EndpointPort{}, nil, a, ready)
		}
		for i := range svc.Spec.Ports {
			sp := &svc.Spec.Ports[i]
			if n, ok := portOf(pod, sp); ok {
				port := corev1.EndpointPort{Name: sp.Name, Port: n, Protocol: sp.Protocol, AppProtocol: sp.AppProtocol}
				put(port, []corev1.EndpointPort{port}, a, ready)
			}
		}
	}
	return repack(list)
}

// repack brings subsets into the form that everybody expects: each port with all that have it, ports of the same addresses together, an address that is ready and not ready taken for not ready, all in
// a fixed order (k/k pkg/api/v1/endpoints: RepackSubsets).
func repack(list []*corev1.EndpointSubset) (out []corev1.EndpointSubset) {
	type owner struct {
		ip  string
		uid types.UID
	}
	type port struct {
		name, app string
		number    int32
		protocol  corev1.Protocol
	}
	type having struct {
		port  *corev1.EndpointPort
		ready map[int]bool // by index of addresses
	}
	var addresses []*corev1.EndpointAddress
	index := map[owner]int{}
	by := map[port]*having{}
	var order []*having
	for _, s := range list {
		ports := make([]*corev1.EndpointPort, 0, max(1, len(s.Ports)))
		for i := range s.Ports {
			ports = append(ports, &s.Ports[i])
		}
		if len(ports) == 0 {
			ports = append(ports, nil) // addresses without ports are kept
		}
		for _, p := range ports {
			key := port{}
			if p != nil {
				key = port{p.Name, value(p.AppProtocol), p.Port, p.Protocol}
			}
			h := by[key]
			if h == nil {
				h = &having{port: p, ready: make(map[int]bool, len(s.Addresses)+len(s.NotReadyAddresses))}
				by[key] = h
				order = append(order, h)
			}
			add := func(a *corev1.EndpointAddress, ready bool) {
				id := owner{ip: a.IP, uid: value(a.TargetRef).UID}
				n, ok := index[id]
				if !ok {
					n = len(addresses)
					index[id], addresses = n, append(addresses, a)
				}
				was, ok := h.ready[n]
				h.ready[n] = ready && (was || !ok)
			}
			for i := range s.Addresses {
				add(&s.Addresses[i], true)
			}
			for i := range s.NotReadyAddresses {
				add(&s.NotReadyAddresses[i], false)
			}
		}
	}
	sorted := make([]int, len(addresses))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int {
		x, y := addresses[a], addresses[b]
		return cmp.Or(cmp.Compare(x.IP, y.IP), cmp.Compare(value(x.TargetRef).UID, value(y.TargetRef).UID))
	})
	together := map[string]int{}
	for _, h := range order {
		var who []byte
		s := corev1.EndpointSubset{}
		for _, n := range sorted {
			ready, ok := h.ready[n]
			switch {
			case !ok:
				continue
			case ready:
				s.Addresses = append(s.Addresses, *addresses[n])
			default:
				s.NotReadyAddresses = append(s.NotReadyAddresses, *addresses[n])
			}
			who = strconv.AppendBool(strconv.AppendInt(who, int64(n), 10), ready)
		}
		i, ok := together[string(who)]
		if !ok {
			i = len(out)
			together[string(who)], out = i, append(out, s)
		}
		if h.port != nil {
			out[i].Ports = append(out[i].Ports, *h.port)
		}
	}
	for i := range out {
		out[i].Ports = byHash(out[i].Ports)
	}
	return byHash(out)
}

// truncate cuts off what is more than Endpoints hold: of each subset in proportion, and those that are not ready first. It reports that it had to.
func truncate(list []corev1.EndpointSubset) bool {
	ready, waiting := 0, 0
	for i := range list {
		ready, waiting = ready+len(list[i].Addresses), waiting+len(list[i].NotReadyAddresses)
	}
	if ready+waiting <= addressesMax {
		return false
	}
	of := func(s *corev1.EndpointSubset) *[]corev1.EndpointAddress { return &s.NotReadyAddresses }
	total, room := waiting, addressesMax-ready
	if ready > addressesMax {
		of = func(s *corev1.EndpointSubset) *[]corev1.EndpointAddress { return &s.Addresses }
		total, room = ready, addressesMax
	}
	left := room
	for i := range list {
		if ready > addressesMax {
			list[i].NotReadyAddresses = nil
		}
		a := of(&list[i])
		n := min(left, len(*a), int(math.Ceil(float64(len(*a))/float64(total)*float64(room))))
		*a = (*a)[:n]
		left -= n
	}
	return true
}
