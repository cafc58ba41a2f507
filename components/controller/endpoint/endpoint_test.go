//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

package endpoint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/engine/kinds"
)

func start(t *testing.T) *apitest.Cluster {
	t.Helper()
	c := apitest.New(t)
	c.Create(apitest.Node("worker-1"))
	n := apitest.Node("worker-2")
	n.Labels[corev1.LabelTopologyZone] = "east"
	c.Create(n)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(3 * time.Second)
	return c
}

func service(change ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"tier": "front"}}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"},
		Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}}}
	for _, f := range change {
		f(s)
	}
	return s
}

// pod is one of the application on a node; with an address it runs.
func pod(c *apitest.Cluster, name, node, ip string, ready bool, change ...func(*corev1.Pod)) {
	c.T.Helper()
	c.Create(apitest.Pod(name, func(p *corev1.Pod) {
		p.Labels, p.Spec.NodeName = map[string]string{"app": "web"}, node
		p.Finalizers = []string{"example.com/stay"} // a pod that is deleted stays to be looked at
		for _, f := range change {
			f(p)
		}
	}))
	state(c, name, ip, ready)
}

func state(c *apitest.Cluster, name, ip string, ready bool) {
	c.T.Helper()
	c.Update(kinds.Pods, "default", name, "status", func(o kinds.Object) {
		p := o.(*corev1.Pod)
		is := corev1.ConditionFalse
		if ready {
			is = corev1.ConditionTrue
		}
		p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: is}}
		if p.Status.PodIP = ip; ip != "" {
			p.Status.PodIPs = []corev1.PodIP{{IP: ip}}
		}
	})
}

// slicesOf tells of the slices of the service, one a line.
func slicesOf(c *apitest.Cluster) (out []string) {
	c.T.Helper()
	for _, o := range c.List(kinds.EndpointSlices) {
		s := o.(*discoveryv1.EndpointSlice)
		if s.Labels[discoveryv1.LabelServiceName] != "web" {
			continue
		}
		var ports, ends []string
		for _, p := range s.Ports {
			ports = append(ports, fmt.Sprintf("%s=%d/%s", *p.Name, *p.Port, *p.Protocol))
		}
		for _, e := range s.Endpoints {
			text := e.Addresses[0]
			for _, f := range []struct {
				name string
				is   *bool
			}{{"ready", e.Conditions.Ready}, {"serving", e.Conditions.Serving}, {"terminating", e.Conditions.Terminating}} {
				if f.is != nil && *f.is {
					text += " " + f.name
				}
			}
			if e.Zone != nil {
				text += " in " + *e.Zone
			}
			if e.Hostname != nil {
				text += " as " + *e.Hostname
			}
			if e.Hints != nil {
				text += " for"
				for _, n := range e.Hints.ForNodes {
					text += " " + n.Name
				}
				for _, z := range e.Hints.ForZones {
					text += " " + z.Name
				}
			}
			ends = append(ends, text)
		}
		out = append(out, strings.Join(ports, ",")+": "+strings.Join(ends, "; "))
	}
	return out
}

// endpointsOf tells of the Endpoints of the service.
func endpointsOf(c *apitest.Cluster) (out []string) {
	c.T.Helper()
	for _, s := range c.Get(kinds.Endpoints, "default", "web").(*corev1.Endpoints).Subsets {
		text := ""
		for _, p := range s.Ports {
			text += fmt.Sprintf("%s=%d", p.Name, p.Port)
		}
		for _, a := range s.Addresses {
			text += " " + a.IP
		}
		for _, a := range s.NotReadyAddresses {
			text += " (" + a.IP + ")"
		}
		out = append(out, text)
	}
	return out
}

func check(t *testing.T, when string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", when, got, want)
	}
}

