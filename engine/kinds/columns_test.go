package kinds

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// header joins the names of the columns, wide ones in brackets.
func header(k *Kind) string {
	var out []string
	for _, c := range Columns(k) {
		if c.Wide {
			c.Name = "[" + c.Name + "]"
		}
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// Recorded from a v1.37.2 API server's Table answers.
func TestColumnsAreThoseOfTheRealServer(t *testing.T) {
	for k, want := range map[*Kind]string{
		Pods:        "NAME READY STATUS RESTARTS AGE [IP] [NODE] [NOMINATED NODE] [READINESS GATES]",
		Nodes:       "NAME STATUS ROLES AGE VERSION [INTERNAL-IP] [EXTERNAL-IP] [OS-IMAGE] [KERNEL-VERSION] [CONTAINER-RUNTIME]",
		Events:      "LAST SEEN TYPE REASON OBJECT [SUBOBJECT] [SOURCE] MESSAGE [FIRST SEEN] [COUNT] [NAME]",
		Namespaces:  "NAME STATUS AGE",
		Deployments: "NAME READY UP-TO-DATE AVAILABLE AGE [CONTAINERS] [IMAGES] [SELECTOR]",
		ReplicaSets: "NAME DESIRED CURRENT READY AGE [CONTAINERS] [IMAGES] [SELECTOR]",
		Leases:      "NAME HOLDER AGE",
	} {
		if got := header(k); got != want {
			t.Errorf("%s:\n  %s\nwant\n  %s", k, got, want)
		}
	}
}

func row(k *Kind, o Object, now time.Time) string {
	var out []string
	for _, c := range Columns(k) {
		out = append(out, c.Cell(o, now))
	}
	return strings.Join(out, "|")
}

func TestCellsReadAsKubectlPrintsThem(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	made := metav1.NewTime(now.Add(-10 * time.Minute))
	three := int32(3)
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}, {Name: "d", Image: "sidecar"}}}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, c := range []struct {
		name string
		k    *Kind
		o    Object
		want string
	}{
		{"a pod that was restarted tells when", Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web-1", CreationTimestamp: made}, Spec: corev1.PodSpec{NodeName: "w1", Containers: spec.Containers[:1]},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Ready: true, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-20 * time.Second))}}}}},
		}, "web-1|1/1|Running|2 (20s ago)|10m|10.0.0.1|w1|<none>|<none>"},
		{"a pod without a node shows <none>", Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: spec, Status: corev1.PodStatus{Phase: corev1.PodPending}}, "p|0/2|Pending|0|<unknown>|<none>|<none>|<none>|<none>"},
		{"a deployment counts ready of wanted", Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: made},
			Spec: appsv1.DeploymentSpec{Replicas: &three, Selector: selector, Template: corev1.PodTemplateSpec{Spec: spec}}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 3, AvailableReplicas: 1}},
			"web|2/3|3|1|10m|c,d|nginx:1.27,sidecar|app=web"},
		{"replicas that are not set are one", ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: made}, Spec: appsv1.ReplicaSetSpec{Selector: selector}}, "web|1|0|0|10m|||app=web"},
		{"a cordoned node", Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w1", CreationTimestamp: made}, Spec: corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}, Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.1.0.1"}},
				NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.2", KernelVersion: "6.8", Architecture: "amd64"}}},
			"w1|Ready,SchedulingDisabled|<none>|10m|v1.37.2|10.1.0.1|<none>|<unknown>|6.8 (amd64)|<unknown>"},
		{"an event", Events, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "web.1", CreationTimestamp: made}, Type: "Warning", Reason: "BackOff", Message: "again\n", Count: 3,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web"}, LastTimestamp: metav1.NewTime(now.Add(-5 * time.Second)), FirstTimestamp: made, Source: corev1.EventSource{Component: "kubelet", Host: "w1"}},
			"5s|Warning|BackOff|pod/web||kubelet, w1|again|10m|3|web.1"},
		{"a row of another type is empty, not a panic", Leases, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, "x||<unknown>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := row(c.k, c.o, now); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRanksPutTheYoungestFirstAndTheEmptiestBelow(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cell := func(name string) Column {
		for _, c := range Columns(Pods) {
			if c.Name == name {
				return c
			}
		}
		t.Fatal(name)
		return Column{}
	}
	young := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2)}}
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}
	if a := cell("AGE"); a.Rank(young).Number >= a.Rank(old).Number {
		t.Error("a young pod does not rank below an old one by age")
	}
	if r := cell("READY"); r.Rank(young).Number >= r.Rank(old).Number {
		t.Error("0 of 2 does not rank below 0 of 1")
	}
}
