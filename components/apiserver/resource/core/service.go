package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func serviceResource() *resource.Resource {
	type service = *corev1.Service
	return &resource.Resource{
		Kind:          kinds.Services,
		Name:          apivalidation.NameIsDNSLabel,
		Default:       resource.Typed(defaultService),
		Settle:        resource.TypedSettle(settleService),
		PrepareCreate: resource.Typed(func(s service) { s.Status = corev1.ServiceStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(s, old service, sub string) {
			if sub == "status" {
				s.Spec = old.Spec
				return
			}
			s.Status = old.Status
			dropUnneeded(s, old)
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(s service) field.ErrorList { return validateService(s, nil) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(s, old service, sub string) field.ErrorList {
			if sub == "status" {
				return validateLoadBalancer(s, old)
			}
			return append(validateServiceChange(s, old), validateService(s, old)...)
		}),
		Fields: map[string]func(kinds.Object) string{
			"spec.clusterIP": resource.TypedValue(func(s service) string { return s.Spec.ClusterIP }),
			"spec.type":      resource.TypedValue(func(s service) string { return string(s.Spec.Type) }),
		},
		Warn: resource.TypedWarn(func(s, _ service) []string { return serviceWarnings(s) }),
	}
}

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	if spec.SessionAffinity == "" {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	switch c := spec.SessionAffinityConfig; spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		if c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			seconds := corev1.DefaultClientIPServiceAffinitySeconds
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
		}
	}
	if spec.Type == "" {
		spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range spec.Ports {
		p := &spec.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if reachable(s) && spec.ExternalTrafficPolicy == "" {
		spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	switch spec.Type {
	case corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP:
		check.SetDefault(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	check.SetDefault(&spec.AllocateLoadBalancerNodePorts, true)
	for i := range s.Status.LoadBalancer.Ingress {
		if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" {
			check.SetDefault(&in.IPMode, corev1.LoadBalancerIPModeVIP)
		}
	}
}

// reachable reports a service that can be reached from outside of the cluster.
func reachable(s *corev1.Service) bool {
	return TakesNodePorts(s) || s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0
}

// TakesNodePorts reports a service whose ports are open on every node.
func TakesNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// TakesHealthPort reports a service that the load balancer asks on every node whether one of its pods is there.
func TakesHealthPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// TakesClusterIP reports a service with an address; None counts as one.
func TakesClusterIP(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }

// Headless reports a service with the address None.
func Headless(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

func sameClusterIPs(a, b *corev1.Service) bool {
	return a.Spec.ClusterIP == b.Spec.ClusterIP && slices.Equal(a.Spec.ClusterIPs, b.Spec.ClusterIPs)
}

func sameFamilies(a, b *corev1.Service) bool {
	return slices.Equal(a.Spec.IPFamilies, b.Spec.IPFamilies)
}

// policy of a service about IP families; empty when it says nothing.
func policy(s *corev1.Service) corev1.IPFamilyPolicy {
	if s.Spec.IPFamilyPolicy == nil {
		return ""
	}
	return *s.Spec.IPFamilyPolicy
}

// dropUnneeded clears what a change of type leaves without use, where the user did not change it as well: then validation is to refuse it.
func dropUnneeded(s, old *corev1.Service) {
	now, was := &s.Spec, &old.Spec
	if TakesClusterIP(old) && !TakesClusterIP(s) {
		if sameClusterIPs(s, old) {
			now.ClusterIP, now.ClusterIPs = "", nil
		}
		if sameFamilies(s, old) {
			now.IPFamilies = nil
		}
		if policy(s) == policy(old) {
			now.IPFamilyPolicy = nil
		}
	}
	if TakesNodePorts(old) && !TakesNodePorts(s) && noNewNodePort(s, old) {
		for i := range now.Ports {
			now.Ports[i].NodePort = 0
		}
	}
	if TakesHealthPort(old) && !TakesHealthPort(s) && now.HealthCheckNodePort == was.HealthCheckNodePort {
		now.HealthCheckNodePort = 0
	}
	if was.Type == corev1.ServiceTypeLoadBalancer && now.Type != corev1.ServiceTypeLoadBalancer {
		if apiequality.Semantic.DeepEqual(now.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
			now.AllocateLoadBalancerNodePorts = nil
		}
		if apiequality.Semantic.DeepEqual(now.LoadBalancerClass, was.LoadBalancerClass) {
			now.LoadBalancerClass = nil
		}
	}
	if reachable(old) && !reachable(s) && now.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		now.ExternalTrafficPolicy = ""
	}
	if now.Type != corev1.ServiceTypeLoadBalancer {
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

func noNewNodePort(s, old *corev1.Service) bool {
	for _, p := range s.Spec.Ports {
		if p.NodePort != 0 && !slices.ContainsFunc(old.Spec.Ports, func(o corev1.ServicePort) bool { return o.NodePort == p.NodePort }) {
			return false
		}
	}
	return true
}
