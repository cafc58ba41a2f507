package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// limited makes a quota as the controller leaves it: counted.
func limited(c *apitest.Cluster, name string, hard, used corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) {
	c.T.Helper()
	c.Create(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "tight", Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}})
	c.Update(kinds.ResourceQuotas, "tight", name, "status", func(o kinds.Object) {
		o.(*corev1.ResourceQuota).Status = corev1.ResourceQuotaStatus{Hard: hard, Used: used}
	})
}

func usedOf(c *apitest.Cluster, name string, n corev1.ResourceName) string {
	q := c.Get(kinds.ResourceQuotas, "tight", name).(*corev1.ResourceQuota).Status.Used[n]
	return q.String()
}

func tightPod(name string, requests corev1.ResourceList) *corev1.Pod {
	return apitest.Pod(name, func(p *corev1.Pod) {
		p.Namespace = "tight"
		p.Spec.Containers[0].Resources.Requests = requests
	})
}

func TestQuotasRefuseInTheWordsOfARealServer(t *testing.T) {
	for _, tc := range []struct {
		name       string
		hard, used corev1.ResourceList
		obj        kinds.Object
		want       string // empty: it is let in
	}{
		{"pods, recorded", amounts("pods", "0", "requests.cpu", "1"), amounts("pods", "0", "requests.cpu", "0"), tightPod("p", amounts("cpu", "100m")),
			`pods "p" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0`},
		{"needs requests, recorded", amounts("pods", "0", "requests.cpu", "1"), amounts("pods", "0", "requests.cpu", "0"), tightPod("p", nil),
			`pods "p" is forbidden: failed quota: small: must specify requests.cpu for: c`},
		{"two at once", amounts("requests.cpu", "1", "requests.memory", "1Gi"), amounts("requests.cpu", "900m", "requests.memory", "1Gi"), tightPod("p", amounts("cpu", "200m", "memory", "1Mi")),
			`pods "p" is forbidden: exceeded quota: small, requested: requests.cpu=200m,requests.memory=1Mi, used: requests.cpu=900m,requests.memory=1Gi, limited: requests.cpu=1,requests.memory=1Gi`},
		{"exactly as much as there is", amounts("requests.cpu", "1"), amounts("requests.cpu", "800m"), tightPod("p", amounts("cpu", "200m")), ""},
		{"not counted yet", amounts("pods", "1"), nil, tightPod("p", nil), `pods "p" is forbidden: status unknown for quota: small, resources: pods`},
		{"objects by number", amounts("count/configmaps", "1"), amounts("count/configmaps", "1"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tight", Name: "m"}},
			`configmaps "m" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1`},
		{"objects by their old name", amounts("secrets", "1"), amounts("secrets", "0"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "tight", Name: "m"}}, ""},
		{"node ports", amounts("services.nodeports", "0"), amounts("services.nodeports", "0"), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "tight", Name: "s"},
			Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}}},
			`services "s" is forbidden: exceeded quota: small, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0`},
		{"another kind", amounts("services", "0"), amounts("services", "0"), tightPod("p", nil), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := apitest.New(t)
			c.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tight"}})
			limited(c, "small", tc.hard, tc.used)
			_, err := c.TryCreate(tc.obj)
			if got := errText(err); got != tc.want {
				t.Errorf("says\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestWhatIsLetInIsCountedAndWhatIsRefusedIsNot(t *testing.T) {
	c := apitest.New(t)
	c.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tight"}})
	limited(c, "a", amounts("pods", "3"), amounts("pods", "0"))
	limited(c, "b", amounts("requests.cpu", "1"), amounts("requests.cpu", "0"))
	limited(c, "short-lived", amounts("pods", "0"), amounts("pods", "0"), corev1.ResourceQuotaScopeTerminating)
	if _, err := c.TryCreate(tightPod("one", amounts("cpu", "800m"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.TryCreate(tightPod("two", amounts("cpu", "800m"))); err == nil {
		t.Fatal("a second pod of 800m is let into 1")
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "tight", Name: "dry", Object: tightPod("dry", amounts("cpu", "100m")), DryRun: true}); err != nil {
			t.Error(err)
		}
	})
	if a, b := usedOf(c, "a", "pods"), usedOf(c, "b", "requests.cpu"); a != "1" || b != "800m" {
		t.Errorf("%s pods and %s CPU are counted, want 1 and 800m: what one quota refuses counts in none, nor does a dry run", a, b)
	}
}

func TestCreationsAtOnceDoNotGoBeyondAQuota(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tight"}})
	limited(c, "small", amounts("pods", "2"), amounts("pods", "0"))
	c.Run(1e9)
	made := 0
	var done []*sim.Proc
	for _, m := range []string{"master-1", "master-2", "master-3"} {
		pr := c.Process(m, "client", apitest.Admin)
		for _, name := range []string{m + "-a", m + "-b"} {
			done = append(done, pr.Go(name, func(p *sim.Proc) {
				if _, err := kubeapi.Make(p, pr.Client, tightPod(name, nil)); err == nil {
					made++
				}
			}))
		}
	}
	c.Run(20e9)
	if n := len(c.List(kinds.Pods)); len(done) != 6 || n != 2 || made != 2 || usedOf(c, "small", "pods") != "2" {
		t.Errorf("%d pods are there, %d were answered, %s are counted; want 2", n, made, usedOf(c, "small", "pods"))
	}
}
