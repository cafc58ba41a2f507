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

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

func slicesBy(c *apitest.Cluster, service string) (out []*discoveryv1.EndpointSlice) {
	c.T.Helper()
	for _, o := range c.List(kinds.EndpointSlices) {
		if o.GetLabels()[discoveryv1.LabelServiceName] == service {
			out = append(out, o.(*discoveryv1.EndpointSlice))
		}
	}
	return out
}

func TestWritesSayWhichChangeCausedThem(t *testing.T) {
	c := start(t)
	became := func(name, ip string, ready corev1.ConditionStatus, at time.Time) {
		c.Update(kinds.Pods, "default", name, "status", func(o kinds.Object) {
			s := &o.(*corev1.Pod).Status
			s.Phase, s.PodIP, s.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
			s.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(at)}}
		})
	}
	told := func() (out []string) {
		for _, o := range []kinds.Object{c.Get(kinds.Endpoints, "default", "web"), slicesBy(c, "web")[0]} {
			at, ok := o.GetAnnotations()[corev1.EndpointsLastChangeTriggerTime]
			if !ok {
				at = "nothing"
			}
			out = append(out, at)
		}
		return out
	}
	both := func(s string) []string { return []string{s, s} }
	svc := c.Create(service())
	c.Run(2 * time.Second)
	check(t, "the creation of the service", told(), both(svc.GetCreationTimestamp().UTC().Format(time.RFC3339))...)
	pod(c, "a", "worker-1", "10.224.1.1", false)
	at := c.Loop.Now().Truncate(time.Second).Add(-3 * time.Second)
	became("a", "10.224.1.1", corev1.ConditionTrue, at)
	c.Run(2 * time.Second)
	check(t, "a pod that became ready", told(), both(at.Format(time.RFC3339))...)
	if err := c.Delete(kinds.Pods, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(2 * time.Second)
	check(t, "a pod that goes is at no time that anybody wrote down", told(), both("nothing")...)
}

func TestLabelsThatNoSelectorAsksForWakeNobody(t *testing.T) {
	c := start(t)
	c.Create(service())
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Run(2 * time.Second)
	label := func(key, value string) []string {
		before := c.Journal.Last()
		c.Update(kinds.Pods, "default", "a", "", func(o kinds.Object) { o.GetLabels()[key] = value })
		c.Run(2 * time.Second)
		return c.LogSince(before, kinds.EndpointSlices, kinds.Endpoints)
	}
	if got := label("color", "blue"); len(got) > 0 {
		t.Errorf("another label changed %v", got)
	}
	if label("app", "none"); len(slicesBy(c, "web")[0].Endpoints) > 0 || len(endpointsOf(c)) > 0 {
		t.Errorf("it is selected no longer, and there are %v and %v", slicesOf(c), endpointsOf(c))
	}
	label("app", "web")
	check(t, "it is again", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
}

func TestLabelsOfAServiceAreThoseOfItsSlices(t *testing.T) {
	c := start(t)
	c.Create(service(func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone }))
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Run(2 * time.Second)
	c.Update(kinds.Services, "default", "web", "", func(o kinds.Object) { o.SetLabels(map[string]string{"tier": "back"}) })
	c.Run(2 * time.Second)
	has := func(o kinds.Object) (out []string) {
		for k, v := range o.GetLabels() {
			out = append(out, k+"="+v)
		}
		slices.Sort(out)
		return out
	}
	s := slicesBy(c, "web")[0]
	check(t, "of the slice", has(s), "endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io", "kubernetes.io/service-name=web", "service.kubernetes.io/headless=", "tier=back")
	check(t, "of the endpoints", has(c.Get(kinds.Endpoints, "default", "web")), "endpoints.kubernetes.io/managed-by=endpoint-controller", "service.kubernetes.io/headless=", "tier=back")
	if s.GenerateName != "web-" {
		t.Errorf("its name is made from %q", s.GenerateName)
	}
	check(t, "it is the same slice all the time", []string{fmt.Sprint(len(slicesBy(c, "web")))}, "1")
}

