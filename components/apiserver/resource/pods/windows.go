package pods

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// windowsOptions checks what only Windows knows.
func windowsOptions(o *corev1.WindowsSecurityContextOptions, at *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if n := o.GMSACredentialSpecName; n != nil {
		errs = append(errs, check.Texts(at.Child("gmsaCredentialSpecName"), n, validation.IsDNS1123Subdomain(*n))...)
	}
	if s := o.GMSACredentialSpec; s != nil {
		switch at := at.Child("gmsaCredentialSpec"); {
		case *s == "":
			errs = append(errs, field.Invalid(at, *s, "gmsaCredentialSpec cannot be an empty string"))
		case len(*s) > gmsaMaxKiB<<10:
			errs = append(errs, field.Invalid(at, *s, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", gmsaMaxKiB)))
		}
	}
	if s := o.RunAsUserName; s != nil {
		for _, text := range windowsUser(*s) {
			errs = append(errs, field.Invalid(at.Child("runAsUserName"), *s, "runAsUserName"+text))
		}
	}
	return errs
}

// Limits of names on Windows, in bytes.
const (
	gmsaMaxKiB       = 64
	windowsDomainMax = 256 // the first length that is too much
	windowsUserMax   = 104
)

// windowsDNSDomain is the name of a domain in capitals or not, which netBIOS has in a way of its own.
var windowsDNSDomain = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)

func netBIOSDomain(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= 15 && s[0] != '.' && !strings.ContainsAny(s, `\/:*?"<>|`)
}

// windowsUser says what is wrong with DOMAIN\USER or USER; each text follows the name of the field.
func windowsUser(s string) []string {
	switch {
	case s == "":
		return []string{" cannot be an empty string"}
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return []string{" cannot contain control characters"}
	case strings.Count(s, `\`) > 1:
		return []string{" cannot contain more than one backslash"}
	}
	var out []string
	domain, user, has := strings.Cut(s, `\`)
	if !has {
		domain, user = "", s
	}
	if len(domain) >= windowsDomainMax {
		out = append(out, fmt.Sprintf("'s Domain length must be under %d characters", windowsDomainMax))
	}
	if has && !netBIOSDomain(domain) && !windowsDNSDomain.MatchString(domain) {
		out = append(out, "'s Domain doesn't match the NetBios nor the DNS format")
	}
	switch {
	case user == "":
		out = append(out, "'s User cannot be empty")
	case len(user) > windowsUserMax:
		out = append(out, fmt.Sprintf("'s User length must not be longer than %d characters", windowsUserMax))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		out = append(out, "'s User cannot contain only periods or spaces")
	}
	if strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
		out = append(out, `'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return out
}

// validateHostProcess: in a pod with a container that is a process of the node all are.
func validateHostProcess(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var pod *bool
	if c := s.SecurityContext; c != nil && c.WindowsOptions != nil {
		pod = c.WindowsOptions.HostProcess
	}
	all, host := 0, 0
	each(s, at, func(c *corev1.Container, at *field.Path) {
		all++
		own := pod
		if sc := c.SecurityContext; sc != nil && sc.WindowsOptions != nil && sc.WindowsOptions.HostProcess != nil {
			own = sc.WindowsOptions.HostProcess
			if pod != nil && *pod != *own {
				errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), *own, fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *pod)))
			}
		}
		if own != nil && *own {
			host++
		}
	})
	if host == 0 {
		return errs
	}
	if host != all {
		errs = append(errs, field.Invalid(at, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !s.HostNetwork {
		errs = append(errs, field.Invalid(at.Child("hostNetwork"), s.HostNetwork, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

// linuxOnly are the fields of security contexts that Windows does not know, as they are called in Go and in objects.
var (
	linuxOnlyPod = [][2]string{{"AppArmorProfile", "appArmorProfile"}, {"SELinuxOptions", "seLinuxOptions"}, {"SeccompProfile", "seccompProfile"}, {"FSGroup", "fsGroup"},
		{"FSGroupChangePolicy", "fsGroupChangePolicy"}, {"Sysctls", "sysctls"}, {"RunAsUser", "runAsUser"}, {"RunAsGroup", "runAsGroup"}, {"SupplementalGroups", "supplementalGroups"},
		{"SupplementalGroupsPolicy", "supplementalGroupsPolicy"}, {"SELinuxChangePolicy", "seLinuxChangePolicy"}}
	linuxOnlyContainer = [][2]string{{"AppArmorProfile", "appArmorProfile"}, {"SELinuxOptions", "seLinuxOptions"}, {"SeccompProfile", "seccompProfile"}, {"Capabilities", "capabilities"},
		{"ReadOnlyRootFilesystem", "readOnlyRootFilesystem"}, {"Privileged", "privileged"}, {"AllowPrivilegeEscalation", "allowPrivilegeEscalation"}, {"ProcMount", "procMount"},
		{"RunAsUser", "runAsUser"}, {"RunAsGroup", "runAsGroup"}}
)

// validateOS checks the operating system a pod is for, and that it asks for nothing of the other one.
func validateOS(s *corev1.PodSpec, at *field.Path) field.ErrorList {
	if s.OS == nil {
		return nil
	}
	if s.OS.Name == "" {
		return field.ErrorList{field.Required(at.Child("os", "name"), "")}
	}
	if bad := check.OneOf(at.Child("os"), s.OS.Name, corev1.Linux, corev1.Windows); len(bad) > 0 {
		return bad
	}
	var errs field.ErrorList
	refuse := func(of any, fields [][2]string, at *field.Path) {
		v := reflect.ValueOf(of)
		if v.IsNil() {
			return
		}
		for _, f := range fields {
			if !v.Elem().FieldByName(f[0]).IsZero() {
				errs = append(errs, field.Forbidden(at.Child(f[1]), "cannot be set for a windows pod"))
			}
		}
	}
	if s.OS.Name == corev1.Windows {
		refuse(s.SecurityContext, linuxOnlyPod, at.Child("securityContext"))
		refuse(s, [][2]string{{"HostUsers", "hostUsers"}, {"HostPID", "hostPID"}, {"HostIPC", "hostIPC"}, {"ShareProcessNamespace", "shareProcessNamespace"}}, at)
		each(s, at, func(c *corev1.Container, at *field.Path) {
			refuse(c.SecurityContext, linuxOnlyContainer, at.Child("securityContext"))
		})
		return errs
	}
	const text = "windows options cannot be set for a linux pod"
	if c := s.SecurityContext; c != nil && c.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), text))
	}
	each(s, at, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
			errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), text))
		}
	})
	return errs
}