func TestAServiceLeadsToItsPods(t *testing.T) {
	c := start(t)
	c.Create(service())
	c.Run(time.Second)
	check(t, "without pods there is one empty slice", slicesOf(c), ": ")
	check(t, "and empty endpoints", endpointsOf(c))
	pod(c, "a", "worker-1", "10.224.1.1", true)
	pod(c, "b", "worker-2", "10.224.2.1", false)
	pod(c, "c", "worker-1", "", false)
	c.Create(apitest.Pod("other", func(p *corev1.Pod) { p.Labels, p.Spec.NodeName = map[string]string{"app": "db"}, "worker-1" }))
	c.Run(time.Second)
	check(t, "a pod that is not ready is listed as such", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving; 10.224.2.1 in east")
	check(t, "and kept apart", endpointsOf(c), "http=8080 10.224.1.1 (10.224.2.1)")
	var slice *discoveryv1.EndpointSlice
	for _, o := range c.List(kinds.EndpointSlices) {
		if s := o.(*discoveryv1.EndpointSlice); s.Labels[discoveryv1.LabelServiceName] == "web" {
			slice = s
		}
	}
	if !strings.HasPrefix(slice.Name, "web-") || slice.Labels["tier"] != "front" || slice.Labels[discoveryv1.LabelManagedBy] != "endpointslice-controller.k8s.io" ||
		!metav1.IsControlledBy(slice, c.Get(kinds.Services, "default", "web")) {
		t.Errorf("the slice is %+v", slice.ObjectMeta)
	}
	state(c, "b", "10.224.2.1", true)
	if err := c.Delete(kinds.Pods, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(time.Second)
	check(t, "a pod that goes serves until it is gone", slicesOf(c), "http=8080/TCP: 10.224.1.1 serving terminating; 10.224.2.1 ready serving in east")
	check(t, "endpoints do without it", endpointsOf(c), "http=8080 10.224.2.1")
	c.Update(kinds.Pods, "default", "b", "status", func(o kinds.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded })
	c.Run(time.Second)
	check(t, "a pod that ended is gone", slicesOf(c), "http=8080/TCP: 10.224.1.1 serving terminating")
	c.Update(kinds.Services, "default", "web", "", func(o kinds.Object) {
		o.(*corev1.Service).Spec.Ports[0].TargetPort = intstr.FromInt32(9090)
		o.(*corev1.Service).Spec.PublishNotReadyAddresses = true
	})
	c.Run(time.Second)
	check(t, "another port, and in any state", slicesOf(c), "http=9090/TCP: 10.224.1.1 ready serving terminating")
	check(t, "so are endpoints", endpointsOf(c), "http=9090 10.224.1.1")
	before := c.Journal.Last()
	c.Run(30 * time.Second) // less than after which the rig's nodes, which have no kubelets, count as lost
	if got := c.LogSince(before, kinds.EndpointSlices, kinds.Endpoints); len(got) > 0 {
		t.Errorf("written again though nothing changed: %v", got)
	}
	if err := c.Delete(kinds.Services, "default", "web", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(5 * time.Second)
	check(t, "with the service its slices go", slicesOf(c))
	for _, o := range c.List(kinds.Endpoints) {
		if o.GetName() == "web" {
			t.Error("its endpoints stay")
		}
	}
}

func TestPortsByNameMayDifferFromPodToPod(t *testing.T) {
	c := start(t)
	named := func(port int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: port}}
		}
	}
	pod(c, "a", "worker-1", "10.224.1.1", true, named(8080))
	pod(c, "b", "worker-1", "10.224.1.2", true, named(9090))
	pod(c, "c", "worker-1", "10.224.1.3", true)
	c.Create(service(func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromString("web") }))
	c.Run(2 * time.Second)
	got := slicesOf(c)
	slices.Sort(got)
	check(t, "a slice for each", got, ": 10.224.1.3 ready serving", "http=8080/TCP: 10.224.1.1 ready serving", "http=9090/TCP: 10.224.1.2 ready serving")
	check(t, "a subset for each that has the port", endpointsOf(c), "http=8080 10.224.1.1", "http=9090 10.224.1.2")
}

