package namespace_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func start(t *testing.T) *apitest.Cluster {
	t.Helper()
	c := apitest.New(t)
	for _, name := range []string{"team", "other"} {
		c.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{RootCA: "a certificate"})
	c.Run(5 * time.Second)
	return c
}

func there(c *apitest.Cluster, k *kinds.Kind, name string) bool {
	c.T.Helper()
	return slices.ContainsFunc(c.List(k), func(o kinds.Object) bool { return o.GetName() == name })
}

// left names what a namespace holds.
func left(c *apitest.Cluster) []string {
	c.T.Helper()
	var out []string
	for _, k := range kinds.All() {
		if !k.Namespaced {
			continue
		}
		for _, o := range c.List(k) {
			if o.GetNamespace() == "team" {
				out = append(out, k.Singular+"/"+o.GetName())
			}
		}
	}
	return out
}

func condition(ns *corev1.Namespace, t corev1.NamespaceConditionType) string {
	for _, c := range ns.Status.Conditions {
		if c.Type == t {
			return string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return "none"
}

func TestANamespaceGoesWithAllThatIsInIt(t *testing.T) {
	c := start(t)
	c.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "settings"}})
	c.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "password"}})
	c.Create(apitest.Deployment("web", 2, func(d *appsv1.Deployment) { d.Namespace = "team" }))
	c.Run(5 * time.Second)
	if got := left(c); !slices.Contains(got, "configmap/kube-root-ca.crt") || !slices.Contains(got, "deployment/web") {
		t.Fatalf("before: %v", got)
	}
	if err := c.Delete(kinds.Namespaces, "", "team", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(4 * time.Second)
	if !there(c, kinds.Namespaces, "team") || !slices.Contains(left(c), "secret/password") {
		t.Error("content goes before every API server can know of the deletion")
	}
	c.Run(10 * time.Second)
	if there(c, kinds.Namespaces, "team") {
		t.Errorf("the namespace stays: %+v", c.Get(kinds.Namespaces, "", "team").(*corev1.Namespace).Status)
	}
	if got := left(c); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestPodsGoFirstAndTheNamespaceSaysWhatItWaitsFor(t *testing.T) {
	c := start(t)
	c.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "password"}})
	c.Create(apitest.Pod("held", func(p *corev1.Pod) { p.Namespace, p.Finalizers = "team", []string{"example.com/mine"} }))
	if err := c.Delete(kinds.Namespaces, "", "team", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(30 * time.Second)
	ns := c.Get(kinds.Namespaces, "", "team").(*corev1.Namespace)
	if ns.Status.Phase != corev1.NamespaceTerminating || !there(c, kinds.Secrets, "password") {
		t.Errorf("phase %s, secret there: %t", ns.Status.Phase, there(c, kinds.Secrets, "password"))
	}
	for _, want := range []struct {
		of   corev1.NamespaceConditionType
		text string
	}{
		{corev1.NamespaceContentRemaining, "True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances"},
		{corev1.NamespaceFinalizersRemaining, "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/mine in 1 resource instances"},
		{corev1.NamespaceDeletionContentFailure, "False ContentDeleted: All content successfully deleted, may be waiting on finalization"},
	} {
		if got := condition(ns, want.of); got != want.text {
			t.Errorf("%s is %q, want %q", want.of, got, want.text)
		}
	}
	before := c.Journal.Last()
	c.Run(20 * time.Second)
	if got := c.LogSince(before, kinds.Namespaces); len(got) > 0 {
		t.Errorf("written again though nothing changed: %v", got)
	}
	if _, err := c.MergePatch(kinds.Pods, "team", "held", "", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	c.Run(30 * time.Second)
	if there(c, kinds.Namespaces, "team") || len(left(c)) > 0 {
		t.Errorf("after its finalizer was taken off there is %v", left(c))
	}
}

func TestWhatIsDeletedIsTheRestOfThatNamespaceAlone(t *testing.T) {
	c := start(t)
	c.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "settings"}})
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.Namespaces, "", "team", nil); err != nil {
			t.Error(err)
		}
	})
	c.Run(15 * time.Second)
	if there(c, kinds.Namespaces, "team") || !there(c, kinds.Namespaces, "other") || !there(c, kinds.ConfigMaps, "settings") {
		t.Error("the wrong things went")
	}
	for _, f := range c.Failures() {
		if strings.Contains(f, "namespace") {
			t.Error(f)
		}
	}
}
