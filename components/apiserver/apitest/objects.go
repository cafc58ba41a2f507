package apitest

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Pod is a small pod in namespace default; changes are applied to it in order.
func Pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": name}}, Spec: podSpec()}
	for _, fn := range changes {
		fn(p)
	}
	return p
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}}}}}
}

// Deployment is a deployment of small pods in namespace default.
func Deployment(name string, replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()}}}
	for _, fn := range changes {
		fn(d)
	}
	return d
}

// ReplicaSet is a replica set of small pods in namespace default.
func ReplicaSet(name string, replicas int32, changes ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	labels := map[string]string{"app": name}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels}, Spec: appsv1.ReplicaSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()}}}
	for _, fn := range changes {
		fn(rs)
	}
	return rs
}

// Node is a ready node with 4 CPUs, 8 GiB and room for 110 pods, as a kubelet would register it.
func Node(name string) *corev1.Node {
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room.DeepCopy(), Conditions: conditions(Start),
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64"}}}
}

func conditions(at time.Time) []corev1.NodeCondition {
	t := metav1.NewTime(at)
	c := func(typ corev1.NodeConditionType, st corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: typ, Status: st, Reason: reason, Message: message, LastHeartbeatTime: t, LastTransitionTime: t}
	}
	return []corev1.NodeCondition{
		c(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		c(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		c(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		c(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}

// Heartbeat of a node's lease.
const (
	leaseRenewal  = 10 * time.Second
	leaseDuration = 40
)

// Nodes registers worker-1 … worker-n as ready nodes without the taint of new ones, each with a lease that a stand-in for its kubelet keeps fresh. It returns
// those stand-ins by order; killing one's Group makes the node fall silent.
func (c *Cluster) Nodes(n int) []*kubeapi.Process {
	c.T.Helper()
	var out []*kubeapi.Process
	for i := range n {
		out = append(out, c.AddNode(Node(fmt.Sprintf("worker-%d", i+1))))
	}
	return out
}

// AddNode registers one node as Nodes does.
func (c *Cluster) AddNode(node *corev1.Node) *kubeapi.Process {
	c.T.Helper()
	pr := c.Process(node.Name, "kubelet", Kubelet(node.Name))
	c.DoAs(pr, func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, node.DeepCopy()); err != nil {
			c.T.Errorf("register node %s: %v", node.Name, err)
		}
		duration := int32(leaseDuration)
		now := metav1.NewMicroTime(p.Now())
		lease, err := kubeapi.Make(p, client, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: node.Name},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &duration, RenewTime: &now}})
		if err != nil {
			c.T.Errorf("lease of node %s: %v", node.Name, err)
			return
		}
		pr.Go("heartbeat", func(p *sim.Proc) {
			for {
				p.Sleep(leaseRenewal)
				next := lease.DeepCopy()
				now := metav1.NewMicroTime(p.Now())
				next.Spec.RenewTime = &now
				stored, err := kubeapi.Replace(p, client, next)
				if apierrors.IsConflict(err) { // somebody else wrote it; go on from there, as kubelets do
					stored, err = kubeapi.Fetch[*coordinationv1.Lease](p, client, kinds.Leases, lease.Namespace, lease.Name)
				}
				if err == nil {
					lease = stored
				}
			}
		})
	})
	c.Update(kinds.Nodes, "", node.Name, "", func(o kinds.Object) { o.(*corev1.Node).Spec.Taints = node.Spec.Taints })
	return pr
}
