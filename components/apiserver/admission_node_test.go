package apiserver_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestAKubeletIsKeptToItsOwn(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(2)
	mine := c.Create(apitest.Pod("mine", on("worker-1"))).(*corev1.Pod)
	c.Create(apitest.Pod("other", on("worker-2")))
	own := c.Get(kinds.Nodes, "", "worker-1").GetUID()
	yes, life := true, int64(3607)
	mirror := func(change func(*corev1.Pod)) kubeapi.Request {
		p := apitest.Pod("static", on("worker-1"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "worker-1", UID: own, Controller: &yes}}
		}, change)
		return kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: "static", Object: p, DryRun: true}
	}
	patch := func(k *kinds.Kind, namespace, name, sub, body string) kubeapi.Request {
		return kubeapi.Request{Verb: kubeapi.Patch, Kind: k, Namespace: namespace, Name: name, Subresource: sub, PatchType: types.MergePatchType, Patch: []byte(body), DryRun: true}
	}
	token := func(pod string, uid types.UID, audiences ...string) kubeapi.Request {
		tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: &life}}
		if pod != "" {
			tr.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod, UID: uid}
		}
		return kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.ServiceAccounts, Namespace: "default", Name: "default", Subresource: "token", Object: tr}
	}
	for _, row := range []struct {
		what string
		r    kubeapi.Request
		want string
	}{
		{"a mirror", mirror(func(*corev1.Pod) {}), ""},
		{"a mirror of nobody", mirror(func(p *corev1.Pod) { p.OwnerReferences = nil }), `pods "static" is forbidden: node "worker-1" can only create pods with an owner reference set to itself`},
		{"a mirror of two", mirror(func(p *corev1.Pod) { p.OwnerReferences = append(p.OwnerReferences, p.OwnerReferences[0]) }),
			`pods "static" is forbidden: node "worker-1" can only create pods with a single owner reference set to itself`},
		{"a mirror that the node does not control", mirror(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }),
			`pods "static" is forbidden: node "worker-1" can only create pods with a controller owner reference set to itself`},
		{"a mirror that holds its node back", mirror(func(p *corev1.Pod) { p.OwnerReferences[0].BlockOwnerDeletion = &yes }),
			`pods "static" is forbidden: node "worker-1" must not set blockOwnerDeletion on an owner reference`},
		{"a mirror of an earlier node", mirror(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "old" }),
			`pods "static" is forbidden: node worker-1 UID mismatch: expected old got ` + string(own)},
		{"a mirror that reads a config map", mirror(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}}}}}
		}), `pods "static" is forbidden: node "worker-1" can not create pods that reference configmaps`},
		{"a mirror with a claim", mirror(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "m"}}}}
		}), `pods "static" is forbidden: node "worker-1" can not create pods that reference persistentvolumeclaims`},
		{"labels through the status", patch(kinds.Pods, "default", "mine", "status", `{"metadata":{"labels":{"a":"b"}}}`), `pods "mine" is forbidden: node "worker-1" cannot update labels through pod status`},
		{"a label of its own", patch(kinds.Nodes, "", "worker-1", "", `{"metadata":{"labels":{"example.org/disk":"fast","node.kubernetes.io/x":"y","topology.kubernetes.io/zone":"a"}}}`), ""},
		{"labels that attract pods", patch(kinds.Nodes, "", "worker-1", "", `{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":"","node-restriction.kubernetes.io/x":"y"}}}`),
			`nodes "worker-1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/control-plane`},
		{"owners of its node", patch(kinds.Nodes, "", "worker-1", "", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`),
			`nodes "worker-1" is forbidden: node "worker-1" is not allowed to modify ownerReferences`},
		{"the eviction of a pod of others", kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: "other", Subresource: "eviction",
			Object: &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}}},
			`pods "other" is forbidden: node worker-1 can only evict pods with spec.nodeName set to itself`},
		{"the CSINode of others", kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.CSINodes, Name: "worker-2", Object: &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "worker-2"}}},
			`csinodes.storage.k8s.io "worker-2" is forbidden: can only access CSINode with the same name as the requesting node`},
		{"a token for nobody", token("", ""), `serviceaccounts "default" is forbidden: node requested token not bound to a pod`},
		{"a token without a UID", token("mine", ""), `serviceaccounts "default" is forbidden: node requested token with a pod binding without a uid`},
		{"a token for a pod that is none", token("nosuch", "u"), `pod "nosuch" not found`},
		{"a token for its own pod", token("mine", mine.UID), ""},
		{"one for two readers", token("mine", mine.UID, "a", "b"), `serviceaccounts "default" is forbidden: node may only request 0 or 1 audiences`},
		{"one for a reader that the pod does not talk to", token("mine", mine.UID, "vault"),
			`serviceaccounts "default" is forbidden: system:node:worker-1 is not authorized to request tokens for audience "vault"`},
	} {
		client := &kubeapi.Client{Transport: c.Client.Transport, User: apitest.Kubelet("worker-1")}
		var err error
		c.Do(func(p *sim.Proc, _ *kubeapi.Client) { _, err = client.Do(p, &row.r) })
		if got := errText(err); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.what, got, row.want)
		}
	}
}
