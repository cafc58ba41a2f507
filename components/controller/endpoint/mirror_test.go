//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

package endpoint_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/engine/kinds"
)

func byHand(change ...func(*corev1.Endpoints)) *corev1.Endpoints {
	node := "worker-2"
	e := &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"tier": "front"},
			Annotations: map[string]string{"example.com/note": "kept", corev1.LastAppliedConfigAnnotation: "{}", corev1.EndpointsLastChangeTriggerTime: "2026-01-01T00:00:00Z"}},
		Subsets: []corev1.EndpointSubset{{
			Addresses:         []corev1.EndpointAddress{{IP: "192.0.2.1", Hostname: "first", NodeName: &node}, {IP: "2001:db8::1"}},
			NotReadyAddresses: []corev1.EndpointAddress{{IP: "192.0.2.2"}},
			Ports:             []corev1.EndpointPort{{Name: "http", Port: 8080}},
		}}}
	for _, f := range change {
		f(e)
	}
	return e
}

func noSelector(s *corev1.Service) { s.Spec.Selector = nil }

func TestEndpointsWrittenByHandHaveSlices(t *testing.T) {
	c := start(t)
	c.Create(byHand())
	c.Run(2 * time.Second)
	check(t, "without a service there are none", slicesOf(c))
	c.Create(service(noSelector))
	c.Run(2 * time.Second)
	sorted := func() []string { s := slicesOf(c); slices.Sort(s); return s }
	check(t, "with one they are mirrored, each family apart", sorted(), "http=8080/TCP: 192.0.2.1 ready as first; 192.0.2.2", "http=8080/TCP: 2001:db8::1 ready")
	ends := c.Get(kinds.Endpoints, "default", "web")
	for _, s := range slicesBy(c, "web") {
		if s.Labels[discoveryv1.LabelManagedBy] != "endpointslicemirroring-controller.k8s.io" || s.Labels["tier"] != "front" || s.GenerateName != "web-" || !metav1.IsControlledBy(s, ends) ||
			len(s.Annotations) != 1 || s.Annotations["example.com/note"] != "kept" {
			t.Errorf("the slice is %+v", s.ObjectMeta)
		}
		for _, e := range s.Endpoints {
			if e.Conditions.Serving != nil || e.Conditions.Terminating != nil {
				t.Errorf("conditions of %v: %+v", e.Addresses, e.Conditions)
			}
		}
	}
	if _, managed := ends.GetLabels()["endpoints.kubernetes.io/managed-by"]; managed {
		t.Error("endpoints written by hand are called a controller's")
	}
	before := c.Journal.Last()
	c.Run(30 * time.Second)
	if got := c.LogSince(before, kinds.EndpointSlices, kinds.Endpoints); len(got) > 0 {
		t.Errorf("written again though nothing changed: %v", got)
	}
	was := slicesBy(c, "web")
	c.Update(kinds.Endpoints, "default", "web", "", func(o kinds.Object) {
		o.(*corev1.Endpoints).Subsets[0] = corev1.EndpointSubset{Addresses: []corev1.EndpointAddress{{IP: "192.0.2.7"}}, Ports: []corev1.EndpointPort{{Name: "http", Port: 8080}}}
	})
	c.Run(2 * time.Second)
	check(t, "what changes is followed", sorted(), "http=8080/TCP: 192.0.2.7 ready")
	if now := slicesBy(c, "web")[0].Name; now != was[0].Name && now != was[1].Name {
		t.Errorf("slice %s was made, though there were some", now)
	}
}

func TestMirroredSlicesGoWithWhatTheyMirror(t *testing.T) {
	remove := func(c *apitest.Cluster, k *kinds.Kind) {
		if err := c.Delete(k, "default", "web", nil); err != nil {
			c.T.Error(err)
		}
	}
	change := func(c *apitest.Cluster, fn func(*corev1.Endpoints)) {
		c.Update(kinds.Endpoints, "default", "web", "", func(o kinds.Object) { fn(o.(*corev1.Endpoints)) })
	}
	for what, do := range map[string]func(*apitest.Cluster){
		"endpoints are deleted":  func(c *apitest.Cluster) { remove(c, kinds.Endpoints) },
		"the service is deleted": func(c *apitest.Cluster) { remove(c, kinds.Services) },
		"they are not to be mirrored": func(c *apitest.Cluster) {
			change(c, func(e *corev1.Endpoints) { e.Labels[discoveryv1.LabelSkipMirror] = "true" })
		},
		"a leader is elected by them": func(c *apitest.Cluster) {
			change(c, func(e *corev1.Endpoints) { e.Annotations["control-plane.alpha.kubernetes.io/leader"] = "{}" })
		},
		"the service gets a selector": func(c *apitest.Cluster) {
			c.Update(kinds.Services, "default", "web", "", func(o kinds.Object) { o.(*corev1.Service).Spec.Selector = map[string]string{"app": "web"} })
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := start(t)
			c.Create(service(noSelector))
			c.Create(byHand())
			c.Run(2 * time.Second)
			if n := len(slicesBy(c, "web")); n != 2 {
				t.Fatalf("%d slices", n)
			}
			do(c)
			c.Run(3 * time.Second)
			for _, s := range slicesBy(c, "web") {
				if s.Labels[discoveryv1.LabelManagedBy] == "endpointslicemirroring-controller.k8s.io" {
					t.Errorf("slice %s stays", s.Name)
				}
			}
		})
	}
}

func TestAThousandAddressesAreMirrored(t *testing.T) {
	c := start(t)
	c.Create(service(noSelector))
	c.Create(byHand(func(e *corev1.Endpoints) {
		s := &e.Subsets[0]
		s.Addresses, s.NotReadyAddresses = nil, nil
		for i := range 1003 {
			s.Addresses = append(s.Addresses, corev1.EndpointAddress{IP: fmt.Sprintf("192.0.%d.%d", 2+i/250, 1+i%250)})
		}
	}))
	c.Run(2 * time.Second)
	if s := slicesBy(c, "web"); len(s) != 1 || len(s[0].Endpoints) != 1000 {
		t.Errorf("%d slices", len(s))
	}
	var told []string
	for _, o := range c.List(kinds.Events) {
		if e := o.(*corev1.Event); e.InvolvedObject.Kind == "Endpoints" {
			told = append(told, e.Reason+": "+e.Message)
		}
	}
	check(t, "and the others are told of", told, "TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped")
}

func TestAMirroredSliceThatSomebodyChangesIsPutRight(t *testing.T) {
	c := start(t)
	c.Create(service(noSelector))
	c.Create(byHand(func(e *corev1.Endpoints) { e.Subsets[0].Addresses = e.Subsets[0].Addresses[:1] }))
	c.Run(2 * time.Second)
	name := slicesBy(c, "web")[0].Name
	c.Update(kinds.EndpointSlices, "default", name, "", func(o kinds.Object) { o.(*discoveryv1.EndpointSlice).Endpoints = nil })
	c.Run(2 * time.Second)
	check(t, "emptied", slicesOf(c), "http=8080/TCP: 192.0.2.1 ready as first; 192.0.2.2")
	if err := c.Delete(kinds.EndpointSlices, "default", name, nil); err != nil {
		t.Fatal(err)
	}
	c.Run(2 * time.Second)
	check(t, "deleted", slicesOf(c), "http=8080/TCP: 192.0.2.1 ready as first; 192.0.2.2")
}