func TestSlicesOfAServiceThatWasThereBeforeAreNotTakenOver(t *testing.T) {
	c := start(t)
	pod(c, "a", "worker-1", "10.224.1.1", true)
	c.Create(service())
	c.Run(2 * time.Second)
	if err := c.Delete(kinds.Services, "default", "web", nil); err != nil {
		t.Fatal(err)
	}
	svc := c.Create(service())
	c.Run(10 * time.Second)
	check(t, "one slice", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	if s := slicesBy(c, "web")[0]; !metav1.IsControlledBy(s, svc) {
		t.Errorf("it belongs to %v", s.OwnerReferences)
	}
	check(t, "and endpoints", endpointsOf(c), "http=8080 10.224.1.1")
}

func TestThePodsOfAMachineThatIsGoneAreLeftOut(t *testing.T) {
	c := start(t)
	c.Create(service())
	pod(c, "a", "worker-1", "10.224.1.1", true)
	pod(c, "b", "nowhere", "10.224.9.1", true)
	c.Run(2 * time.Second)
	check(t, "left out", slicesOf(c), "http=8080/TCP: 10.224.1.1 ready serving")
	check(t, "of slices", endpointsOf(c), "http=8080 10.224.1.1 10.224.9.1")
	told := false
	for _, o := range c.List(kinds.Events) {
		e := o.(*corev1.Event)
		told = told || e.Reason == "FailedToUpdateEndpointSlices" && e.Message == "Error updating Endpoint Slices for Service default/web: skipping Pod b for Service default/web: Node nowhere Not Found"
	}
	if !told {
		t.Error("nobody was told")
	}
}

func TestTheServiceOfTheAPIServersIsTheirs(t *testing.T) {
	c := apitest.New(t, apitest.Addressed())
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(30 * time.Second)
	all := slicesBy(c, "kubernetes")
	if len(all) != 1 || all[0].Name != "kubernetes" || len(all[0].Endpoints) != 1 {
		t.Fatalf("slices of kubernetes: %+v", all)
	}
	if by, ok := all[0].Labels[discoveryv1.LabelManagedBy]; ok {
		t.Errorf("managed by %s", by)
	}
	if e := c.Get(kinds.Endpoints, "default", "kubernetes").(*corev1.Endpoints); len(e.Subsets) != 1 || len(e.Subsets[0].Addresses) != 1 || len(e.Annotations) > 0 {
		t.Errorf("endpoints of kubernetes: %+v", e)
	}
}

func TestEndpointsWhoseServiceWentUnseenAreDeleted(t *testing.T) {
	c := apitest.New(t)
	orphan := func(name string, annotations map[string]string) {
		c.Create(&corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}})
	}
	orphan("left", nil)
	orphan("elects", map[string]string{"control-plane.alpha.kubernetes.io/leader": "{}"})
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(5 * time.Second)
	if c.Get(kinds.Endpoints, "default", "left") != nil {
		t.Error("endpoints without a service stay")
	}
	if c.Get(kinds.Endpoints, "default", "elects") == nil {
		t.Error("endpoints that old clients elect a leader by are gone")
	}
}

func TestTheQueuesAreThere(t *testing.T) {
	c := start(t)
	c.Create(service())
	c.Run(2 * time.Second)
	seen := map[string]int64{}
	for _, r := range c.Records() {
		if q, ok := r.Event.(event.QueueChanged); ok {
			seen[q.Queue] = q.Done
		}
	}
	for name, done := range map[string]int64{"endpoint": 1, "endpoint_slice": 1, "endpoint_slice_mirroring": 1} {
		if n, ok := seen[name]; !ok || n < done {
			t.Errorf("queue %s: known %v, %d done", name, ok, n)
		}
	}
	who := map[string]bool{}
	for _, r := range c.Records() {
		if d, ok := r.Event.(event.RequestDone); ok && d.Verb == "create" && d.Code < 300 {
			who[d.Resource+" by "+d.User] = true
		}
	}
	if !who["endpoints by system:serviceaccount:kube-system:endpoint-controller"] || !who["endpointslices.discovery.k8s.io by system:serviceaccount:kube-system:endpointslice-controller"] {
		t.Errorf("written were %v", who)
	}
	for _, f := range c.Failures() {
		if strings.Contains(f, "endpoint") {
			t.Error(f)
		}
	}
}
