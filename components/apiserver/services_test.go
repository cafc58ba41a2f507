package apiserver_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func service(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func refused(t *testing.T, err error, text string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("answered %v, want %s", err, text)
	}
}

func ips(c *apitest.Cluster) []string {
	var out []string
	for _, o := range c.List(kinds.IPAddresses) {
		if ref := o.(*networkingv1.IPAddress).Spec.ParentRef; ref.Namespace == "default" && ref.Name != "kubernetes" {
			out = append(out, o.GetName())
		}
	}
	return out
}

func TestAServiceGetsAnAddressThatNobodyElseHasUntilItGoes(t *testing.T) {
	c := apitest.New(t)
	a := c.Create(service("a", nil)).(*corev1.Service)
	obj := c.Get(kinds.IPAddresses, "", a.Spec.ClusterIP)
	if obj == nil {
		t.Fatalf("no IPAddress %s", a.Spec.ClusterIP)
	}
	if ref := obj.(*networkingv1.IPAddress).Spec.ParentRef; *ref != (networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "a"}) {
		t.Errorf("it belongs to %+v", ref)
	}
	if obj.GetResourceVersion() != a.ResourceVersion {
		t.Errorf("address and service were written apart: %s, %s", obj.GetResourceVersion(), a.ResourceVersion)
	}
	same := func(s *corev1.ServiceSpec) { s.ClusterIP = a.Spec.ClusterIP }
	_, err := c.TryCreate(service("b", same))
	refused(t, err, `spec.clusterIPs: Invalid value: ["`+a.Spec.ClusterIP+`"]: failed to allocate IP `+a.Spec.ClusterIP+`: provided IP is already allocated`)
	if err := c.Delete(kinds.Services, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	if left := ips(c); len(left) > 0 {
		t.Errorf("addresses are left: %v", left)
	}
	if b := c.Create(service("b", same)).(*corev1.Service); b.Spec.ClusterIP != a.Spec.ClusterIP {
		t.Errorf("b has %s", b.Spec.ClusterIP)
	}
}

func TestPortsOfNodesAreGivenOutOnceAndGivenBack(t *testing.T) {
	c := apitest.New(t)
	open := func(port int32) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort; s.Ports[0].NodePort = port }
	}
	c.Create(service("a", open(30080)))
	_, err := c.TryCreate(service("b", open(30080)))
	refused(t, err, "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated")
	_, err = c.TryCreate(service("b", open(80)))
	refused(t, err, "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767")
	if len(ips(c)) != 1 {
		t.Errorf("refused services have addresses: %v", ips(c))
	}

	// A change of type gives the port back, and the address stays.
	before := c.Get(kinds.Services, "default", "a").(*corev1.Service)
	after := c.Update(kinds.Services, "default", "a", "", func(o kinds.Object) { o.(*corev1.Service).Spec.Type = corev1.ServiceTypeClusterIP }).(*corev1.Service)
	if after.Spec.ClusterIP != before.Spec.ClusterIP || after.Spec.Ports[0].NodePort != 0 || after.Spec.ExternalTrafficPolicy != "" {
		t.Errorf("as ClusterIP it is %+v", after.Spec)
	}
	c.Create(service("b", open(30080)))

	// What the server gave is kept where the user leaves it out.
	b := c.Update(kinds.Services, "default", "b", "", func(o kinds.Object) {
		s := o.(*corev1.Service)
		s.Spec.ClusterIP, s.Spec.ClusterIPs, s.Spec.Ports[0].NodePort = "", nil, 0
		s.Labels = map[string]string{"x": "y"}
	}).(*corev1.Service)
	if b.Spec.ClusterIP == "" || b.Spec.Ports[0].NodePort != 30080 {
		t.Errorf("an update lost %+v", b.Spec)
	}

	// ExternalName has neither.
	b = c.Update(kinds.Services, "default", "b", "", func(o kinds.Object) {
		s := &o.(*corev1.Service).Spec
		s.Type, s.ExternalName = corev1.ServiceTypeExternalName, "example.org"
	}).(*corev1.Service)
	if b.Spec.ClusterIP != "" || len(b.Spec.ClusterIPs)+len(b.Spec.IPFamilies) > 0 || b.Spec.Ports[0].NodePort != 0 {
		t.Errorf("as ExternalName it is %+v", b.Spec)
	}
	if have := ips(c); !slices.Equal(have, []string{after.Spec.ClusterIP}) {
		t.Errorf("addresses taken: %v", have)
	}
	// And back: an address anew.
	b = c.Update(kinds.Services, "default", "b", "", func(o kinds.Object) {
		s := &o.(*corev1.Service).Spec
		s.Type, s.ExternalName = corev1.ServiceTypeLoadBalancer, ""
		s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}).(*corev1.Service)
	if b.Spec.ClusterIP == "" || b.Spec.Ports[0].NodePort == 0 || b.Spec.HealthCheckNodePort == 0 || b.Spec.HealthCheckNodePort == b.Spec.Ports[0].NodePort {
		t.Errorf("as LoadBalancer it is %+v", b.Spec)
	}
	c.Create(service("c", open(30080)))
}

func TestServicesMadeAtOnceByTwoServersNeverShareAnything(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	const each = 8
	var made []*corev1.Service
	for m, host := range []string{"master-1", "master-2", "master-3"} {
		pr := c.Process(host, "kubectl", apitest.Admin)
		for i := range each {
			pr.Go("make a service", func(p *sim.Proc) {
				s := service(string(rune('a'+m))+string(rune('a'+i)), func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort })
				r := &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Services, Namespace: "default", Object: s}
				resp, err := pr.Client.Do(p, r)
				if err != nil {
					t.Errorf("%s: %v", s.Name, err)
					return
				}
				made = append(made, resp.Object.(*corev1.Service))
			})
		}
	}
	c.RunUntil(60e9, func() bool { return len(made) == 3*each })
	seen := map[any]bool{}
	for _, s := range made {
		if s.Spec.ClusterIP == "" || seen[s.Spec.ClusterIP] || seen[s.Spec.Ports[0].NodePort] {
			t.Errorf("%s has %s and %d", s.Name, s.Spec.ClusterIP, s.Spec.Ports[0].NodePort)
		}
		seen[s.Spec.ClusterIP], seen[s.Spec.Ports[0].NodePort] = true, true
	}
	if len(made) != 3*each {
		t.Errorf("%d services were made", len(made))
	}
}

func TestWhatPeopleHadBetterNotWriteIsToldAsWarnings(t *testing.T) {
	c := apitest.New(t)
	for text, obj := range map[string]kinds.Object{
		"spec.externalName is ignored when spec.type is not \"ExternalName\"": service("s", func(s *corev1.ServiceSpec) { s.ExternalName = "example.org" }),
		"spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1": &corev1.PodTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64),
				Containers: []corev1.Container{{Name: "c", Image: "i"}}}}},
	} {
		if t, ok := obj.(*corev1.PodTemplate); ok {
			*t.Template.Spec.TerminationGracePeriodSeconds = -1
			text = "template." + text
		}
		c.Do(func(p *sim.Proc, client *kubeapi.Client) {
			resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.MustOf(obj), Namespace: "default", Object: obj})
			if err != nil || !slices.Contains(resp.Warnings, text) {
				t.Errorf("%s: %v, %q", text, err, resp.Warnings)
			}
		})
	}
}
