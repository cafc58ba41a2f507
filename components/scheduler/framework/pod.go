package framework

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"example.com/kubeviz/components/kubeapi"
)

// What a container without a request counts as when nodes are scored, never when they are filtered (k/k pkg/scheduler/util/pod_resources.go).
const (
	defaultScoringMilliCPU = 100
	defaultScoringMemory   = 200 * 1024 * 1024
)

// HostPort is a port taken on the machine itself.
type HostPort struct {
	IP       string // "0.0.0.0" for all addresses
	Protocol corev1.Protocol
	Port     int32
}

const anyIP = "0.0.0.0"

// PodInfo is a pod with what the scheduler needs of it worked out once. Immutable.
type PodInfo struct {
	Pod      *corev1.Pod
	Key      kubeapi.Key
	Priority int32
	Requests Resource
	// Scoring amounts: requests where missing ones are replaced by 100m and 200 MiB.
	ScoringMilliCPU, ScoringMemory int64
	Ports                          []HostPort
	// Terms of pod affinity and anti-affinity; nil when there are none.
	Terms *PodTerms
}

// NewPodInfo works a pod out.
func NewPodInfo(pod *corev1.Pod) *PodInfo {
	scoring := Requests(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{NonMissingContainerRequests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(defaultScoringMilliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(defaultScoringMemory, resource.BinarySI),
	}}))
	return &PodInfo{
		Pod: pod, Key: kubeapi.KeyOf(pod), Priority: corev1helpers.PodPriority(pod),
		Requests:        Requests(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})),
		ScoringMilliCPU: scoring.MilliCPU, ScoringMemory: scoring.Memory,
		Ports: hostPorts(pod), Terms: podTerms(pod),
	}
}

// With is the same pod in a newer version. What was worked out is kept where the new version cannot have changed it.
func (p *PodInfo) With(pod *corev1.Pod) *PodInfo {
	if pod.UID != p.Pod.UID || pod.Generation != p.Pod.Generation || pod.Generation == 0 {
		return NewPodInfo(pod)
	}
	n := *p
	n.Pod = pod
	return &n
}

// Terminating reports that the pod was asked to stop.
func (p *PodInfo) Terminating() bool { return p.Pod.DeletionTimestamp != nil }

func hostPorts(pod *corev1.Pod) []HostPort {
	var out []HostPort
	add := func(cs []corev1.Container, only func(*corev1.Container) bool) {
		for i := range cs {
			if !only(&cs[i]) {
				continue
			}
			for _, p := range cs[i].Ports {
				if p.HostPort <= 0 {
					continue
				}
				h := HostPort{IP: p.HostIP, Protocol: p.Protocol, Port: p.HostPort}
				if h.IP == "" {
					h.IP = anyIP
				}
				if h.Protocol == "" {
					h.Protocol = corev1.ProtocolTCP
				}
				out = append(out, h)
			}
		}
	}
	// Sidecars hold their ports as long as the pod lives; other init containers have let go of theirs.
	add(pod.Spec.InitContainers, func(c *corev1.Container) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
	add(pod.Spec.Containers, func(*corev1.Container) bool { return true })
	return out
}

// clashes reports that two ports cannot both be held on one machine.
func (h HostPort) clashes(o HostPort) bool {
	return h.Port == o.Port && h.Protocol == o.Protocol && (h.IP == o.IP || h.IP == anyIP || o.IP == anyIP)
}

// PortsClash reports that two sets of ports cannot be held on one machine.
func PortsClash(a, b []HostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.clashes(y) {
				return true
			}
		}
	}
	return false
}

// Finished reports that a pod holds nothing any more: its phase is terminal.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
