package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SignerName checks the name of a signer of certificates: a domain of at least two parts, a slash, and a path of which each part between dots is a name.
func SignerName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{field.Invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	const domainMax = validation.DNS1123SubdomainMaxLength
	const nameMax = 2*domainMax + validation.DNS1123LabelMaxLength + 2
	var errs field.ErrorList
	if len(domain) > domainMax {
		errs = append(errs, field.TooLong(at, "", domainMax))
	}
	// Of each half only the first bad part is told.
	firstBad := func(half string, is func(string) []string) {
		for _, label := range strings.Split(half, ".") {
			if texts := is(label); len(texts) > 0 {
				for _, text := range texts {
					errs = append(errs, field.Invalid(at, half, fmt.Sprintf("validating label %q: %s", label, text)))
				}
				return
			}
		}
	}
	firstBad(domain, validation.IsDNS1123Label)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(at, domain, "should be a domain with at least two segments separated by dots"))
	}
	firstBad(path, validation.IsDNS1123Subdomain)
	if len(name) > nameMax {
		errs = append(errs, field.TooLong(at, "", nameMax))
	}
	return errs
}

// KubernetesSigner reports a signer in Kubernetes' own domain.
func KubernetesSigner(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
