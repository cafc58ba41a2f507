package networking

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// classAnnotation named the class of an Ingress before there was a field.
const classAnnotation = "kubernetes.io/ingress.class"

func ingressResource() *resource.Resource {
	type ingress = *networkingv1.Ingress
	return &resource.Resource{
		Kind:          kinds.Ingresses,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o ingress) { o.Status = networkingv1.IngressStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old ingress, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(o ingress) field.ErrorList {
			errs := validateIngress(&o.Spec, ingressRules{}, field.NewPath("spec"))
			class, ok := o.Annotations[classAnnotation]
			if name := o.Spec.IngressClassName; ok && name != nil && class != *name {
				errs = append(errs, field.Invalid(field.NewPath("annotations").Child(classAnnotation), class, "must match `ingressClassName` when both are specified"))
			}
			return errs
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old ingress, sub string) field.ErrorList {
			if sub == "status" {
				return validateIngressStatus(&o.Status.LoadBalancer, &old.Status.LoadBalancer, field.NewPath("status", "loadBalancer", "ingress"))
			}
			return validateIngress(&o.Spec, rulesSince(&old.Spec), field.NewPath("spec"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o ingress) any { return o.Spec }),
		Warn: resource.TypedWarn(func(o, old ingress) []string {
			if _, ok := o.Annotations[classAnnotation]; old == nil && ok && o.Spec.IngressClassName == nil {
				return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", classAnnotation)}
			}
			return nil
		}),
	}
}

// ingressRules are what an Ingress may keep that was wrong in it before.
type ingressRules struct{ anySecretName, anyWildcardRule bool }

func rulesSince(old *networkingv1.IngressSpec) ingressRules {
	return ingressRules{
		anySecretName: slices.ContainsFunc(old.TLS, func(t networkingv1.IngressTLS) bool { return len(secretName(t.SecretName)) > 0 }),
		anyWildcardRule: slices.ContainsFunc(old.Rules, func(r networkingv1.IngressRule) bool {
			return strings.Contains(r.Host, "*") && len(validateHTTP(r.HTTP, nil)) > 0
		}),
	}
}

func secretName(name string) []string {
	if name == "" {
		return nil
	}
	return apivalidation.NameIsDNSSubdomain(name, false)
}

func validateIngress(s *networkingv1.IngressSpec, rules ingressRules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Invalid(at, check.GoForm(s.Rules), "either `defaultBackend` or `rules` must be specified"))
	}
	if s.DefaultBackend != nil {
		errs = append(errs, validateBackend(s.DefaultBackend, at.Child("defaultBackend"))...)
	}
	for i := range s.Rules {
		errs = append(errs, validateIngressRule(&s.Rules[i], rules, at.Child("rules").Index(i))...)
	}
	for i, t := range s.TLS {
		at := at.Child("tls").Index(i)
		for k, h := range t.Hosts {
			errs = append(errs, validateHost(h, at.Child("hosts").Index(k))...)
		}
		if !rules.anySecretName {
			errs = append(errs, check.Each(at.Child("secretName"), t.SecretName, secretName(t.SecretName))...)
		}
	}
	if c := s.IngressClassName; c != nil {
		errs = append(errs, check.Each(at.Child("ingressClassName"), *c, apivalidation.NameIsDNSSubdomain(*c, false))...)
	}
	return errs
}

// validateHost checks the name of a host, which may begin with a wildcard.
func validateHost(h string, at *field.Path) field.ErrorList {
	if strings.Contains(h, "*") {
		return check.Each(at, h, validation.IsWildcardDNS1123Subdomain(h))
	}
	return check.Each(at, h, validation.IsDNS1123Subdomain(h))
}

func validateIngressRule(r *networkingv1.IngressRule, rules ingressRules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Host != "" {
		if netutils.ParseIPSloppy(r.Host) != nil {
			errs = append(errs, field.Invalid(at.Child("host"), r.Host, notAnIP))
		}
		errs = append(errs, validateHost(r.Host, at.Child("host"))...)
	}
	if strings.Contains(r.Host, "*") && rules.anyWildcardRule {
		return errs
	}
	return append(errs, validateHTTP(r.HTTP, at.Child("http"))...)
}