func TestHeadlessServicesNameTheirPodsAndTrafficMayStayNear(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-2", "10.224.2.1", true, func(p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = "first", "web" })
	near := corev1.ServiceTrafficDistributionPreferSameNode
	c.Create(service(func(s *corev1.Service) { s.Spec.ClusterIP, s.Spec.TrafficDistribution = corev1.ClusterIPNone, &near }))
	c.Run(2 * time.Second)
	check(t, "headless", slicesOf(c), "http=8080/TCP: 10.224.2.1 ready serving in east as first for worker-2 east")
	if _, ok := c.Get(kinds.Endpoints, "default", "web").GetLabels()[corev1.IsHeadlessService]; !ok {
		t.Error("endpoints do not say that the service is headless")
	}
}

func selectorless(s *corev1.Service) { s.Spec.Selector = nil }

// handWritten are Endpoints as a person keeps them.
func handWritten(subsets ...corev1.EndpointSubset) *corev1.Endpoints {
	return &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"kept": "by-hand"},
		Annotations: map[string]string{"note": "old database", corev1.LastAppliedConfigAnnotation: "{}"}}, Subsets: subsets}
}

func db(ips ...string) corev1.EndpointSubset {
	s := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: "db", Port: 5432}}}
	for _, ip := range ips {
		s.Addresses = append(s.Addresses, corev1.EndpointAddress{IP: ip})
	}
	return s
}

