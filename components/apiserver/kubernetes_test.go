package apiserver_test

//lint:file-ignore SA1019 Endpoints are served and kept for old clients all the same

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/engine/kinds"
)

func TestTheServiceKubernetesLeadsToTheServersThatAreThere(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3), apitest.Addressed())
	leads := func(want ...string) func() bool {
		return func() bool {
			ends, _ := c.Get(kinds.Endpoints, "default", "kubernetes").(*corev1.Endpoints)
			slice, _ := c.Get(kinds.EndpointSlices, "default", "kubernetes").(*discoveryv1.EndpointSlice)
			if ends == nil || slice == nil {
				return false
			}
			var a, b []string
			for _, e := range ends.Subsets[0].Addresses {
				a = append(a, e.IP)
			}
			for _, e := range slice.Endpoints {
				b = append(b, e.Addresses...)
			}
			return slices.Equal(a, want) && slices.Equal(b, want)
		}
	}
	until := func(what string, limit time.Duration, cond func() bool) {
		t.Helper()
		for end := c.Loop.Now().Add(limit); !cond(); c.Run(time.Second) {
			if c.Loop.Now().After(end) {
				t.Fatalf("%s: not within %v", what, limit)
			}
		}
	}
	until("all three", 30*time.Second, leads("10.0.0.11", "10.0.0.12", "10.0.0.13"))
	svc := c.Get(kinds.Services, "default", "kubernetes").(*corev1.Service)
	if svc.Spec.ClusterIP != "10.96.0.1" || svc.Labels["provider"] != "kubernetes" || svc.Spec.Ports[0].Port != 443 || svc.Spec.Ports[0].TargetPort.IntValue() != 6443 {
		t.Errorf("the service is %+v", svc.Spec)
	}
	if c.Get(kinds.IPAddresses, "", "10.96.0.1") == nil {
		t.Error("its address is nobody's")
	}
	before := c.Get(kinds.Endpoints, "default", "kubernetes").GetResourceVersion()
	c.Run(time.Minute)
	if now := c.Get(kinds.Endpoints, "default", "kubernetes").GetResourceVersion(); now != before {
		t.Errorf("with nothing changed the endpoints went from version %s to %s", before, now)
	}
	c.KillServer("master-2")
	until("one is gone", 30*time.Second, leads("10.0.0.11", "10.0.0.13"))
	c.StartServer("master-2")
	until("it is back", 60*time.Second, leads("10.0.0.11", "10.0.0.12", "10.0.0.13"))
}
