package apiserver_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestWhoCreatesWhatNothingActsOnIsToldOnce(t *testing.T) {
	c := apitest.New(t)
	const told = "this cluster is simulated: networkpolicies are stored and checked, and nothing acts on them yet"
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		warned := func(verb kubeapi.Verb, k *kinds.Kind, o kinds.Object) bool {
			t.Helper()
			r, err := client.Do(p, &kubeapi.Request{Verb: verb, Kind: k, Namespace: "default", Name: o.GetName(), Object: o})
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(r.Warnings, told)
		}
		policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
		if !warned(kubeapi.Create, kinds.NetworkPolicies, policy) {
			t.Error("nobody told")
		}
		policy.Labels = map[string]string{"a": "b"}
		if warned(kubeapi.Update, kinds.NetworkPolicies, policy) {
			t.Error("told again at a change")
		}
		if warned(kubeapi.Create, kinds.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}) {
			t.Error("told of a kind that needs nobody")
		}
	})
}
