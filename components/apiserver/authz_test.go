package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestWhoMayDoWhat(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(2)
	for _, n := range []string{"1", "2"} {
		c.Create(apitest.Pod("p"+n, on("worker-"+n)))
	}
	kubelet := apitest.Kubelet("worker-1")
	mirror := func(node string, annotated bool) *corev1.Pod {
		return apitest.Pod("static", func(p *corev1.Pod) {
			p.Namespace, p.Spec.NodeName = "kube-system", node
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: c.Get(kinds.Nodes, "", node).GetUID(), Controller: &yes}}
			if annotated {
				p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
			}
		})
	}
	status := func(pod string) kubeapi.Request {
		return kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Pods, Namespace: "default", Name: pod, Subresource: "status", PatchType: types.MergePatchType, Patch: []byte(`{"status":{"message":"m"}}`)}
	}
	create := func(o kinds.Object) kubeapi.Request {
		return kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.MustOf(o), Namespace: o.GetNamespace(), Name: o.GetName(), Object: o}
	}
	by := func(field, v string) fields.Selector { return fields.OneTermEqualSelector(field, v) }
	for _, tc := range []struct {
		what string
		user kubeapi.User
		r    kubeapi.Request
		want string
	}{
		{"nobody lists pods", kubeapi.User{}, kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default"},
			`pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"`},
		{"the scheduler lists pods", apitest.Scheduler, kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods}, ""},
		{"the scheduler binds", apitest.Scheduler, kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: "p9", Subresource: "binding",
			Object: &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p9", Namespace: "default"}, Target: corev1.ObjectReference{Kind: "Node", Name: "worker-1"}}}, `pods "p9" not found`},
		{"the scheduler binds to what is no name of a node", apitest.Scheduler, kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: "p9", Subresource: "binding",
			Object: &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p9", Namespace: "default"}, Target: corev1.ObjectReference{Name: "a..b"}}}, `Binding "p9" is invalid: target.name: Invalid value: "a..b": ` +
			`a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"the scheduler deletes no node", apitest.Scheduler, kubeapi.Request{Verb: kubeapi.Delete, Kind: kinds.Nodes, Name: "worker-1"},
			`nodes "worker-1" is forbidden: User "system:kube-scheduler" cannot delete resource "nodes" in API group "" at the cluster scope`},
		{"the scheduler makes no pods", apitest.Scheduler, create(apitest.Pod("x")),
			`pods is forbidden: User "system:kube-scheduler" cannot create resource "pods" in API group "" in the namespace "default"`},
		{"the controller manager itself makes no pods", apitest.ControllerManager, create(apitest.Pod("x")),
			`pods is forbidden: User "system:kube-controller-manager" cannot create resource "pods" in API group "" in the namespace "default"`},
		{"the replica set controller makes pods", apitest.Controller("replicaset-controller"), create(apitest.Pod("x")), ""},
		{"the node controller taints nodes", apitest.Controller("node-controller"), kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Nodes, Name: "worker-2", PatchType: types.StrategicMergePatchType,
			Patch: []byte(`{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)}, ""},
		{"a kubelet watches its own pods", kubelet, kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Fields: by("spec.nodeName", "worker-1")}, ""},
		{"a kubelet does not see all pods", kubelet, kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods},
			`pods is forbidden: User "system:node:worker-1" cannot list resource "pods" in API group "" at the cluster scope: node: can only list/watch pods with spec.nodeName field selector`},
		{"a kubelet reads its own node", kubelet, kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Nodes, Name: "worker-1"}, ""},
		{"a kubelet does not read others", kubelet, kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Nodes, Name: "worker-2"},
			`nodes "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "nodes" in API group "" at the cluster scope: node: node 'worker-1' cannot read 'worker-2', only its own Node object`},
		{"a kubelet does not touch other nodes", kubelet, kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Nodes, Name: "worker-2", Subresource: "status", PatchType: types.MergePatchType, Patch: []byte(`{}`)},
			`nodes "worker-2" is forbidden: node "worker-1" is not allowed to modify node "worker-2"`},
		{"a kubelet takes off no taints", kubelet, kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Nodes, Name: "worker-1", PatchType: types.MergePatchType,
			Patch: []byte(`{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)}, `nodes "worker-1" is forbidden: node "worker-1" is not allowed to modify taints`},
		{"a kubelet reports on its own pods", kubelet, status("p1"), ""},
		{"a kubelet does not report on others", kubelet, status("p2"),
			`pods "p2" is forbidden: node "worker-1" can only update pod status for pods with spec.nodeName set to itself`},
		{"a kubelet deletes no pods of others", kubelet, kubeapi.Request{Verb: kubeapi.Delete, Kind: kinds.Pods, Namespace: "default", Name: "p2"},
			`pods "p2" is forbidden: node "worker-1" can only delete pods with spec.nodeName set to itself`},
		{"a kubelet mirrors its static pods", kubelet, create(mirror("worker-1", true)), ""},
		{"a kubelet mirrors for itself only", kubelet, create(mirror("worker-2", true)), `pods "static" is forbidden: node "worker-1" can only create pods with spec.nodeName set to itself`},
		{"a kubelet makes no ordinary pods", kubelet, create(mirror("worker-1", false)),
			`pods "static" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "worker-1" can only create mirror pods`},
	} {
		var got string
		client := &kubeapi.Client{Transport: c.Client.Transport, User: tc.user}
		c.Do(func(p *sim.Proc, _ *kubeapi.Client) {
			if _, err := client.Do(p, &tc.r); err != nil {
				got = err.Error()
			}
		})
		if got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.what, got, tc.want)
		}
	}
}

func TestPriorityComesFromTheClass(t *testing.T) {
	c := apitest.New(t)
	for class, want := range map[string]int32{"": 0, "system-cluster-critical": 2000000000, "system-node-critical": 2000001000} {
		pod := c.Create(apitest.Pod("a"+class, func(p *corev1.Pod) { p.Spec.PriorityClassName = class })).(*corev1.Pod)
		if *pod.Spec.Priority != want {
			t.Errorf("class %q has priority %d, want %d", class, *pod.Spec.Priority, want)
		}
	}
}

func TestTolerationsOfPodsThatSayNothing(t *testing.T) {
	c := apitest.New(t)
	ten := int64(10)
	for _, tc := range []struct {
		what string
		have []corev1.Toleration
		want int
	}{
		{"none: both are added", nil, 2},
		{"one of them: the other is added", []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &ten}}, 2},
		{"everything: nothing is added", []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, 1},
	} {
		pod := c.Create(apitest.Pod("", func(p *corev1.Pod) { p.GenerateName = "a-"; p.Spec.Tolerations = tc.have })).(*corev1.Pod)
		if len(pod.Spec.Tolerations) != tc.want {
			t.Errorf("%s: %v", tc.what, pod.Spec.Tolerations)
		}
	}
}
