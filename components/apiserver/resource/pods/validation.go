package pods

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// validatePod checks a pod to be made, in the order and words of k/k pkg/apis/core/validation.
func validatePod(p *corev1.Pod) field.ErrorList {
	errs := validateWhole(p, lenient{})
	at := field.NewPath("spec")
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) != 0 {
		errs = append(errs, field.Forbidden(at.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, profilesMatch(p.Annotations, &p.Spec, at)...)
}

// validateWhole checks what new and changed pods have in common.
func validateWhole(p *corev1.Pod, l lenient) field.ErrorList {
	at := field.NewPath("spec")
	errs := validateAnnotations(p.Annotations, &p.Spec, field.NewPath("metadata", "annotations"))
	errs = append(errs, validateSpec(&p.Spec, &p.ObjectMeta, l, at)...)
	if p.Spec.ServiceAccountName == "" {
		for i, v := range p.Spec.Volumes {
			if v.Projected == nil {
				continue
			}
			for j, s := range v.Projected.Sources {
				if s.ServiceAccountToken != nil {
					errs = append(errs, field.Forbidden(at.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"), "must not be specified when serviceAccountName is not set"))
				}
			}
		}
	}
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(*g, at.Child("terminationGracePeriodSeconds"))...)
	}
	for i := range p.Spec.Containers {
		errs = append(errs, trimmed(p.Spec.Containers[i].Image, at.Child("containers").Index(i))...)
	}
	for i := range p.Spec.InitContainers {
		errs = append(errs, trimmed(p.Spec.InitContainers[i].Image, at.Child("initContainers").Index(i))...)
	}
	return errs
}

// trimmed refuses blanks around the name of an image, in pods; templates may have them, for the sake of old ones.
func trimmed(image string, at *field.Path) field.ErrorList {
	if len(image) == len(strings.TrimSpace(image)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("image"), image, "must not have leading or trailing whitespace")}
}

// validateAnnotations checks the annotations that mean something in pods.
func validateAnnotations(a map[string]string, s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v, mirror := a[corev1.MirrorPodAnnotationKey]; mirror && s.NodeName == "" {
		errs = append(errs, field.Invalid(at.Key(corev1.MirrorPodAnnotationKey), v, "must set spec.nodeName if mirror pod annotation is set"))
	}
	if v := a[tolerationsAnnotation]; v != "" {
		var list []corev1.Toleration
		if err := json.Unmarshal([]byte(v), &list); err != nil {
			errs = append(errs, field.Invalid(at, tolerationsAnnotation, err.Error()))
		} else {
			errs = append(errs, Tolerations(list, at.Child(tolerationsAnnotation))...)
		}
	}
	if v, has := a[corev1.PodDeletionCost]; has {
		if _, err := strconv.ParseInt(v, 10, 32); err != nil || strings.HasPrefix(v, "+") || len(v) > 1 && strings.HasPrefix(v, "0") {
			errs = append(errs, field.Invalid(at.Key(corev1.PodDeletionCost), v, "must be a 32bit integer"))
		}
	}
	return append(errs, profileAnnotations(a, s, at)...)
}

// tolerationsAnnotation held tolerations before there was a field for them. It does nothing any more, but is looked at.
const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"

