package resourcequota_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/quota"
	"example.com/kubeviz/engine/sim"
)

func amounts(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func pod(name string) *corev1.Pod {
	return apitest.Pod(name, func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("cpu", "300m") })
}

func remove(c *apitest.Cluster, k *kinds.Kind, name string) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, k, "default", name, nil); err != nil {
			c.T.Error(err)
		}
	})
}

func TestTheCountFollowsWhatIsThere(t *testing.T) {
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Create(pod("before"))
	c.Create(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: amounts("pods", "3", "requests.cpu", "1", "count/configmaps", "9", "nobody.example/knows", "1")}})
	used := func(when, want string) {
		t.Helper()
		c.Run(2 * time.Second)
		q := c.Get(kinds.ResourceQuotas, "default", "q").(*corev1.ResourceQuota)
		if got := quota.Text(q.Status.Used); got != want || !quota.Equal(q.Status.Hard, q.Spec.Hard) {
			t.Errorf("%s %s is used of %s, want %s", when, got, quota.Text(q.Status.Hard), want)
		}
	}
	c.Run(10 * time.Second)
	used("at first", "count/configmaps=0,pods=1,requests.cpu=300m")
	c.Create(pod("a"))
	c.Create(pod("b"))
	c.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}})
	used("with more", "count/configmaps=1,pods=3,requests.cpu=900m")
	if _, err := c.TryCreate(pod("c")); err == nil || err.Error() != `pods "c" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=300m, used: pods=3,requests.cpu=900m, limited: pods=3,requests.cpu=1` {
		t.Error(err)
	}
	c.Update(kinds.Pods, "default", "a", "status", func(o kinds.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded })
	used("when one has ended", "count/configmaps=1,pods=2,requests.cpu=600m")
	remove(c, kinds.Pods, "b")
	remove(c, kinds.ConfigMaps, "m")
	used("when some are gone", "count/configmaps=0,pods=1,requests.cpu=300m")
	c.Update(kinds.ResourceQuotas, "default", "q", "", func(o kinds.Object) { o.(*corev1.ResourceQuota).Spec.Hard = amounts("services", "1") })
	used("with other limits", "services=0")
	c.Update(kinds.ResourceQuotas, "default", "q", "status", func(o kinds.Object) { o.(*corev1.ResourceQuota).Status.Used = amounts("services", "7") })
	c.Run(6 * time.Minute)
	used("after a wrong count", "services=0")
	for _, f := range c.Failures() {
		t.Log(f)
	}
}
