package pods

import (
	"fmt"
	"reflect"
	"slices"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// containers checks the containers of one pod.
type containers struct {
	spec      *corev1.PodSpec
	volumes   map[string]*corev1.VolumeSource
	claims    []string
	hostUsers bool
}

func (c *containers) regular(at *field.Path) field.ErrorList {
	list := c.spec.Containers
	if len(list) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	for i := range list {
		ctr, at := &list[i], at.Index(i)
		errs = append(errs, c.common(ctr, at)...)
		if slices.ContainsFunc(list[:i], func(o corev1.Container) bool { return o.Name == ctr.Name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), ctr.Name))
		}
		errs = append(errs, c.watched(ctr, at)...)
		errs = append(errs, restartRules(ctr, at)...)
	}
	return append(errs, hostPorts(list, at)...)
}

func (c *containers) init(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range c.spec.Containers {
		names[c.spec.Containers[i].Name] = true
	}
	for i := range c.spec.InitContainers {
		ctr, list, at := &c.spec.InitContainers[i], at, at.Index(i)
		errs = append(errs, c.common(ctr, at)...)
		errs = append(errs, restartRules(ctr, at)...)
		if names[ctr.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), ctr.Name))
		}
		names[ctr.Name] = names[ctr.Name] || ctr.Name != ""
		errs = append(errs, hostPorts([]corev1.Container{*ctr}, list)...) // they run one by one; Kubernetes calls each of them the first
		always := ctr.RestartPolicy != nil && *ctr.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if always {
			errs = append(errs, c.watched(ctr, at)...)
			continue
		}
		for _, f := range []struct {
			set  bool
			name string
		}{{ctr.Lifecycle != nil, "lifecycle"}, {ctr.LivenessProbe != nil, "livenessProbe"}, {ctr.ReadinessProbe != nil, "readinessProbe"}, {ctr.StartupProbe != nil, "startupProbe"}} {
			if f.set {
				errs = append(errs, field.Forbidden(at.Child(f.name), "may not be set for init containers without restartPolicy=Always"))
			}
		}
		for j, p := range ctr.ResizePolicy {
			if p.RestartPolicy == corev1.RestartContainer {
				errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
			}
		}
	}
	return errs
}

// ephemeralFields are those that containers for debugging may have.
var ephemeralFields = []string{"Name", "Image", "Command", "Args", "WorkingDir", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices", "TerminationMessagePath",
	"TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext", "Stdin", "StdinOnce", "TTY"}

func (c *containers) ephemeral(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, others := map[string]bool{}, map[string]bool{}
	for _, list := range [2][]corev1.Container{c.spec.Containers, c.spec.InitContainers} {
		for i := range list {
			names[list[i].Name], others[list[i].Name] = true, true
		}
	}
	for i := range c.spec.EphemeralContainers {
		e, at := &c.spec.EphemeralContainers[i], at.Index(i)
		errs = append(errs, c.common((*corev1.Container)(&e.EphemeralContainerCommon), at)...)
		errs = append(errs, trimmed(e.Image, at)...)
		if names[e.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		names[e.Name] = true
		if e.TargetContainerName != "" && !others[e.TargetContainerName] {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), e.TargetContainerName))
		}
		errs = append(errs, onlyFields(e.EphemeralContainerCommon, ephemeralFields, "cannot be set for an Ephemeral Container", at)...)
		for j, m := range e.VolumeMounts {
			at := at.Child("volumeMounts").Index(j)
			if m.SubPath != "" {
				errs = append(errs, field.Forbidden(at.Child("subPath"), "cannot be set for an Ephemeral Container"))
			}
			if m.SubPathExpr != "" {
				errs = append(errs, field.Forbidden(at.Child("subPathExpr"), "cannot be set for an Ephemeral Container"))
			}
		}
	}
	return errs
}

// onlyFields refuses all fields of a struct but some, named as in Go.
func onlyFields(v any, allowed []string, text string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	val := reflect.ValueOf(v)
	for i := range val.NumField() {
		name := val.Type().Field(i).Name
		if slices.Contains(allowed, name) || val.Field(i).IsZero() {
			continue
		}
		r, n := utf8.DecodeRuneInString(name)
		errs = append(errs, field.Forbidden(at.Child(string(unicode.ToLower(r))+name[n:]), text))
	}
	return errs
}

