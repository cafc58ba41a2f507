package pods

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
)

// TemplateWarnings tells what people had better not write in a pod template (k/k pkg/api/pod/warnings.go).
func TemplateWarnings(t *corev1.PodTemplateSpec, at *field.Path) []string {
	return warnings(&t.Spec, &t.ObjectMeta, at)
}

// oldAnnotations do nothing any more.
var oldAnnotations = [][2]string{
	{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// warnings of a pod (at is nil) or a template.
func warnings(s *corev1.PodSpec, meta *metav1.ObjectMeta, at *field.Path) []string {
	var out []string
	say := func(at *field.Path, format string, args ...any) {
		out = append(out, at.String()+": "+fmt.Sprintf(format, args...))
	}
	spec := at.Child("spec")
	for _, k := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		if text, ok := check.DeprecatedNodeLabel(k); ok {
			say(spec.Child("nodeSelector").Key(k), "%s", text)
		}
	}
	out = append(out, affinityLabels(s.Affinity, spec.Child("affinity", "nodeAffinity"))...)
	for i, c := range s.TopologySpreadConstraints {
		at := spec.Child("topologySpreadConstraints").Index(i)
		if text, ok := check.DeprecatedNodeLabel(c.TopologyKey); ok {
			say(at.Child("topologyKey"), "%s is %s", c.TopologyKey, text)
		}
		if c.LabelSelector == nil {
			say(at.Child("labelSelector"), noPod)
		}
	}
	for _, a := range oldAnnotations {
		if _, has := meta.Annotations[a[0]]; has {
			say(at.Child("metadata", "annotations").Key(a[0]), "%s", a[1])
		}
	}
	for i := range s.Volumes {
		out = append(out, volumeWarnings(&s.Volumes[i], spec.Child("volumes").Index(i))...)
	}
	out = append(out, listWarnings(s, spec)...)
	if seccomp := corev1.SeccompPodAnnotationKey; s.SecurityContext == nil || s.SecurityContext.SeccompProfile == nil {
		if _, has := meta.Annotations[seccomp]; has {
			say(at.Child("metadata", "annotations").Key(seccomp), `non-functional in v1.27+; use the "seccompProfile" field instead`)
		}
	}
	each(s, spec, func(c *corev1.Container, p *field.Path) {
		if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
			key := corev1.SeccompContainerAnnotationKeyPrefix + c.Name
			if _, has := meta.Annotations[key]; has {
				say(at.Child("metadata", "annotations").Key(key), `non-functional in v1.27+; use the "seccompProfile" field instead`)
			}
		}
		if at != nil && (c.SecurityContext == nil || c.SecurityContext.AppArmorProfile == nil) {
			key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
			if v, has := meta.Annotations[key]; has && !podArmorIs(s, v) {
				say(at.Child("metadata", "annotations").Key(key), `deprecated since v1.30; use the "appArmorProfile" field instead`)
			}
		}
		for _, n := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			out = append(out, fraction(c.Resources.Limits, n, p.Child("resources", "limits"))...)
			out = append(out, fraction(c.Resources.Requests, n, p.Child("resources", "requests"))...)
		}
		out = append(out, hiddenEnv(c.Env, p.Child("env"))...)
	})
	out = append(out, portWarnings(s, spec)...)
	if g := s.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		say(spec.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	out = append(out, podAffinityWarnings(s.Affinity, spec.Child("affinity"))...)
	if s.DNSConfig != nil {
		for i, ns := range s.DNSConfig.Nameservers {
			out = append(out, validation.GetWarningsForIP(spec.Child("dnsConfig", "nameservers").Index(i), ns)...)
		}
	}
	for i, a := range s.HostAliases {
		out = append(out, validation.GetWarningsForIP(spec.Child("hostAliases").Index(i).Child("ip"), a.IP)...)
	}
	return out
}

// podArmorIs reports that the AppArmor profile of a pod is the one that an annotation names.
func podArmorIs(s *corev1.PodSpec, annotation string) bool {
	return s.SecurityContext != nil && s.SecurityContext.AppArmorProfile != nil && len(armorMatches(annotation, s.SecurityContext.AppArmorProfile, nil)) == 0
}

const noPod = "a null labelSelector results in matching no pod"

// each visits the containers of a pod as Kubernetes' errors and warnings do: those that run first, first.
func each(s *corev1.PodSpec, at *field.Path, fn func(*corev1.Container, *field.Path)) {
	for i := range s.InitContainers {
		fn(&s.InitContainers[i], at.Child("initContainers").Index(i))
	}
	for i := range s.Containers {
		fn(&s.Containers[i], at.Child("containers").Index(i))
	}
	for i := range s.EphemeralContainers {
		fn((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon), at.Child("ephemeralContainers").Index(i))
	}
}

func affinityLabels(a *corev1.Affinity, at *field.Path) []string {
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	var out []string
	if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		for i := range r.NodeSelectorTerms {
			out = append(out, check.NodeSelectorTermWarnings(&r.NodeSelectorTerms[i], false, at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i))...)
		}
	}
	for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
		out = append(out, check.NodeSelectorTermWarnings(&t.Preference, true, at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"))...)
	}
	return out
}

