//lint:file-ignore SA1019 Endpoints that people keep are read all the same

package endpoint

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
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
	// mirroredMax addresses of a subset are mirrored (--mirroring-max-endpoints-per-subset).
	mirroredMax = 1000
	mirroredBy  = "endpointslicemirroring-controller.k8s.io"
)

// Mirror is the endpointslicemirroring controller. Its keys are Endpoints.
type Mirror struct {
	in       *informers.Informers
	recorder *record.Recorder
	owned    *owned
	*reconcile.Controller
}

// NewMirror makes the controller and registers its handlers; the informers must not have been started yet.
func NewMirror(pr *kubeapi.Process, in *informers.Informers) *Mirror {
	c := &Mirror{in: in, recorder: record.New(pr, "endpoint-slice-mirroring-controller")}
	c.Controller = reconcile.New(pr, "endpoint_slice_mirroring", c)
	in.Endpoints.Handle(func(ch kubeapi.Change[*corev1.Endpoints]) {
		if ch.Type != event.Deleted && mirrors(ch.New) || ch.Type != event.Added && mirrors(ch.Old) {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	in.Services.Handle(func(ch kubeapi.Change[*corev1.Service]) {
		was, is := ch.Type != event.Added && len(ch.Old.Spec.Selector) == 0, ch.Type != event.Deleted && len(ch.New.Spec.Selector) == 0
		if was != is {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	c.owned = newOwned(in, mirroredBy, c.Add)
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Mirror) Start() { c.Controller.Start(Workers) }

// mirrors reports that Endpoints are to be shown as slices: their owner does not see to that, and they are no ballot of an election.
func mirrors(e *corev1.Endpoints) bool {
	_, elects := e.Annotations[leaderAnnotation]
	return !elects && e.Labels[discoveryv1.LabelSkipMirror] != "true"
}

// Reconcile brings the slices of one Endpoints object to what it says.
func (c *Mirror) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	ends, ok := c.in.Endpoints.Get(key)
	svc, exist := c.in.Services.Get(key)
	have := c.owned.of(key)
	var why string
	switch {
	case !ok:
		why = "there are no endpoints to mirror"
	case !mirrors(ends):
		why = "the endpoints are not to be mirrored"
	case !exist:
		why = "there is no service of that name"
	case len(svc.Spec.Selector) > 0:
		why = "the service has a selector"
	}
	if why != "" {
		c.owned.forget(key)
		return reconcile.Done, c.remove(ps, key, have, why)
	}
	if c.owned.stale(key, have, ps.Now()) {
		return reconcile.Result{After: staleRetry, Why: "slices that were written just now are not seen yet"}, nil
	}
	wanted, invalid, skipped := mirrored(ends)
	if invalid > 0 {
		c.recorder.Eventf(ps.Proc, ends, corev1.EventTypeWarning, "InvalidIPAddress", "Skipped %d invalid IP addresses when mirroring to EndpointSlices", invalid)
	}
	if skipped > invalid {
		c.recorder.Eventf(ps.Proc, ends, corev1.EventTypeWarning, "TooManyAddressesToMirror",
			"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", mirroredMax, skipped)
	}
	return reconcile.Done, c.carry(ps, key, ends, reflect(ends, have, wanted))
}

// mirrored are the slices that Endpoints stand for, one of each family for each subset. Addresses that are none, or are more than a slice holds, are left out and counted.
func mirrored(ends *corev1.Endpoints) (out []*discoveryv1.EndpointSlice, invalid, skipped int) {
	list := make([]*corev1.EndpointSubset, len(ends.Subsets))
	for i := range list {
		list[i] = &ends.Subsets[i]
	}
	for _, s := range repack(list) {
		ports := []discoveryv1.EndpointPort{}
		for _, p := range s.Ports {
			ports = append(ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol, AppProtocol: p.AppProtocol})
		}
		v4, v6 := reflection(ends, discoveryv1.AddressTypeIPv4, byHash(ports)), reflection(ends, discoveryv1.AddressTypeIPv6, ports)
		added := 0
		add := func(list []corev1.EndpointAddress, ready bool) {
			for i := range list {
				if added >= mirroredMax {
					return
				}
				a := &list[i]
				ip, err := netip.ParseAddr(a.IP)
				if err != nil {
					invalid++
					continue
				}
				added++
				e := discoveryv1.Endpoint{Addresses: []string{ip.String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}, TargetRef: a.TargetRef, NodeName: a.NodeName}
				if a.Hostname != "" {
					e.Hostname = &a.Hostname
				}
				if ip.Is4() || ip.Is4In6() {
					e.Addresses[0] = ip.Unmap().String()
					v4.Endpoints = append(v4.Endpoints, e)
				} else {
					v6.Endpoints = append(v6.Endpoints, e)
				}
			}
		}
		add(s.Addresses, true)
		add(s.NotReadyAddresses, false)
		skipped += len(s.Addresses) + len(s.NotReadyAddresses) - added
		for _, slice := range []*discoveryv1.EndpointSlice{v4, v6} {
			if len(slice.Endpoints) > 0 {
				out = append(out, slice)
			}
		}
	}
	return out, invalid, skipped
}

// reflection is a slice that mirrors Endpoints, without endpoints yet.
func reflection(ends *corev1.Endpoints, family discoveryv1.AddressType, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	labels := maps.Clone(ends.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[discoveryv1.LabelServiceName], labels[discoveryv1.LabelManagedBy] = ends.Name, mirroredBy
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: ends.Namespace, GenerateName: prefix(ends.Name), Labels: labels, Annotations: without(ends.Annotations, corev1.EndpointsLastChangeTriggerTime, corev1.LastAppliedConfigAnnotation),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ends, kinds.Endpoints.GVK())}},
		AddressType: family, Ports: ports, Endpoints: []discoveryv1.Endpoint{},
	}
}

func without(m map[string]string, keys ...string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if !slices.Contains(keys, k) {
			out[k] = v
		}
	}
	return out
}