const notAnIP = "must be a DNS name, not an IP address"

func validateHTTP(h *networkingv1.HTTPIngressRuleValue, at *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	var errs field.ErrorList
	at = at.Child("paths")
	if len(h.Paths) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	for i := range h.Paths {
		errs = append(errs, validatePath(&h.Paths[i], at.Index(i))...)
	}
	return errs
}

func validatePath(p *networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	var errs field.ErrorList
	invalid := func(text string) { errs = append(errs, field.Invalid(at.Child("path"), p.Path, text)) }
	absolute := strings.HasPrefix(p.Path, "/")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !absolute {
			invalid("must be an absolute path")
		}
		for _, s := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, s) {
				invalid("must not contain '" + s + "'")
			}
		}
		for _, s := range []string{"/..", "/."} {
			if strings.HasSuffix(p.Path, s) {
				invalid("cannot end with '" + s + "'")
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !absolute {
			invalid("must be an absolute path")
		}
	default:
		types := []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix}
		errs = append(errs, field.NotSupported(at.Child("pathType"), *p.PathType, types))
	}
	return append(errs, validateBackend(&p.Backend, at.Child("backend"))...)
}

func validateBackend(b *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(at, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return validateTypedReference(b.Resource, at.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(at, "", "resource or service backend is required")}
	}
	var errs field.ErrorList
	name, port := b.Service.Name, b.Service.Port
	if name == "" {
		errs = append(errs, field.Required(at.Child("service", "name"), ""))
	} else {
		errs = append(errs, check.Each(at.Child("service", "name"), name, apivalidation.NameIsDNSLabel(name, false))...)
	}
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, field.Invalid(at, "", "cannot set both port name & port number"))
	case port.Name != "":
		errs = append(errs, check.Each(at.Child("service", "port", "name"), port.Name, validation.IsValidPortName(port.Name))...)
	case port.Number != 0:
		for _, text := range validation.IsValidPortNum(int(port.Number)) {
			errs = append(errs, field.Invalid(at.Child("service", "port", "number"), port.Number, text))
		}
	default:
		errs = append(errs, field.Required(at, "port name or number is required"))
	}
	return errs
}

func validateTypedReference(r *corev1.TypedLocalObjectReference, at *field.Path) field.ErrorList {
	errs := validateGroup(r.APIGroup, at.Child("apiGroup"))
	errs = append(errs, needSegment(r.Kind, at.Child("kind"))...)
	return append(errs, needSegment(r.Name, at.Child("name"))...)
}

func validateGroup(group *string, at *field.Path) field.ErrorList {
	if group == nil {
		return nil
	}
	return check.Each(at, *group, validation.IsDNS1123Subdomain(*group))
}

// needSegment checks a name that must be there and that stands in paths of URLs.
func needSegment(v string, at *field.Path) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return check.Each(at, v, content.IsPathSegmentName(v))
}

func validateIngressStatus(s, old *networkingv1.IngressLoadBalancerStatus, at *field.Path) field.ErrorList {
	var before []string
	for _, i := range old.Ingress {
		if i.IP != "" {
			before = append(before, i.IP)
		}
	}
	var errs field.ErrorList
	for i, g := range s.Ingress {
		at := at.Index(i)
		if g.IP != "" {
			errs = append(errs, validation.IsValidIPForLegacyField(at.Child("ip"), g.IP, true, before)...)
		}
		if g.Hostname != "" {
			errs = append(errs, check.Each(at.Child("hostname"), g.Hostname, validation.IsDNS1123Subdomain(g.Hostname))...)
			if netutils.ParseIPSloppy(g.Hostname) != nil {
				errs = append(errs, field.Invalid(at.Child("hostname"), g.Hostname, notAnIP))
			}
		}
	}
	return errs
}
