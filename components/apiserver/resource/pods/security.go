package pods

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

func user(id *int64, at *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return check.Texts(at, *id, validation.IsValidUserID(*id))
}

func group(id *int64, at *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return check.Texts(at, *id, validation.IsValidGroupID(*id))
}

// validateSecurity checks what a container may do.
func validateSecurity(s *corev1.SecurityContext, hostUsers bool, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := user(s.RunAsUser, at.Child("runAsUser"))
	errs = append(errs, group(s.RunAsGroup, at.Child("runAsGroup"))...)
	if p := s.ProcMount; p != nil {
		errs = append(errs, check.OneOf(at.Child("procMount"), *p, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		if hostUsers && *p == corev1.UnmaskedProcMount {
			errs = append(errs, field.Invalid(at.Child("procMount"), p, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, seccomp(s.SeccompProfile, at.Child("seccompProfile"))...)
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if s.Privileged != nil && *s.Privileged {
			errs = append(errs, field.Invalid(at, check.GoForm(s), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN") {
			errs = append(errs, field.Invalid(at, check.GoForm(s), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	errs = append(errs, windowsOptions(s.WindowsOptions, at.Child("windowsOptions"))...)
	return append(errs, appArmor(s.AppArmorProfile, at.Child("appArmorProfile"))...)
}

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

const sysctlMax = 253

// validatePodSecurity checks what all containers of a pod may do.
func validatePodSecurity(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	s := spec.SecurityContext
	if s == nil {
		return nil
	}
	errs := group(s.FSGroup, at.Child("fsGroup"))
	errs = append(errs, user(s.RunAsUser, at.Child("runAsUser"))...)
	errs = append(errs, group(s.RunAsGroup, at.Child("runAsGroup"))...)
	for i := range s.SupplementalGroups {
		errs = append(errs, group(&s.SupplementalGroups[i], at.Child("supplementalGroups").Index(i))...)
	}
	for i, c := range s.Sysctls {
		at := at.Child("sysctls").Index(i).Child("name")
		switch {
		case c.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(c.Name) > sysctlMax || !sysctlName.MatchString(c.Name):
			errs = append(errs, field.Invalid(at, c.Name, fmt.Sprintf("must have at most %d characters and match regex %s", sysctlMax, sysctlName)))
		case slices.ContainsFunc(s.Sysctls[:i], func(o corev1.Sysctl) bool { return o.Name == c.Name }):
			errs = append(errs, field.Duplicate(at, c.Name))
		}
		switch name := strings.ReplaceAll(c.Name, "/", "."); {
		case spec.HostNetwork && strings.HasPrefix(name, "net."):
			errs = append(errs, field.Invalid(at, c.Name, "may not be specified when 'hostNetwork' is true"))
		case spec.HostIPC && (strings.HasPrefix(name, "kernel.shm") || strings.HasPrefix(name, "kernel.msg") || name == "kernel.sem" || strings.HasPrefix(name, "fs.mqueue.")):
			errs = append(errs, field.Invalid(at, c.Name, "may not be specified when 'hostIPC' is true"))
		}
	}
	if p := s.FSGroupChangePolicy; p != nil {
		errs = append(errs, check.OneOf(at.Child("fsGroupChangePolicy"), *p, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	}
	errs = append(errs, seccomp(s.SeccompProfile, at.Child("seccompProfile"))...)
	errs = append(errs, windowsOptions(s.WindowsOptions, at.Child("windowsOptions"))...)
	errs = append(errs, appArmor(s.AppArmorProfile, at.Child("appArmorProfile"))...)
	if p := s.SupplementalGroupsPolicy; p != nil {
		errs = append(errs, check.OneOf(at.Child("supplementalGroupsPolicy"), *p, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	if p := s.SELinuxChangePolicy; p != nil {
		errs = append(errs, check.OneOf(at.Child("seLinuxChangePolicy"), *p, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)...)
	}
	return errs
}

func seccomp(p *corev1.SeccompProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	if p.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, check.OneOf(at.Child("type"), p.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)...)
	}
	switch file := at.Child("localhostProfile"); {
	case p.Type != corev1.SeccompProfileTypeLocalhost:
		if p.LocalhostProfile != nil {
			errs = append(errs, field.Invalid(file, check.GoForm(p), "can only be set when seccomp type is Localhost"))
		}
	case p.LocalhostProfile == nil:
		errs = append(errs, field.Required(file, "must be set when seccomp type is Localhost"))
	default:
		errs = append(errs, check.DescendingPath(*p.LocalhostProfile, file)...)
	}
	return errs
}

// profileMax is the longest path of a profile on a node.
const profileMax = 4095

func appArmor(p *corev1.AppArmorProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	const needed = "must be set when AppArmor type is Localhost"
	file := at.Child("localhostProfile")
	switch p.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		if p.LocalhostProfile == nil {
			return field.ErrorList{field.Required(file, needed)}
		}
		switch name := strings.TrimSpace(*p.LocalhostProfile); {
		case name != *p.LocalhostProfile:
			errs = append(errs, field.Invalid(file, *p.LocalhostProfile, "must not be padded with whitespace"))
		case name == "":
			errs = append(errs, field.Required(file, needed))
		}
		if len(*p.LocalhostProfile) > profileMax {
			errs = append(errs, field.TooLong(file, "", profileMax))
		}
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if p.LocalhostProfile != nil {
			errs = append(errs, field.Invalid(file, p.LocalhostProfile, "can only be set when AppArmor type is Localhost"))
		}
	case "":
		errs = append(errs, field.Required(at.Child("type"), "type is required when appArmorProfile is set"))
	default:
		errs = append(errs, check.OneOf(at.Child("type"), p.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)...)
	}
	return errs
}

// profileAnnotations checks the annotations by which profiles were set before there were fields for them.
func profileAnnotations(a map[string]string, s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, k := range slices.Sorted(maps.Keys(a)) {
		v := a[k]
		if k == corev1.SeccompPodAnnotationKey || strings.HasPrefix(k, corev1.SeccompContainerAnnotationKeyPrefix) {
			file, local := strings.CutPrefix(v, corev1.SeccompLocalhostProfileNamePrefix)
			switch {
			case v == corev1.SeccompProfileRuntimeDefault, v == corev1.DeprecatedSeccompProfileDockerDefault, v == corev1.SeccompProfileNameUnconfined:
			case local:
				errs = append(errs, check.DescendingPath(file, at.Child(k))...)
			default:
				errs = append(errs, field.Invalid(at.Child(k), v, "must be a valid seccomp profile"))
			}
		}
		name, armor := strings.CutPrefix(k, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		if !armor {
			continue
		}
		found := false
		each(s, at, func(c *corev1.Container, _ *field.Path) { found = found || c.Name == name })
		if !found {
			errs = append(errs, field.Invalid(at.Key(k), name, "container not found"))
		}
		if v != "" && v != corev1.DeprecatedAppArmorBetaProfileRuntimeDefault && v != corev1.DeprecatedAppArmorBetaProfileNameUnconfined && !strings.HasPrefix(v, corev1.DeprecatedAppArmorBetaProfileNamePrefix) {
			errs = append(errs, field.Invalid(at.Key(k), v, fmt.Sprintf("invalid AppArmor profile name: %q", v)))
		}
	}
	return errs
}

// profilesMatch refuses annotations about seccomp and AppArmor that say something else than the fields.
func profilesMatch(a map[string]string, s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	match := func(key string, p *corev1.SeccompProfile, at *field.Path) {
		v, has := a[key]
		if !has || p == nil {
			return
		}
		file, local := strings.CutPrefix(v, corev1.SeccompLocalhostProfileNamePrefix)
		same := true
		switch p.Type {
		case corev1.SeccompProfileTypeUnconfined:
			same = v == corev1.SeccompProfileNameUnconfined
		case corev1.SeccompProfileTypeRuntimeDefault:
			same = v == corev1.SeccompProfileRuntimeDefault || v == corev1.DeprecatedSeccompProfileDockerDefault
		case corev1.SeccompProfileTypeLocalhost:
			if same = local; local && (p.LocalhostProfile == nil || *p.LocalhostProfile != file) {
				errs = append(errs, field.Forbidden(at.Child("seccompProfile", "localhostProfile"), "seccomp profile in annotation and field must match"))
			}
		}
		if !same {
			errs = append(errs, field.Forbidden(at.Child("seccompProfile", "type"), "seccomp type in annotation and field must match"))
		}
	}
	if s.SecurityContext != nil {
		match(corev1.SeccompPodAnnotationKey, s.SecurityContext.SeccompProfile, at.Child("securityContext"))
	}
	each(s, at, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil {
			match(corev1.SeccompContainerAnnotationKeyPrefix+c.Name, c.SecurityContext.SeccompProfile, at.Child("securityContext"))
		}
	})
	if s.OS != nil && s.OS.Name == corev1.Windows {
		return errs
	}
	each(s, at, func(c *corev1.Container, at *field.Path) {
		var p *corev1.AppArmorProfile
		if s.SecurityContext != nil {
			p = s.SecurityContext.AppArmorProfile
		}
		if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			p = c.SecurityContext.AppArmorProfile
		}
		if v, has := a[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name]; has && p != nil {
			errs = append(errs, armorMatches(v, p, at.Child("securityContext", "appArmorProfile"))...)
		}
	})
	return errs
}

func armorMatches(v string, p *corev1.AppArmorProfile, at *field.Path) field.ErrorList {
	same := true
	switch p.Type {
	case corev1.AppArmorProfileTypeUnconfined:
		same = v == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
	case corev1.AppArmorProfileTypeRuntimeDefault:
		same = v == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault
	case corev1.AppArmorProfileTypeLocalhost:
		var file string
		if file, same = strings.CutPrefix(v, corev1.DeprecatedAppArmorBetaProfileNamePrefix); same && (p.LocalhostProfile == nil || *p.LocalhostProfile != file) {
			return field.ErrorList{field.Forbidden(at.Child("localhostProfile"), "apparmor profile in annotation and field must match")}
		}
	}
	if same {
		return nil
	}
	return field.ErrorList{field.Forbidden(at.Child("type"), "apparmor type in annotation and field must match")}
}
