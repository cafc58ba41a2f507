package serviceaccount_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestEveryNamespaceHasItsAccountAndTheRootCertificate(t *testing.T) {
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{RootCA: "pem"})
	c.Run(10 * time.Second)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) { // not through Create, which makes the account itself
		if _, err := kubeapi.Make(p, client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}); err != nil {
			t.Fatal(err)
		}
	})
	check := func(when string) {
		t.Helper()
		c.Run(5 * time.Second)
		for _, ns := range []string{"kube-system", "default", "new"} {
			if c.Get(kinds.ServiceAccounts, ns, "default") == nil {
				t.Errorf("%s namespace %s has no service account", when, ns)
			}
			cm, _ := c.Get(kinds.ConfigMaps, ns, "kube-root-ca.crt").(*corev1.ConfigMap)
			if cm == nil || cm.Data["ca.crt"] != "pem" || len(cm.Data) != 1 || cm.Annotations["kubernetes.io/description"] == "" {
				t.Errorf("%s the root certificate of namespace %s is %+v", when, ns, cm)
			}
		}
	}
	check("at first")
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.ServiceAccounts, "new", "default", nil); err != nil {
			t.Error(err)
		}
		if err := kubeapi.Remove(p, client, kinds.ConfigMaps, "default", "kube-root-ca.crt", nil); err != nil {
			t.Error(err)
		}
	})
	c.Update(kinds.ConfigMaps, "new", "kube-root-ca.crt", "", func(o kinds.Object) { o.(*corev1.ConfigMap).Data = map[string]string{"ca.crt": "forged", "x": "y"} })
	check("after they were spoilt")
}
