package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Images of the control plane (kubeadm for v1.37).
const (
	imageEtcd              = "registry.k8s.io/etcd:3.7.0-0"
	imageAPIServer         = "registry.k8s.io/kube-apiserver:" + Version
	imageControllerManager = "registry.k8s.io/kube-controller-manager:" + Version
	imageScheduler         = "registry.k8s.io/kube-scheduler:" + Version
)

// ControlPlaneImages are present on a master before its first start.
func ControlPlaneImages() []string {
	return []string{imageEtcd, imageAPIServer, imageControllerManager, imageScheduler}
}

// systemNodeCritical is the value of priority class system-node-critical.
const systemNodeCritical = 2000001000

// ControlPlanePods are the manifests that kubeadm writes on a master: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. nodeIP is how
// the machine is reached: its address, as kubeadm writes it, or its name.
func ControlPlanePods(nodeIP string) []*corev1.Pod {
	etcd := controlPlanePod("etcd", imageEtcd, "100m", "100Mi", nodeIP, 2379)
	probes(etcd, 2381, "127.0.0.1", corev1.URISchemeHTTP, "/livez", "/readyz")
	api := controlPlanePod("kube-apiserver", imageAPIServer, "250m", "", nodeIP, 6443)
	probes(api, 6443, nodeIP, corev1.URISchemeHTTPS, "/livez", "/readyz")
	manager := controlPlanePod("kube-controller-manager", imageControllerManager, "200m", "", nodeIP, 10257)
	probes(manager, 10257, "127.0.0.1", corev1.URISchemeHTTPS, "/healthz", "")
	scheduler := controlPlanePod("kube-scheduler", imageScheduler, "100m", "", nodeIP, 10259)
	probes(scheduler, 10259, "127.0.0.1", corev1.URISchemeHTTPS, "/livez", "/readyz")
	return []*corev1.Pod{etcd, api, manager, scheduler}
}

func controlPlanePod(name, image, cpu, memory, nodeIP string, port int32) *corev1.Pod {
	priority := int32(systemNodeCritical)
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	if memory != "" {
		requests[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem, Labels: map[string]string{"component": name, "tier": "control-plane"},
			Annotations: map[string]string{}},
		Spec: corev1.PodSpec{HostNetwork: true, PriorityClassName: "system-node-critical", Priority: &priority,
			SecurityContext: &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: name, Image: image, Command: []string{name}, ImagePullPolicy: corev1.PullIfNotPresent,
				Resources: corev1.ResourceRequirements{Requests: requests},
				Ports:     []corev1.ContainerPort{{Name: "probe-port", ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP}}}}},
	}
	switch name {
	case "etcd":
		p.Annotations["kubeadm.kubernetes.io/etcd.advertise-client-urls"] = "https://" + nodeIP + ":2379"
	case "kube-apiserver":
		p.Annotations["kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"] = nodeIP + ":6443"
	}
	return p
}

// probes are kubeadm's (cmd/kubeadm/app/util/staticpod): liveness after 10 s, every 10 s, 8 failures; readiness every second, 3 failures; startup 24 tries.
func probes(p *corev1.Pod, port int, host string, scheme corev1.URIScheme, livez, readyz string) {
	c := &p.Spec.Containers[0]
	get := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: host, Path: path, Port: intstr.FromInt(port), Scheme: scheme}}
	}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: get(livez), InitialDelaySeconds: 10, PeriodSeconds: 10, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 8}
	c.StartupProbe = &corev1.Probe{ProbeHandler: get(livez), InitialDelaySeconds: 10, PeriodSeconds: 10, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 24}
	if readyz != "" {
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: get(readyz), PeriodSeconds: 1, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 3}
	}
}
