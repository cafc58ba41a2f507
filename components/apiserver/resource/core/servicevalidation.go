package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// legacyIP checks an address as old fields have it; what the object had before may stay.
func legacyIP(at *field.Path, ip string, known []string) field.ErrorList {
	return validation.IsValidIPForLegacyField(at, ip, true, known)
}

// serviceTypes, sorted as errors list them.
var serviceTypes = []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort}

// validateService checks a whole service; old is nil for creations.
func validateService(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	spec, at := &s.Spec, field.NewPath("spec")
	hints, hinted := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if mode, ok := s.Annotations[corev1.AnnotationTopologyMode]; ok && hinted && mode != hints {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "annotations").Key(corev1.AnnotationTopologyMode), mode,
			fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints)))
	}
	if len(spec.Ports) == 0 && !Headless(s) && spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(at.Child("ports"), ""))
	}
	errs = append(errs, validateType(s, at)...)
	for i := range spec.Ports {
		errs = append(errs, validateServicePort(spec.Ports, i, at.Child("ports").Index(i))...)
	}
	errs = append(errs, check.Labels(spec.Selector, at.Child("selector"))...)
	errs = append(errs, validateAffinity(spec, at)...)
	errs = append(errs, validateClusterIPs(s, old)...)
	errs = append(errs, validateExternalIPs(s, old, at.Child("externalIPs"))...)
	errs = append(errs, check.SetOneOf(at.Child("type"), spec.Type, serviceTypes...)...)
	errs = append(errs, validateNumbers(spec, at.Child("ports"))...)
	errs = append(errs, validateSourceRanges(s, old, at)...)
	balanced := spec.Type == corev1.ServiceTypeLoadBalancer
	if spec.AllocateLoadBalancerNodePorts != nil && !balanced {
		errs = append(errs, field.Forbidden(at.Child("allocateLoadBalancerNodePorts"), onlyBalanced))
	}
	if balanced && spec.AllocateLoadBalancerNodePorts == nil {
		errs = append(errs, field.Required(field.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	errs = append(errs, validateClass(s, nil)...)
	return append(errs, validateTraffic(s, at)...)
}

const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"

// validateType checks what goes with the type of a service.
func validateType(s *corev1.Service, at *field.Path) field.ErrorList {
	spec := &s.Spec
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if Headless(s) {
			return field.ErrorList{field.Invalid(at.Child("clusterIPs").Index(0), spec.ClusterIPs[0], fmt.Sprintf("may not be set to 'None' for %s services", spec.Type))}
		}
		return nil
	case corev1.ServiceTypeExternalName:
	default:
		return nil
	}
	var errs field.ErrorList
	for _, f := range []struct {
		set  bool
		name string
	}{{len(spec.ClusterIPs) > 0, "clusterIPs"}, {len(spec.IPFamilies) > 0, "ipFamilies"}, {spec.IPFamilyPolicy != nil, "ipFamilyPolicy"}} {
		if f.set {
			errs = append(errs, field.Forbidden(at.Child(f.name), "may not be set for ExternalName services"))
		}
	}
	name := strings.TrimSuffix(spec.ExternalName, ".") // a dot at the end says that the name is whole
	if name == "" {
		return append(errs, field.Required(at.Child("externalName"), ""))
	}
	return append(errs, check.Subdomain(name, at.Child("externalName"))...)
}

func validateServicePort(list []corev1.ServicePort, i int, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	p := &list[i]
	switch {
	case p.Name != "":
		errs = append(errs, check.Label1123(p.Name, at.Child("name"))...)
		if slices.ContainsFunc(list[:i], func(o corev1.ServicePort) bool { return o.Name == p.Name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
	case len(list) > 1:
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, check.PortRange(int(p.Port), at.Child("port"))...)
	errs = append(errs, check.SetOneOf(at.Child("protocol"), p.Protocol, protocols...)...)
	errs = append(errs, check.PortOrName(p.TargetPort, at.Child("targetPort"))...)
	if p.AppProtocol != nil {
		errs = append(errs, check.QualifiedName(*p.AppProtocol, at.Child("appProtocol"))...)
	}
	return errs
}

func validateAffinity(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	errs := check.SetOneOf(at.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	at = at.Child("sessionAffinityConfig")
	c := spec.SessionAffinityConfig
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		if c != nil {
			errs = append(errs, field.Forbidden(at, "must not be set when session affinity is None"))
		}
	case corev1.ServiceAffinityClientIP:
		const needed = "when session affinity type is ClientIP"
		switch {
		case c == nil:
			errs = append(errs, field.Required(at, needed))
		case c.ClientIP == nil:
			errs = append(errs, field.Required(at.Child("clientIP"), needed))
		case c.ClientIP.TimeoutSeconds == nil:
			errs = append(errs, field.Required(at.Child("clientIP", "timeoutSeconds"), needed))
		default:
			if n := *c.ClientIP.TimeoutSeconds; n <= 0 || n > affinityMax {
				errs = append(errs, field.Invalid(at.Child("clientIP", "timeoutSeconds"), n, fmt.Sprintf("must be greater than 0 and less than %d", affinityMax)))
			}
		}
	}
	return errs
}

// affinityMax is how long a client may be sent to the same pod, in seconds.
const affinityMax = 86400

func validateExternalIPs(s, old *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var known []string
	if old != nil {
		known = old.Spec.ExternalIPs
	}
	for i, ip := range s.Spec.ExternalIPs {
		if bad := legacyIP(at.Index(i), ip, known); len(bad) > 0 {
			errs = append(errs, bad...)
		} else {
			errs = append(errs, check.UsableIP(ip, at.Index(i))...)
		}
	}
	return errs
}

// validateNumbers checks the numbers of ports against each other and the type.
func validateNumbers(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Type == corev1.ServiceTypeClusterIP {
		for i, p := range spec.Ports {
			if p.NodePort != 0 {
				errs = append(errs, field.Forbidden(at.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
			}
		}
	}
	for i, p := range spec.Ports {
		if p.NodePort != 0 && slices.ContainsFunc(spec.Ports[:i], func(o corev1.ServicePort) bool { return o.Protocol == p.Protocol && o.NodePort == p.NodePort }) {
			errs = append(errs, field.Duplicate(at.Index(i).Child("nodePort"), p.NodePort))
		}
	}
	for i, p := range spec.Ports {
		if slices.ContainsFunc(spec.Ports[:i], func(o corev1.ServicePort) bool { return o.Protocol == p.Protocol && o.Port == p.Port }) {
			errs = append(errs, field.Duplicate(at.Index(i), check.GoForm(corev1.ServicePort{Protocol: p.Protocol, Port: p.Port})))
		}
	}
	return errs
}

// validateSourceRanges checks who may use a load balancer, in the field or in the annotation that was before it.
func validateSourceRanges(s, old *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if list := s.Spec.LoadBalancerSourceRanges; len(list) > 0 {
		at := at.Child("LoadBalancerSourceRanges")
		if !balanced {
			errs = append(errs, field.Forbidden(at, onlyBalanced))
		}
		var known []string
		if old != nil {
			for _, v := range old.Spec.LoadBalancerSourceRanges {
				known = append(known, strings.TrimSpace(v))
			}
		}
		for i, v := range list {
			errs = append(errs, validation.IsValidCIDRForLegacyField(at.Index(i), strings.TrimSpace(v), true, known)...)
		}
		return errs
	}
	text, ok := s.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if !ok {
		return nil
	}
	at = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	if !balanced {
		errs = append(errs, field.Forbidden(at, onlyBalanced))
	}
	if strings.TrimSpace(text) == "" || old != nil && old.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey] == text {
		return errs
	}
	for _, v := range strings.Split(strings.TrimSpace(text), ",") {
		errs = append(errs, validation.IsValidCIDRForLegacyField(at, strings.TrimSpace(v), true, nil)...)
	}
	return errs
}

// validateClass checks the class of load balancer; old is nil where the class may be new.
func validateClass(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	at, class := field.NewPath("spec", "loadBalancerClass"), s.Spec.LoadBalancerClass
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if old != nil && balanced && old.Spec.Type == corev1.ServiceTypeLoadBalancer {
		if was := old.Spec.LoadBalancerClass; (was == nil) != (class == nil) || was != nil && *was != *class {
			errs = append(errs, field.Invalid(at, class, "may not change once set"))
		}
	}
	switch {
	case class == nil:
	case balanced:
		errs = append(errs, check.QualifiedName(*class, at)...)
	default:
		errs = append(errs, field.Forbidden(at, onlyBalanced))
	}
	return errs
}

var distributions = []string{corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode}

// validateTraffic checks where the traffic of a service goes.
func validateTraffic(s *corev1.Service, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec := &s.Spec
	external := at.Child("externalTrafficPolicy")
	switch {
	case reachable(s):
		errs = append(errs, check.SetOneOf(external, spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	case spec.ExternalTrafficPolicy != "":
		errs = append(errs, field.Invalid(external, spec.ExternalTrafficPolicy, "may only be set for externally-accessible services"))
	}
	health := at.Child("healthCheckNodePort")
	switch n := spec.HealthCheckNodePort; {
	case !TakesHealthPort(s) && n != 0:
		errs = append(errs, field.Invalid(health, n, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	case TakesHealthPort(s) && n == 0:
		errs = append(errs, field.Required(health, ""))
	case TakesHealthPort(s):
		errs = append(errs, check.PortRange(int(n), health)...)
	}
	internal := at.Child("internalTrafficPolicy")
	if p := spec.InternalTrafficPolicy; p != nil {
		errs = append(errs, check.OneOf(internal, *p, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	} else if TakesNodePorts(s) || spec.Type == corev1.ServiceTypeClusterIP {
		errs = append(errs, field.Required(internal, ""))
	}
	if d := spec.TrafficDistribution; d != nil {
		errs = append(errs, check.OneOf(at.Child("trafficDistribution"), *d, distributions...)...)
	}
	return errs
}

const setOnce = "may not change once set"

// validateServiceChange refuses changes of what a service has once and for all, unless it comes from or goes to ExternalName.
func validateServiceChange(s, old *corev1.Service) field.ErrorList {
	errs := validateIPChange(s, old)
	errs = append(errs, validateFamilyChange(s, old)...)
	errs = append(errs, validateClass(s, old)...)
	if TakesHealthPort(old) && TakesHealthPort(s) && s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "healthCheckNodePort"), "field is immutable"))
	}
	return errs
}

func validateIPChange(s, old *corev1.Service) field.ErrorList {
	if !TakesClusterIP(s) || !TakesClusterIP(old) || Headless(s) && Headless(old) {
		return nil
	}
	var errs field.ErrorList
	now, was, at := s.Spec.ClusterIPs, old.Spec.ClusterIPs, field.NewPath("spec", "clusterIPs")
	if len(now) == len(was) {
		for i := range was {
			if now[i] != was[i] {
				errs = append(errs, field.Invalid(at.Index(i), now, setOnce))
			}
		}
		return errs
	}
	if len(now) == 0 {
		errs = append(errs, field.Invalid(at.Index(0), now, "primary clusterIP can not be unset"))
	}
	if len(now) > 0 && len(was) > 0 && now[0] != was[0] {
		errs = append(errs, field.Invalid(at.Index(0), now, setOnce))
	}
	if len(was) > len(now) && len(now) == 1 && policy(s) != corev1.IPFamilyPolicySingleStack {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return errs
}

func validateFamilyChange(s, old *corev1.Service) field.ErrorList {
	if !TakesClusterIP(s) || !TakesClusterIP(old) || Headless(s) || Headless(old) {
		return nil
	}
	var errs field.ErrorList
	now, was, at := s.Spec.IPFamilies, old.Spec.IPFamilies, field.NewPath("spec", "ipFamilies").Index(0)
	if len(now) == len(was) {
		for i := range was {
			if now[i] != was[i] {
				errs = append(errs, field.Invalid(at, now, setOnce))
			}
		}
		return errs
	}
	if len(was) > len(now) && len(s.Spec.ClusterIPs) == 0 {
		errs = append(errs, field.Invalid(at, now, "primary ipFamily can not be unset"))
	}
	if len(now) > 0 && len(was) > 0 && now[0] != was[0] {
		errs = append(errs, field.Invalid(at, s.Spec.ClusterIPs, setOnce)) // Kubernetes shows the addresses here
	}
	if len(was) > len(now) && len(now) == 1 && policy(s) != corev1.IPFamilyPolicySingleStack {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily"))
	}
	return errs
}

// validateLoadBalancer checks the status of a service.
func validateLoadBalancer(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	at, list := field.NewPath("status", "loadBalancer", "ingress"), s.Status.LoadBalancer.Ingress
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer && len(list) != 0 {
		return field.ErrorList{field.Forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	var known []string
	for _, in := range old.Status.LoadBalancer.Ingress {
		known = append(known, in.IP)
	}
	for i, in := range list {
		at := at.Index(i)
		if in.IP != "" {
			errs = append(errs, legacyIP(at.Child("ip"), in.IP, known)...)
		}
		switch mode := at.Child("ipMode"); {
		case in.IPMode == nil && in.IP != "":
			errs = append(errs, field.Required(mode, "must be specified when `ip` is set"))
		case in.IPMode != nil && in.IP == "":
			errs = append(errs, field.Forbidden(mode, "may not be specified when `ip` is not set"))
		case in.IPMode != nil:
			errs = append(errs, check.OneOf(mode, *in.IPMode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)...)
		}
		if in.Hostname != "" {
			errs = append(errs, check.Subdomain(in.Hostname, at.Child("hostname"))...)
			if netutils.ParseIPSloppy(in.Hostname) != nil {
				errs = append(errs, field.Invalid(at.Child("hostname"), in.Hostname, "must be a DNS name, not an IP address"))
			}
		}
	}
	return errs
}

func serviceWarnings(s *corev1.Service) []string {
	var out []string
	spec, at := &s.Spec, field.NewPath("spec")
	if _, has := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; has {
		out = append(out, fmt.Sprintf("annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	headless := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	if spec.ClusterIP != "" && spec.ClusterIP != corev1.ClusterIPNone {
		for i, ip := range spec.ClusterIPs {
			out = append(out, validation.GetWarningsForIP(at.Child("clusterIPs").Index(i), ip)...)
		}
	}
	if headless {
		for _, f := range []struct {
			set  bool
			name string
		}{{spec.LoadBalancerIP != "", "loadBalancerIP"}, {len(spec.ExternalIPs) > 0, "externalIPs"}, {spec.SessionAffinity != corev1.ServiceAffinityNone, "SessionAffinity"}} {
			if f.set {
				out = append(out, "spec."+f.name+" is ignored for headless services")
			}
		}
	}
	for i, ip := range spec.ExternalIPs {
		out = append(out, validation.GetWarningsForIP(at.Child("externalIPs").Index(i), ip)...)
	}
	named := spec.Type == corev1.ServiceTypeExternalName
	if len(spec.ExternalIPs) > 0 && !headless && !named {
		out = append(out, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if spec.LoadBalancerIP != "" {
		out = append(out, validation.GetWarningsForIP(at.Child("loadBalancerIP"), spec.LoadBalancerIP)...)
	}
	for i, c := range spec.LoadBalancerSourceRanges {
		out = append(out, validation.GetWarningsForCIDR(at.Child("loadBalancerSourceRanges").Index(i), strings.TrimSpace(c))...)
	}
	if named && len(spec.ExternalIPs) > 0 {
		out = append(out, `spec.externalIPs is ignored when spec.type is "ExternalName"`)
	}
	if !named && spec.ExternalName != "" {
		out = append(out, `spec.externalName is ignored when spec.type is not "ExternalName"`)
	}
	if d := spec.TrafficDistribution; d != nil && *d == corev1.ServiceTrafficDistributionPreferClose {
		out = append(out, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", *d, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return out
}
