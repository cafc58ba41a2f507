package autoscaling

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// containerResource checks the name of a resource of a container that is none of the common ones: huge pages, or an extended resource under its vendor's domain.
func containerResource(name string, at *field.Path) field.ErrorList {
	errs := check.Each(at, name, validation.IsQualifiedName(name))
	native := !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
	switch {
	case strings.HasPrefix(name, "hugepages-"):
	case !strings.Contains(name, "/"):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case !native && (strings.HasPrefix(name, "requests.") || len(validation.IsQualifiedName("requests."+name)) > 0):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}