// reflect finds what to write so that have becomes wanted: one slice for each family and set of ports. Pure.
func reflect(ends *corev1.Endpoints, have, wanted []*discoveryv1.EndpointSlice) change {
	key := func(s *discoveryv1.EndpointSlice) string { return string(s.AddressType) + " " + portsKey(s.Ports) }
	by := map[string][]*discoveryv1.EndpointSlice{}
	for _, s := range have {
		by[key(s)] = append(by[key(s)], s)
	}
	var d change
	for _, w := range wanted {
		old := by[key(w)]
		delete(by, key(w))
		if len(old) == 0 {
			d.create = append(d.create, w)
			continue
		}
		d.remove = append(d.remove, old[1:]...)
		if !mirrorsAlready(ends, old[0], w) {
			w.Name, w.GenerateName = old[0].Name, ""
			d.update = append(d.update, w)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(by)) {
		d.remove = append(d.remove, by[k]...)
	}
	d.remove = slices.DeleteFunc(d.remove, func(old *discoveryv1.EndpointSlice) bool { // rather write one anew than delete it and make another
		i := slices.IndexFunc(d.create, func(s *discoveryv1.EndpointSlice) bool { return s.AddressType == old.AddressType })
		if i < 0 {
			return false
		}
		d.create[i].Name = old.Name
		d.update, d.create = append(d.update, d.create[i]), slices.Delete(d.create, i, i+1)
		return true
	})
	return d
}

// mirrorsAlready reports that a slice says what is wanted, in whatever order, and is owned by these Endpoints.
func mirrorsAlready(ends *corev1.Endpoints, s, wanted *discoveryv1.EndpointSlice) bool {
	set := wantedSet(wanted.Endpoints)
	if len(s.Endpoints) != len(set.by) || !apiequality.Semantic.DeepEqual(ends.Labels, without(s.Labels, discoveryv1.LabelServiceName, discoveryv1.LabelManagedBy)) ||
		!apiequality.Semantic.DeepEqual(wanted.Annotations, s.Annotations) {
		return false
	}
	for i := range s.Endpoints {
		if w := set.by[identify(&s.Endpoints[i])]; w == nil || !alike(w, &s.Endpoints[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == kinds.Endpoints.Kind && o.Name == ends.Name && o.UID != ends.UID
	})
}

func (c *Mirror) carry(ps *reconcile.Pass, key kubeapi.Key, ends *corev1.Endpoints, d change) error {
	for _, s := range d.create {
		if ends.DeletionTimestamp != nil {
			break
		}
		ps.Decide("mirror endpoints %s in a new slice with %s", ends.Name, told(s))
		made, err := kubeapi.Make(ps.Proc, ps.Client, s)
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("failed to create EndpointSlice for Endpoints %s: %w", key, err)
		}
		c.owned.note(key, made, false, ps.Now())
	}
	for _, s := range d.update {
		ps.Decide("mirror endpoints %s in slice %s: %s", ends.Name, s.Name, told(s))
		stored, err := kubeapi.Replace(ps.Proc, ps.Client, s)
		if err != nil {
			return fmt.Errorf("failed to update %s EndpointSlice for Endpoints %s: %w", s.Name, key, err)
		}
		c.owned.note(key, stored, false, ps.Now())
	}
	return c.remove(ps, key, d.remove, "the endpoints say nothing of the kind any more")
}

func (c *Mirror) remove(ps *reconcile.Pass, key kubeapi.Key, list []*discoveryv1.EndpointSlice, why string) error {
	for _, s := range list {
		ps.Decide("delete slice %s: %s", s.Name, why)
		if err := kubeapi.Remove(ps.Proc, ps.Client, kinds.EndpointSlices, s.Namespace, s.Name, nil); kubeapi.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s EndpointSlice for Endpoints %s: %w", s.Name, key, err)
		}
		c.owned.note(key, s, true, ps.Now())
	}
	return nil
}