// common checks what all containers have.
func (c *containers) common(ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ctr.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, check.Label1123(ctr.Name, at.Child("name"))...)
	}
	errs = append(errs, check.Needed(ctr.Image, at.Child("image"))...)
	errs = append(errs, setOrNotSupported(at.Child("terminationMessagePolicy"), ctr.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(ctr.Ports, at.Child("ports"))...)
	errs = append(errs, validateEnv(ctr.Env, at.Child("env"))...)
	errs = append(errs, validateEnvFrom(ctr.EnvFrom, at.Child("envFrom"))...)
	errs = append(errs, c.mounts(ctr, at.Child("volumeMounts"))...)
	errs = append(errs, c.devices(ctr, at.Child("volumeDevices"))...)
	errs = append(errs, pullPolicy(ctr.ImagePullPolicy, at.Child("imagePullPolicy"))...)
	errs = append(errs, check.Requirements(&ctr.Resources, check.ContainerResource, c.claims, at.Child("resources"))...)
	errs = append(errs, c.resizePolicy(ctr.ResizePolicy, at.Child("resizePolicy"))...)
	return append(errs, validateSecurity(ctr.SecurityContext, c.hostUsers, at.Child("securityContext"))...)
}

func pullPolicy(p corev1.PullPolicy, at *field.Path) field.ErrorList {
	return setOrNotSupported(at, p, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func validatePorts(list []corev1.ContainerPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, p := range list {
		at := at.Index(i)
		if p.Name != "" {
			switch bad := check.Texts(at.Child("name"), p.Name, validation.IsValidPortName(p.Name)); {
			case len(bad) > 0:
				errs = append(errs, bad...)
			case names[p.Name]:
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			default:
				names[p.Name] = true
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
		errs = append(errs, setOrNotSupported(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return errs
}

func hostPorts(list []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range list {
		for j, p := range list[i].Ports {
			if p.HostPort == 0 {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
			if seen[key] {
				errs = append(errs, field.Duplicate(at.Index(i).Child("ports").Index(j).Child("hostPort"), key))
			}
			seen[key] = true
		}
	}
	return errs
}

func (c *containers) resizePolicy(list []corev1.ContainerResizePolicy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range list {
		if slices.ContainsFunc(list[:i], func(o corev1.ContainerResizePolicy) bool { return o.ResourceName == p.ResourceName }) {
			errs = append(errs, field.Duplicate(at.Index(i), p.ResourceName))
		}
		errs = append(errs, setOrNotSupported(at, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, setOrNotSupported(at, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		if c.spec.RestartPolicy == corev1.RestartPolicyNever && p.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(at, p.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

// Limits of the rules by which a container starts again.
const (
	rulesMax     = 20
	exitCodesMax = 255
)

func restartRules(ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	policy := at.Child("restartPolicy")
	if ctr.RestartPolicy == nil {
		if len(ctr.RestartPolicyRules) == 0 {
			return nil
		}
		errs = append(errs, field.Required(policy, "must specify restartPolicy when restart rules are used"))
	} else {
		errs = append(errs, check.OneOf(policy, *ctr.RestartPolicy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	}
	rules := at.Child("restartPolicyRules")
	if n := len(ctr.RestartPolicyRules); n > rulesMax {
		errs = append(errs, field.TooMany(rules, n, rulesMax))
	}
	for i, r := range ctr.RestartPolicyRules {
		at := rules.Index(i)
		errs = append(errs, check.OneOf(at.Child("action"), r.Action, corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)...)
		codes := at.Child("exitCodes")
		if r.ExitCodes == nil {
			errs = append(errs, field.Required(codes, "must be specified"))
			continue
		}
		errs = append(errs, check.OneOf(codes.Child("operator"), r.ExitCodes.Operator, corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
		if n := len(r.ExitCodes.Values); n > exitCodesMax {
			errs = append(errs, field.TooMany(codes.Child("values"), n, exitCodesMax))
		}
	}
	return errs
}
