package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// validatePod checks what users get wrong in pods, in the order and words of k/k pkg/apis/core/validation.
func validatePod(p *corev1.Pod) field.ErrorList {
	return ValidateSpec(&p.Spec, field.NewPath("spec"))
}

// ValidateSpec checks what pods and templates share.
func ValidateSpec(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(s.Volumes, at.Child("volumes"))
	errs = append(errs, validateContainers(s, volumes, at)...)
	policies := []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
	if !slices.Contains(policies, s.RestartPolicy) {
		errs = append(errs, check.NotSupported(at.Child("restartPolicy"), s.RestartPolicy, policies))
	}
	dns := []corev1.DNSPolicy{corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone}
	if !slices.Contains(dns, s.DNSPolicy) {
		errs = append(errs, check.NotSupported(at.Child("dnsPolicy"), s.DNSPolicy, dns))
	}
	errs = append(errs, check.Labels(s.NodeSelector, at.Child("nodeSelector"))...)
	if s.NodeName != "" {
		for _, text := range apivalidation.NameIsDNSSubdomain(s.NodeName, false) {
			errs = append(errs, field.Invalid(at.Child("nodeName"), s.NodeName, text))
		}
	}
	if s.ActiveDeadlineSeconds != nil && (*s.ActiveDeadlineSeconds < 1 || *s.ActiveDeadlineSeconds > 1<<31-1) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *s.ActiveDeadlineSeconds, validation.InclusiveRangeError(1, 1<<31-1)))
	}
	errs = append(errs, validateTolerations(s.Tolerations, at.Child("tolerations"))...)
	return errs
}

func validateVolumes(list []corev1.Volume, at *field.Path) (map[string]bool, field.ErrorList) {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, v := range list {
		name := at.Index(i).Child("name")
		if v.Name == "" {
			errs = append(errs, field.Required(name, ""))
			continue
		}
		errs = append(errs, check.DNSLabel(v.Name, name)...)
		if names[v.Name] {
			errs = append(errs, field.Duplicate(name, v.Name))
		}
		names[v.Name] = true
	}
	return names, errs
}

func validateContainers(s *corev1.PodSpec, volumes map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	list := at.Child("containers")
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(list, ""))
	}
	names := map[string]bool{}
	ports := map[string]bool{}
	var claims []string
	for i := range s.ResourceClaims {
		claims = append(claims, s.ResourceClaims[i].Name)
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		at := list.Index(i)
		errs = append(errs, validateName(c.Name, names, at.Child("name"))...)
		errs = append(errs, validateContainer(c, volumes, claims, at)...)
		errs = append(errs, validateProbe(c.LivenessProbe, true, at.Child("livenessProbe"))...)
		errs = append(errs, validateProbe(c.ReadinessProbe, false, at.Child("readinessProbe"))...)
		errs = append(errs, validateProbe(c.StartupProbe, true, at.Child("startupProbe"))...)
	}
	for i := range s.Containers {
		errs = append(errs, hostPorts(&s.Containers[i], ports, list.Index(i).Child("ports"))...)
	}
	inits := at.Child("initContainers")
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		at := inits.Index(i)
		errs = append(errs, validateName(c.Name, names, at.Child("name"))...)
		errs = append(errs, validateContainer(c, volumes, claims, at)...)
		if c.RestartPolicy == nil {
			for _, p := range []struct {
				probe *corev1.Probe
				name  string
			}{{c.LivenessProbe, "livenessProbe"}, {c.ReadinessProbe, "readinessProbe"}, {c.StartupProbe, "startupProbe"}} {
				if p.probe != nil {
					errs = append(errs, field.Forbidden(at.Child(p.name), "may not be set for init containers without restartPolicy=Always"))
				}
			}
		}
	}
	return errs
}

func validateName(name string, seen map[string]bool, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := check.DNSLabel(name, at)
	if seen[name] {
		errs = append(errs, field.Duplicate(at, name))
	}
	seen[name] = true
	return errs
}

func validateContainer(c *corev1.Container, volumes map[string]bool, claims []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	} else if len(c.Image) != len(strings.TrimSpace(c.Image)) {
		errs = append(errs, field.Invalid(at.Child("image"), c.Image, "must not have leading or trailing whitespace"))
	}
	for i, p := range c.Ports {
		at := at.Child("ports").Index(i)
		if p.Name != "" {
			for _, text := range validation.IsValidPortName(p.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, text))
			}
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, check.PortRange(int(p.ContainerPort), at.Child("containerPort"))...)
		}
		if p.HostPort != 0 {
			errs = append(errs, check.PortRange(int(p.HostPort), at.Child("hostPort"))...)
		}
		protocols := []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
		if !slices.Contains(protocols, p.Protocol) {
			errs = append(errs, check.NotSupported(at.Child("protocol"), p.Protocol, protocols))
		}
	}
	for i, e := range c.Env {
		if e.Name == "" {
			errs = append(errs, field.Required(at.Child("env").Index(i).Child("name"), ""))
		}
	}
	for i, m := range c.VolumeMounts {
		at := at.Child("volumeMounts").Index(i)
		switch {
		case m.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case !volumes[m.Name]:
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
	}
	policies := []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	if !slices.Contains(policies, c.ImagePullPolicy) {
		errs = append(errs, check.NotSupported(at.Child("imagePullPolicy"), c.ImagePullPolicy, policies))
	}
	return append(errs, check.Requirements(&c.Resources, check.ContainerResource, claims, at.Child("resources"))...)
}

func hostPorts(c *corev1.Container, seen map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range c.Ports {
		if p.HostPort == 0 {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
		if seen[key] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("hostPort"), key))
		}
		seen[key] = true
	}
	return errs
}

func validateProbe(p *corev1.Probe, once bool, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	handlers := 0
	checkPort := func(port intstr.IntOrString, at *field.Path) {
		if port.Type == intstr.Int {
			errs = append(errs, check.PortRange(port.IntValue(), at)...)
			return
		}
		for _, text := range validation.IsValidPortName(port.StrVal) {
			errs = append(errs, field.Invalid(at, port.StrVal, text))
		}
	}
	one := func(name string) {
		if handlers++; handlers > 1 {
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 handler type"))
		}
	}
	if p.Exec != nil {
		one("exec")
		if len(p.Exec.Command) == 0 {
			errs = append(errs, field.Required(at.Child("exec", "command"), ""))
		}
	}
	if p.HTTPGet != nil {
		one("httpGet")
		checkPort(p.HTTPGet.Port, at.Child("httpGet", "port"))
	}
	if p.TCPSocket != nil {
		one("tcpSocket")
		checkPort(p.TCPSocket.Port, at.Child("tcpSocket", "port"))
	}
	if p.GRPC != nil {
		one("grpc")
		errs = append(errs, check.PortRange(int(p.GRPC.Port), at.Child("grpc", "port"))...)
	}
	if handlers == 0 {
		errs = append(errs, field.Required(at, "must specify a handler type"))
	}
	for _, n := range []struct {
		name  string
		value int32
	}{{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold}, {"failureThreshold", p.FailureThreshold}} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.value), at.Child(n.name))...)
	}
	if once && p.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	return errs
}

func validateTolerations(list []corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		at := at.Index(i)
		if t.Key != "" {
			errs = append(errs, check.LabelKey(t.Key, at.Child("key"))...)
		}
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			errs = append(errs, check.LabelValue(t.Value, at.Child("operator"))...)
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("operator"), t, "value must be empty when `operator` is 'Exists'"))
			}
		default:
			errs = append(errs, check.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		errs = append(errs, check.TaintEffect(t.Effect, true, at.Child("effect"))...)
	}
	return errs
}