// validateSpec checks what pods and templates share; meta is nil in templates.
func validateSpec(s *corev1.PodSpec, meta *metav1.ObjectMeta, l lenient, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.TerminationGracePeriodSeconds == nil {
		errs = append(errs, field.Required(at.Child("terminationGracePeriodSeconds"), ""))
	}
	vols, bad := validateVolumes(s.Volumes, meta, at.Child("volumes"))
	errs = append(errs, bad...)
	errs = append(errs, validateClaims(s.ResourceClaims, meta, at.Child("resourceClaims"))...)
	c := containers{spec: s, volumes: vols, hostUsers: s.HostUsers == nil || *s.HostUsers}
	for i := range s.ResourceClaims {
		if name := s.ResourceClaims[i].Name; name != "" {
			c.claims = append(c.claims, name)
		}
	}
	errs = append(errs, c.regular(at.Child("containers"))...)
	errs = append(errs, c.init(at.Child("initContainers"))...)
	errs = append(errs, c.ephemeral(at.Child("ephemeralContainers"))...)
	errs = append(errs, validatePodResources(s, c.claims, at.Child("resources"))...)
	errs = append(errs, hostNetworkPorts(s, meta != nil, at.Child("containers"))...)
	errs = append(errs, setOrNotSupported(at.Child("restartPolicy"), s.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, setOrNotSupported(at.Child("dnsPolicy"), s.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, check.Labels(s.NodeSelector, at.Child("nodeSelector"))...)
	errs = append(errs, validatePodSecurity(s, at.Child("securityContext"))...)
	if s.ShareProcessNamespace != nil && s.HostPID && *s.ShareProcessNamespace {
		errs = append(errs, field.Invalid(at.Child("shareProcessNamespace"), *s.ShareProcessNamespace, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, validateAffinity(s.Affinity, l, at.Child("affinity"))...)
	errs = append(errs, validateDNS(s, at.Child("dnsConfig"))...)
	for i, g := range s.ReadinessGates {
		errs = append(errs, check.QualifiedName(string(g.ConditionType), at.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	for i, g := range s.SchedulingGates {
		at := at.Child("schedulingGates").Index(i)
		errs = append(errs, check.QualifiedName(g.Name, at)...)
		if slices.Contains(s.SchedulingGates[:i], g) {
			errs = append(errs, field.Duplicate(at, g.Name))
		}
	}
	errs = append(errs, validateSpread(s.TopologySpreadConstraints, l, at.Child("topologySpreadConstraints"))...)
	errs = append(errs, validateHostProcess(s, at)...)
	errs = append(errs, validateHostUsers(s, at)...)
	errs = append(errs, validateNames(s, at)...)
	errs = append(errs, Tolerations(s.Tolerations, at.Child("tolerations"))...)
	for i, a := range s.HostAliases {
		at := at.Child("hostAliases").Index(i)
		errs = append(errs, validation.IsValidIPForLegacyField(at.Child("ip"), a.IP, true, nil)...)
		for j, h := range a.Hostnames {
			errs = append(errs, check.Subdomain(h, at.Child("hostnames").Index(j))...)
		}
	}
	for _, n := range []struct{ name, value string }{{"priorityClassName", s.PriorityClassName}, {"runtimeClassName", deref(s.RuntimeClassName)}} {
		if n.value != "" || n.name == "runtimeClassName" && s.RuntimeClassName != nil {
			errs = append(errs, check.Texts(at.Child(n.name), n.value, apivalidation.NameIsDNSSubdomain(n.value, false))...)
		}
	}
	if p := s.PreemptionPolicy; p != nil {
		errs = append(errs, setOrNotSupported(at.Child("preemptionPolicy"), *p, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	errs = append(errs, check.Requirements(&corev1.ResourceRequirements{Limits: s.Overhead}, check.ContainerResource, nil, at.Child("overhead"))...)
	errs = append(errs, validateOS(s, at)...)
	return append(errs, validateFileVolumes(s, at)...)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// setOrNotSupported asks for one of some values.
func setOrNotSupported[T ~string](at *field.Path, v T, supported ...T) field.ErrorList {
	return check.SetOneOf(at, v, supported...)
}

func validateClaims(list []corev1.PodResourceClaim, meta *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range list {
		at := at.Index(i)
		if meta != nil {
			if _, static := meta.Annotations[corev1.MirrorPodAnnotationKey]; static {
				errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
				continue
			}
		}
		switch {
		case c.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case slices.ContainsFunc(list[:i], func(o corev1.PodResourceClaim) bool { return o.Name == c.Name }):
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		default:
			errs = append(errs, check.Label1123(c.Name, at.Child("name"))...)
		}
		switch {
		case c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil:
			errs = append(errs, field.Invalid(at, check.GoForm(c), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		case c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil:
			errs = append(errs, field.Invalid(at, check.GoForm(c), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		for _, n := range []struct {
			name  string
			value *string
		}{{"resourceClaimName", c.ResourceClaimName}, {"resourceClaimTemplateName", c.ResourceClaimTemplateName}} {
			if n.value != nil {
				errs = append(errs, check.Texts(at.Child(n.name), *n.value, apivalidation.NameIsDNSSubdomain(*n.value, false))...)
			}
		}
	}
	return errs
}

// hostNetworkPorts: with the node's network a port of a container is one of the node. Templates may leave it out, since pods get it filled in.
func hostNetworkPorts(s *corev1.PodSpec, pod bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !s.HostNetwork {
		return nil
	}
	for i := range s.Containers {
		for j, p := range s.Containers[i].Ports {
			if (pod || p.HostPort != 0) && p.HostPort != p.ContainerPort {
				errs = append(errs, field.Invalid(at.Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

// Limits of name resolution (those of the C library).
const (
	nameserversMax  = 3
	searchesMax     = 32
	searchLengthMax = 2048
)

func validateDNS(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	c := s.DNSConfig
	if s.DNSPolicy == corev1.DNSNone {
		if c == nil {
			return field.ErrorList{field.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(c.Nameservers) == 0 {
			return field.ErrorList{field.Required(at.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	if len(c.Nameservers) > nameserversMax {
		errs = append(errs, field.Invalid(at.Child("nameservers"), c.Nameservers, fmt.Sprintf("must not have more than %v nameservers", nameserversMax)))
	}
	for i, ip := range c.Nameservers {
		errs = append(errs, validation.IsValidIPForLegacyField(at.Child("nameservers").Index(i), ip, true, nil)...)
	}
	if len(c.Searches) > searchesMax {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v search paths", searchesMax)))
	}
	if len(strings.Join(c.Searches, " ")) > searchLengthMax {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", searchLengthMax)))
	}
	for i, search := range c.Searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			errs = append(errs, check.Texts(at.Child("searches").Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(search))...)
		}
	}
	for i, o := range c.Options {
		if o.Name == "" {
			errs = append(errs, field.Required(at.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

func validateHostUsers(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	if s.HostUsers == nil || *s.HostUsers {
		return nil
	}
	const text = "when `hostUsers` is false"
	var errs field.ErrorList
	for _, h := range []struct {
		set  bool
		name string
	}{{s.HostNetwork, "hostNetwork"}, {s.HostPID, "HostPID"}, {s.HostIPC, "HostIPC"}} {
		if h.set {
			errs = append(errs, field.Forbidden(at.Child(h.name), text))
		}
	}
	each(s, at, func(c *corev1.Container, at *field.Path) {
		if len(c.VolumeDevices) > 0 {
			errs = append(errs, field.Forbidden(at.Child("volumeDevices"), text))
		}
	})
	return errs
}

// validateNames checks what a pod is called and what it names.
func validateNames(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if h := s.HostnameOverride; h != nil {
		at := at.Child("hostnameOverride")
		if s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN {
			errs = append(errs, field.Forbidden(at, "may not be specified when setHostnameAsFQDN is true"))
		}
		if s.HostNetwork {
			errs = append(errs, field.Forbidden(at, "may not be specified when hostNetwork is true"))
		}
		if len(*h) > 64 {
			errs = append(errs, field.TooLong(at, "", 64))
		}
		errs = append(errs, check.Subdomain(*h, at)...)
	}
	for _, n := range []struct {
		name, value string
	}{{"serviceAccountName", s.ServiceAccountName}, {"nodeName", s.NodeName}} {
		if n.value != "" {
			errs = append(errs, check.Texts(at.Child(n.name), n.value, apivalidation.NameIsDNSSubdomain(n.value, false))...)
		}
	}
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	for _, n := range []struct{ name, value string }{{"hostname", s.Hostname}, {"subdomain", s.Subdomain}} {
		if n.value != "" {
			errs = append(errs, check.Label1123(n.value, at.Child(n.name))...)
		}
	}
	return errs
}

// validateFileVolumes: files with variables lie in volumes of the pod alone.
func validateFileVolumes(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	each(s, at, func(c *corev1.Container, at *field.Path) {
		for i, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil {
				continue
			}
			name, at := e.ValueFrom.FileKeyRef.VolumeName, at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			v := slices.IndexFunc(s.Volumes, func(v corev1.Volume) bool { return v.Name == name })
			switch {
			case v < 0:
				errs = append(errs, field.NotFound(at, name))
			case s.Volumes[v].EmptyDir == nil:
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}
