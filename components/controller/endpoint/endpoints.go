//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Endpoints is the endpoints controller. Its keys are Services.
type Endpoints struct {
	in       *informers.Informers
	recorder *record.Recorder
	*reconcile.Controller
}

// NewEndpoints makes the controller and registers its handlers; the informers must not have been started yet.
func NewEndpoints(pr *kubeapi.Process, in *informers.Informers) *Endpoints {
	c := &Endpoints{in: in, recorder: record.New(pr, "endpoint-controller")}
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
		c.Add(kubeapi.KeyOf(e), 0)
		return true
	})
}

// Reconcile writes the Endpoints of one Service.
func (c *Endpoints) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	have, exist := c.in.Endpoints.Get(key)
	svc, ok := c.in.Services.Get(key)
	if !ok {
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
	next := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name}}
	if exist {
		next = have.DeepCopy()
	}
	var cut bool
	next.Subsets, cut = subsets(svc, selected(c.in, svc))
	next.Labels = maps.Clone(svc.Labels)
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	next.Labels[managedByKey] = managedByThis
	if delete(next.Labels, corev1.IsHeadlessService); headless(svc) {
		next.Labels[corev1.IsHeadlessService] = ""
	}
	if delete(next.Annotations, corev1.EndpointsOverCapacity); cut {
		if next.Annotations == nil {
			next.Annotations = map[string]string{}
		}
		next.Annotations[corev1.EndpointsOverCapacity] = "truncated"
	}
	if exist && apiequality.Semantic.DeepEqual(have.Subsets, next.Subsets) && maps.Equal(have.Labels, next.Labels) && maps.Equal(have.Annotations, next.Annotations) {
		return reconcile.Done, nil
	}
	ready, waiting := 0, 0
	for _, s := range next.Subsets {
		ready, waiting = ready+len(s.Addresses), waiting+len(s.NotReadyAddresses)
	}
	ps.Decide("write endpoints %s: %d ready, %d not ready", svc.Name, ready, waiting)
	verb, reason, err := "update", "FailedToUpdateEndpoint", error(nil)
	if exist {
		_, err = kubeapi.Replace(ps.Proc, ps.Client, next)
	} else {
		verb, reason = "create", "FailedToCreateEndpoint"
		_, err = kubeapi.Make(ps.Proc, ps.Client, next)
	}
	switch {
	case err == nil || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return reconcile.Done, nil
	case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
		c.recorder.Eventf(ps.Proc, svc, corev1.EventTypeWarning, reason, "Failed to %s endpoint for service %s: %v", verb, key, err)
	}
	return reconcile.Done, fmt.Errorf("%s endpoints %s: %w", verb, key, err)
}

// subsets are the addresses of pods by the ports that they share, each in a fixed order. cut: there were more than fit.
func subsets(svc *corev1.Service, pods []*corev1.Pod) (out []corev1.EndpointSubset, cut bool) {
	family := corev1.IPv4Protocol
	if len(svc.Spec.IPFamilies) > 0 {
		family = svc.Spec.IPFamilies[0]
	}
	by := map[string]*corev1.EndpointSubset{}
	for _, pod := range pods {
		ips := addresses(pod, family)
		if len(ips) == 0 || pod.DeletionTimestamp != nil && !svc.Spec.PublishNotReadyAddresses {
			continue
		}
		var ports []corev1.EndpointPort
		for i := range svc.Spec.Ports {
			sp := &svc.Spec.Ports[i]
			if n, ok := portOf(pod, sp); ok {
				ports = append(ports, corev1.EndpointPort{Name: sp.Name, Port: n, Protocol: sp.Protocol, AppProtocol: sp.AppProtocol})
			}
		}
		if len(ports) == 0 && (len(svc.Spec.Ports) > 0 || !headless(svc)) {
			continue
		}
		slices.SortFunc(ports, func(a, b corev1.EndpointPort) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
		})
		var key strings.Builder
		for _, p := range ports {
			fmt.Fprintf(&key, "%s %05d %s;", p.Name, p.Port, p.Protocol)
		}
		s := by[key.String()]
		if s == nil {
			s = &corev1.EndpointSubset{Ports: ports}
			by[key.String()] = s
		}
		node := pod.Spec.NodeName
		a := corev1.EndpointAddress{IP: ips[0], Hostname: hostname(pod, svc), TargetRef: reference(pod)}
		if node != "" {
			a.NodeName = &node
		}
		if svc.Spec.PublishNotReadyAddresses || kinds.PodIsReady(pod) {
			s.Addresses = append(s.Addresses, a)
		} else {
			s.NotReadyAddresses = append(s.NotReadyAddresses, a)
		}
	}
	room := addressesMax // those that are ready come first
	take := func(list []corev1.EndpointAddress) []corev1.EndpointAddress {
		slices.SortFunc(list, func(a, b corev1.EndpointAddress) int {
			return cmp.Or(cmp.Compare(a.IP, b.IP), cmp.Compare(a.TargetRef.UID, b.TargetRef.UID))
		})
		if len(list) > room {
			list, cut = list[:room], true
		}
		room -= len(list)
		return list
	}
	keys := slices.Sorted(maps.Keys(by))
	for _, k := range keys {
		by[k].Addresses = take(by[k].Addresses)
	}
	for _, k := range keys {
		by[k].NotReadyAddresses = take(by[k].NotReadyAddresses)
		if len(by[k].Addresses)+len(by[k].NotReadyAddresses) > 0 {
			out = append(out, *by[k])
		}
	}
	return out, cut
}