func TestEndpointsWrittenByHandAreMirrored(t *testing.T) {
	c := start(t)
	c.Create(handWritten(db("192.0.2.1", "2001:db8::1"), corev1.EndpointSubset{NotReadyAddresses: []corev1.EndpointAddress{{IP: "192.0.2.9"}}}))
	c.Run(5 * time.Second)
	check(t, "without a service nothing is mirrored", slicesOf(c))
	c.Create(service(selectorless))
	c.Run(2 * time.Second)
	sorted := func() []string { s := slicesOf(c); slices.Sort(s); return s }
	check(t, "a slice for each family and set of ports", sorted(), ": 192.0.2.9", "db=5432/TCP: 192.0.2.1 ready", "db=5432/TCP: 2001:db8::1 ready")
	check(t, "what is mirrored is left alone", endpointsOf(c), "db=5432 192.0.2.1 2001:db8::1", " (192.0.2.9)")
	for _, o := range c.List(kinds.EndpointSlices) {
		if o.GetLabels()[discoveryv1.LabelServiceName] != "web" {
			continue
		}
		if l := o.GetLabels(); l["kept"] != "by-hand" || l[discoveryv1.LabelManagedBy] != "endpointslicemirroring-controller.k8s.io" || !metav1.IsControlledBy(o, c.Get(kinds.Endpoints, "default", "web")) {
			t.Errorf("a mirror has labels %v and owners %v", l, o.GetOwnerReferences())
		}
		if a := o.GetAnnotations(); a["note"] != "old database" || len(a) != 1 {
			t.Errorf("a mirror has annotations %v", a)
		}
	}
	c.Update(kinds.Endpoints, "default", "web", "", func(o kinds.Object) {
		o.(*corev1.Endpoints).Subsets = []corev1.EndpointSubset{db("192.0.2.1", "192.0.2.2")}
	})
	c.Run(2 * time.Second)
	check(t, "mirrors follow", slicesOf(c), "db=5432/TCP: 192.0.2.1 ready; 192.0.2.2 ready")
	before := c.Journal.Last()
	c.Run(30 * time.Second)
	if got := c.LogSince(before, kinds.EndpointSlices, kinds.Endpoints); len(got) > 0 {
		t.Errorf("written again though nothing changed: %v", got)
	}
	relabel := func(value string) {
		c.Update(kinds.Endpoints, "default", "web", "", func(o kinds.Object) {
			o.(*corev1.Endpoints).Labels = map[string]string{discoveryv1.LabelSkipMirror: value}
		})
		c.Run(2 * time.Second)
	}
	relabel("true")
	check(t, "who says so does without mirrors", slicesOf(c))
	relabel("false")
	check(t, "until he says otherwise", slicesOf(c), "db=5432/TCP: 192.0.2.1 ready; 192.0.2.2 ready")
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Update(kinds.Services, "default", "web", "", func(o kinds.Object) { o.(*corev1.Service).Spec.Selector = map[string]string{"app": "web"} })
	c.Run(3 * time.Second)
	check(t, "with a selector the pods count", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	check(t, "in endpoints too", endpointsOf(c), "http=8080 10.224.1.1")
}

func TestMirrorsGoWithTheirService(t *testing.T) {
	c := start(t)
	c.Create(handWritten(db("192.0.2.1")))
	c.Create(service(selectorless))
	c.Run(2 * time.Second)
	check(t, "mirrored", slicesOf(c), "db=5432/TCP: 192.0.2.1 ready")
	if err := c.Delete(kinds.Services, "default", "web", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(3 * time.Second)
	check(t, "the service went", slicesOf(c))
}

func TestNobodyTouchesWhereTheAPIServersAre(t *testing.T) {
	c := apitest.New(t, apitest.Addressed())
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(30 * time.Second)
	var names []string
	for _, o := range c.List(kinds.EndpointSlices) {
		names = append(names, fmt.Sprint(o.GetNamespace(), "/", o.GetName(), " ", o.GetLabels()))
	}
	check(t, "the API servers' slice", names, "default/kubernetes map[kubernetes.io/service-name:kubernetes]")
}

func TestAServiceThatIsANameOfSomethingElsewhereLeadsNowhereHere(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Create(service(func(s *corev1.Service) {
		s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, "db.example.com"
	}))
	c.Run(3 * time.Second)
	check(t, "slices", slicesOf(c))
	for _, o := range c.List(kinds.Endpoints) {
		if o.GetName() == "web" {
			t.Error("it has endpoints")
		}
	}
}

func TestWritesTellWhatTheyFollowFrom(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-1", "10.224.1.1", false)
	c.Create(service())
	c.Run(5 * time.Second)
	since := func() (out []string) {
		for _, o := range c.List(kinds.EndpointSlices) {
			if o.GetLabels()[discoveryv1.LabelServiceName] == "web" {
				out = append(out, o.GetAnnotations()[corev1.EndpointsLastChangeTriggerTime])
			}
		}
		return append(out, c.Get(kinds.Endpoints, "default", "web").GetAnnotations()[corev1.EndpointsLastChangeTriggerTime])
	}
	made := c.Get(kinds.Services, "default", "web").GetCreationTimestamp().UTC().Format(time.RFC3339Nano)
	check(t, "the first write follows from the service", since(), made, made)
	at := metav1.NewTime(c.Loop.Now().Truncate(time.Second))
	c.Update(kinds.Pods, "default", "a", "status", func(o kinds.Object) {
		o.(*corev1.Pod).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	})
	c.Run(2 * time.Second)
	ready := at.UTC().Format(time.RFC3339Nano)
	check(t, "a pod that became ready", since(), ready, ready)
	if err := c.Delete(kinds.Pods, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(2 * time.Second)
	check(t, "a deletion is no such time", since(), "", "")
}

func TestWhatWasLeftBehindIsCleanedUpByTheNextLeader(t *testing.T) {
	c := apitest.New(t)
	c.Create(handWritten(db("192.0.2.1")))
	old := handWritten(db("192.0.2.2"))
	old.Name, old.Annotations = "ballot", map[string]string{"control-plane.alpha.kubernetes.io/leader": "{}"}
	c.Create(old)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(5 * time.Second)
	var names []string
	for _, o := range c.List(kinds.Endpoints) {
		names = append(names, o.GetName())
	}
	check(t, "endpoints of a service that is gone go; those of an election stay", names, "ballot")
}

func TestAServiceOfTheSameNameStartsAnew(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Create(service())
	c.Run(2 * time.Second)
	if err := c.Delete(kinds.Services, "default", "web", nil); err != nil {
		t.Fatal(err)
	}
	c.Create(service())
	c.Run(5 * time.Second)
	check(t, "one slice", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	for _, o := range c.List(kinds.EndpointSlices) {
		if o.GetLabels()[discoveryv1.LabelServiceName] == "web" && !metav1.IsControlledBy(o, c.Get(kinds.Services, "default", "web")) {
			t.Error("the slice is owned by the service that was")
		}
	}
}

func TestPodsOnMachinesNobodyKnowsAreLeftOutAndSaidSo(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-1", "10.224.1.1", true)
	pod(c, "lost", "worker-9", "10.224.9.1", true)
	c.Create(service())
	c.Run(3 * time.Second)
	check(t, "left out", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	said := false
	for _, o := range c.List(kinds.Events) {
		e := o.(*corev1.Event)
		said = said || e.Reason == "FailedToUpdateEndpointSlices" && strings.HasSuffix(e.Message, "skipping Pod lost for Service default/web: Node worker-9 Not Found")
	}
	if !said {
		t.Error("no event says so")
	}
	c.Update(kinds.Services, "default", "web", "", func(o kinds.Object) { o.(*corev1.Service).Spec.PublishNotReadyAddresses = true })
	c.Run(3 * time.Second)
	check(t, "unless the service shows all", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving; 10.224.9.1 ready serving")
}

func TestASliceHoldsAHundred(t *testing.T) {
	c := start(t)
	for i := range 105 {
		pod(c, fmt.Sprintf("p%03d", i), "worker-1", fmt.Sprintf("10.224.1.%d", i+1), true)
	}
	c.Create(service())
	c.Run(3 * time.Second)
	sizes := func() (out []int) {
		for _, s := range slicesOf(c) {
			out = append(out, strings.Count(s, "serving"))
		}
		slices.Sort(out)
		return out
	}
	if got := sizes(); !slices.Equal(got, []int{5, 100}) {
		t.Errorf("slices of %v", got)
	}
	pod(c, "q1", "worker-1", "10.224.3.1", true)
	c.Run(2 * time.Second)
	if got := sizes(); !slices.Equal(got, []int{6, 100}) {
		t.Errorf("one more goes where there is room: slices of %v", got)
	}
	if err := c.Delete(kinds.Pods, "default", "q1", nil); err != nil {
		t.Fatal(err)
	}
	c.Update(kinds.Pods, "default", "q1", "", func(o kinds.Object) { o.SetFinalizers(nil) })
	c.Run(2 * time.Second)
	before := c.Journal.Last()
	state(c, "p104", "10.224.1.105", false)
	c.Run(2 * time.Second)
	if got := c.LogSince(before, kinds.EndpointSlices); len(got) != 1 {
		t.Errorf("one pod changed, and so did %v", got)
	}
	if got := endpointsOf(c); strings.Count(got[0], "10.224.") != 105 || !strings.Contains(got[0], "(10.224.1.105)") {
		t.Error(got)
	}
}

func TestWhatSomebodyElseChangesIsPutRight(t *testing.T) {
	c := start(t)
	c.Create(service())
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Run(2 * time.Second)
	name := ""
	for _, o := range c.List(kinds.EndpointSlices) {
		if o.GetLabels()[discoveryv1.LabelServiceName] == "web" {
			name = o.GetName()
		}
	}
	c.Update(kinds.EndpointSlices, "default", name, "", func(o kinds.Object) { o.(*discoveryv1.EndpointSlice).Endpoints = nil })
	c.Run(2 * time.Second)
	check(t, "emptied", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	for _, k := range []*kinds.Kind{kinds.EndpointSlices, kinds.Endpoints} {
		for _, o := range c.List(k) {
			if o.GetName() == "web" || o.GetLabels()[discoveryv1.LabelServiceName] == "web" {
				if err := c.Delete(k, "default", o.GetName(), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	c.Run(2 * time.Second)
	check(t, "deleted", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	check(t, "both", endpointsOf(c), "http=8080 10.224.1.1")
}