func podAffinityWarnings(a *corev1.Affinity, at *field.Path) []string {
	if a == nil {
		return nil
	}
	var out []string
	terms := func(name string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i, t := range required {
			if t.LabelSelector == nil {
				out = append(out, at.Child(name, "requiredDuringSchedulingIgnoredDuringExecution").Index(i).Child("labelSelector").String()+": "+noPod)
			}
		}
		for i, t := range preferred {
			if t.PodAffinityTerm.LabelSelector == nil {
				out = append(out, at.Child(name, "preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm", "labelSelector").String()+": "+noPod)
			}
		}
	}
	if p := a.PodAffinity; p != nil {
		terms("podAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms("podAntiAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

func volumeWarnings(v *corev1.Volume, at *field.Path) []string {
	var out []string
	for _, old := range []struct {
		set        bool
		name, text string
	}{
		{v.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
		{v.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{v.Flocker != nil, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
		{v.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{v.Quobyte != nil, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
		{v.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{v.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{v.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if old.set {
			out = append(out, at.Child(old.name).String()+": "+old.text)
		}
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		out = append(out, volumes.ClaimWarnings(&v.Ephemeral.VolumeClaimTemplate.Spec, at.Child("ephemeral", "volumeClaimTemplate", "spec"))...)
	}
	return out
}

// listWarnings tells of what stands twice in lists that patches merge.
func listWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	var out []string
	for i, a := range s.HostAliases {
		if slices.ContainsFunc(s.HostAliases[:i], func(o corev1.HostAlias) bool { return o.IP == a.IP }) {
			out = append(out, fmt.Sprintf("%s: duplicate ip %q", spec.Child("hostAliases").Index(i).Child("ip"), a.IP))
		}
	}
	for i, r := range s.ImagePullSecrets {
		if slices.Contains(s.ImagePullSecrets[:i], r) {
			out = append(out, fmt.Sprintf("%s: duplicate name %q", spec.Child("imagePullSecrets").Index(i).Child("name"), r.Name))
		}
	}
	for i, r := range s.ImagePullSecrets {
		if r.Name == "" {
			out = append(out, fmt.Sprintf("%s: invalid empty name %q", spec.Child("imagePullSecrets").Index(i).Child("name"), r.Name))
		}
	}
	for _, n := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		out = append(out, fraction(s.Overhead, n, spec.Child("overhead"))...)
	}
	return out
}

// fraction tells of parts of bytes.
func fraction(list corev1.ResourceList, name corev1.ResourceName, at *field.Path) []string {
	if q, ok := list[name]; ok && q.MilliValue()%1000 != 0 {
		return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", at.Key(string(name)), q.String())}
	}
	return nil
}

// hiddenEnv tells of variables set twice where the second does not build on the first.
func hiddenEnv(list []corev1.EnvVar, at *field.Path) []string {
	var out []string
	for i, e := range list {
		if !slices.ContainsFunc(list[:i], func(o corev1.EnvVar) bool { return o.Name == e.Name }) {
			continue
		}
		if ref := "$(" + e.Name + ")"; e.ValueFrom != nil || e.Value == ref || !strings.Contains(e.Value, ref) {
			out = append(out, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply", at.Index(i), e.Name))
		}
	}
	return out
}

// portWarnings tells of ports that meet each other.
func portWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	type block struct {
		at   *field.Path
		port corev1.ContainerPort
	}
	var out []string
	seen := map[string][]block{}
	each(s, spec, func(c *corev1.Container, at *field.Path) {
		for i, p := range c.Ports {
			at := at.Child("ports").Index(i)
			if p.HostIP != "" && p.HostPort == 0 {
				out = append(out, fmt.Sprintf("%s: hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}", at, p.Name, p.HostPort, p.ContainerPort, p.Protocol, p.HostIP))
			}
			key := fmt.Sprintf("%d/%s", p.ContainerPort, p.Protocol)
			for _, o := range seen[key] {
				how := ""
				switch {
				case p.HostIP == o.port.HostIP && p.HostPort == o.port.HostPort:
					how = "duplicate"
				case p.HostPort == 0 || o.port.HostPort == 0:
					how = "overlapping"
				case p.HostPort == o.port.HostPort && (p.HostIP == "") != (o.port.HostIP == ""):
					how = "dangerously ambiguous"
				default:
					continue
				}
				out = append(out, fmt.Sprintf("%s: %s port definition with %s", at, how, o.at))
			}
			seen[key] = append(seen[key], block{at, p})
		}
	})
	names := map[string]*field.Path{}
	each(s, spec, func(c *corev1.Container, at *field.Path) {
		for i, p := range c.Ports {
			at := at.Child("ports").Index(i)
			if p.Name == "" {
				continue
			}
			if first, twice := names[p.Name]; twice {
				out = append(out, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", at, p.Name, first, first))
			} else {
				names[p.Name] = at
			}
		}
	})
	return out
}
