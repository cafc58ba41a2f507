package check

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// Texts makes an error of each text that a checking function of the library gave.
func Texts(at *field.Path, value any, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, text := range texts {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return errs
}

// OneOf refuses values that are not listed.
func OneOf[T ~string](at *field.Path, value T, allowed ...T) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{NotSupported(at, value, allowed)}
}

// SetOneOf is OneOf for a field that must be there.
func SetOneOf[T ~string](at *field.Path, value T, allowed ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return OneOf(at, value, allowed...)
}

// Needed asks for a text that is not empty.
func Needed(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

// Subdomain checks a name that must be a DNS subdomain.
func Subdomain(v string, at *field.Path) field.ErrorList {
	return Texts(at, v, validation.IsDNS1123Subdomain(v))
}

// Label1123 checks a DNS label as Kubernetes' own fields have it, which may not end in a dash.
func Label1123(v string, at *field.Path) field.ErrorList {
	return Texts(at, v, validation.IsDNS1123Label(v))
}

// QualifiedName checks a name with an optional prefix.
func QualifiedName(v string, at *field.Path) field.ErrorList {
	return Texts(at, v, validation.IsQualifiedName(v))
}

// NonNegative checks a number.
func NonNegative[N int32 | int64](n N, at *field.Path) field.ErrorList {
	if n < 0 {
		return field.ErrorList{field.Invalid(at, int64(n), "must be greater than or equal to 0")}
	}
	return nil
}

// PortOrName checks a port given as a number or as the name of a container's port.
func PortOrName(port intstr.IntOrString, at *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return PortRange(port.IntValue(), at)
	}
	return Texts(at, port.StrVal, validation.IsValidPortName(port.StrVal))
}

// FileMode checks the permission bits of a file.
func FileMode(mode *int32, at *field.Path) field.ErrorList {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

// PathWithoutBacksteps refuses a path with an element "..".
func PathWithoutBacksteps(path string, at *field.Path) field.ErrorList {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return field.ErrorList{field.Invalid(at, path, "must not contain '..'")}
	}
	return nil
}

// DescendingPath refuses a path that leads out of where it begins.
func DescendingPath(path string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(at, path, "must be a relative path"))
	}
	return append(errs, PathWithoutBacksteps(path, at)...)
}

// FilePath is DescendingPath for the files of a volume, whose names may not begin with "..": the kubelet keeps such for itself.
func FilePath(path string, at *field.Path) field.ErrorList {
	errs := DescendingPath(path, at)
	if strings.HasPrefix(path, "..") && !strings.HasPrefix(path, "../") {
		errs = append(errs, field.Invalid(at, path, "must not start with '..'"))
	}
	return errs
}

// UsableIP refuses addresses that no endpoint can have.
func UsableIP(ip string, at *field.Path) field.ErrorList {
	parsed := netutils.ParseIPSloppy(ip)
	if parsed == nil {
		return field.ErrorList{field.Invalid(at, ip, "must be a valid IP address")}
	}
	var errs field.ErrorList
	for _, c := range []struct {
		bad  bool
		text string
	}{
		{parsed.IsUnspecified(), fmt.Sprintf("may not be unspecified (%v)", ip)},
		{parsed.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{parsed.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{parsed.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if c.bad {
			errs = append(errs, field.Invalid(at, ip, c.text))
		}
	}
	return errs
}

// OnePerFamily checks the several addresses of one thing: at most one of each IP family, none twice. IPs that are none are for others to tell of.
func OnePerFamily[T any](ips []string, shown T, item func(i int) any, at *field.Path) field.ErrorList {
	if len(ips) < 2 {
		return nil
	}
	var errs field.ErrorList
	dual, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%v", err)))
	}
	if !dual || len(ips) > 2 {
		errs = append(errs, field.Invalid(at, shown, "may specify no more than one IP for each IP family"))
	}
	for i, ip := range ips {
		if slices.Contains(ips[:i], ip) {
			errs = append(errs, field.Duplicate(at.Index(i), item(i)))
		}
	}
	return errs
}
