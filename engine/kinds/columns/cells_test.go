package columns

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/kubeviz/engine/kinds"
)

func TestCellsReadAsTheRealServerFillsThem(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	meta := metav1.ObjectMeta{Name: "x", CreationTimestamp: ago(10 * time.Minute)}
	going := meta
	going.DeletionTimestamp = &metav1.Time{Time: now}
	three, five, at := int32(3), int32(5), ago(90*time.Second)
	for _, c := range []struct {
		k    *kinds.Kind
		o    kinds.Object
		want string
	}{
		{kinds.Pods, &corev1.Pod{ObjectMeta: going, Spec: corev1.PodSpec{NodeName: "w1", Containers: make([]corev1.Container, 1)}, Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			RestartCount: 2, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: ago(20 * time.Second)}}}}}}, "[x 0/1 Terminating 2 (20s ago) 10m <none> w1 <none> <none>]"},
		{kinds.Deployments, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 3, AvailableReplicas: 1}}, "[x 2/3 3 1 10m   ]"},
		{kinds.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta}, "[x 1 0 0 10m   <none>]"},
		{kinds.Services, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIPs: []string{"10.96.0.7"}, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080, Protocol: "TCP"}, {Port: 53, Protocol: "UDP"}}}},
			"[x LoadBalancer 10.96.0.7 <pending> 80:30080/TCP,53/UDP 10m <none>]"},
		//lint:ignore SA1019 served all the same, and asked for
		{kinds.Endpoints, &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}, {IP: "10.0.0.2"}, {IP: "fd00::1"}, {IP: "10.0.0.4"}, {IP: "10.0.0.5"}}, Ports: []corev1.EndpointPort{{Port: 80}}}}},
			"[x 10.0.0.1:80,10.0.0.2:80,[fd00::1]:80 + 2 more... 10m]"},
		{kinds.Jobs, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Completions: &five}, Status: batchv1.JobStatus{Succeeded: 3, StartTime: &at}}, "[x Running 3/5 90s 10m   <none>]"},
		{kinds.CronJobs, &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}}, "[x * * * * * <none> <unset> 0 <none> 10m   <none>]"},
		{kinds.ResourceQuotas, &corev1.ResourceQuota{ObjectMeta: meta, Status: corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{"pods": resource.MustParse("10"), "cpu": resource.MustParse("2"), "limits.cpu": resource.MustParse("4")},
			Used: corev1.ResourceList{"pods": resource.MustParse("3")}}}, "[x cpu: 0/2, pods: 3/10 limits.cpu: 0/4 10m]"},
		{kinds.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{ObjectMeta: going, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"}, Status: corev1.PersistentVolumeClaimStatus{AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteMany", "ReadWriteOnce"}, Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")}}},
			"[x Terminating v 1Gi RWO,RWX  <unset> 10m <unset>]"},
		{kinds.RoleBindings, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "a"}, {Kind: "User", Name: "b"}, {Kind: "ServiceAccount", Namespace: "n", Name: "s"}}},
			"[x Role/r 10m a, b  n/s]"},
		{kinds.Events, &corev1.Event{ObjectMeta: meta, Type: "Warning", Reason: "BackOff", Message: "again\n", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web"}, LastTimestamp: ago(5 * time.Second), Source: corev1.EventSource{Component: "kubelet", Host: "w1"}},
			"[5s Warning BackOff pod/web  kubelet, w1 again <unknown> 1 x]"},
	} {
		var cells []any
		for _, col := range Of(c.k) {
			cells = append(cells, col.Value(c.o, now))
		}
		if got := fmt.Sprint(cells); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.k, got, c.want)
		}
	}
}

func TestColumnsOfACustomResourceFollowItsPaths(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	col := func(name, typ, path string) apiextensionsv1.CustomResourceColumnDefinition {
		return apiextensionsv1.CustomResourceColumnDefinition{Name: name, Type: typ, JSONPath: path}
	}
	cols, err := Custom(&apiextensionsv1.CustomResourceDefinitionVersion{AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{
		col("Size", "integer", ".spec.size"), col("Image", "string", ".spec.image"), col("On", "boolean", ".spec.on"), col("None", "string", ".status.none"), col("When", "date", ".spec.when"), col("Bad", "date", ".spec.image")}})
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"size": int64(1) << 60, "image": "nginx", "on": true, "when": "2026-03-01T11:00:00Z"}}}
	var cells []any
	for _, c := range cols {
		cells = append(cells, c.Value(o, now))
	}
	if got, want := fmt.Sprint(cells), "[x 1152921504606846976 nginx true <nil> 60m <invalid>]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if cols, err := Custom(&apiextensionsv1.CustomResourceDefinitionVersion{}); err != nil || len(cols) != 2 || cols[1].Name != "Age" || cols[1].Type != "date" {
		t.Errorf("without columns of its own: %v, %v", cols, err)
	}
}
