package node

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func runtimeClassResource() *resource.Resource {
	type class = *nodev1.RuntimeClass
	handler := field.NewPath("handler")
	return &resource.Resource{
		Kind:           kinds.RuntimeClasses,
		Name:           apivalidation.NameIsDNSSubdomain,
		FreeFinalizers: true,
		UpdateWhole:    true,
		// The rules of the handler stand last: they are of those that the API server reads off its types, after all others.
		Validate: resource.TypedCheck(func(c class) field.ErrorList { return append(validateParts(c), validateHandler(c.Handler, handler)...) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(c, old class, _ string) field.ErrorList {
			var errs field.ErrorList
			if c.Handler != "" && c.Handler != old.Handler { // a name that is no name is told of by the older rules, whose text differs
				errs = check.DNSLabel(c.Handler, handler)
			}
			errs = append(errs, validateParts(c)...)
			errs = append(errs, check.Unchanged(c.Handler, old.Handler, handler)...)
			if c.Handler == "" && old.Handler != "" {
				errs = append(errs, field.Required(handler, ""))
			}
			return errs
		}),
	}
}

func validateHandler(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return check.Each(at, name, content.IsDNS1123Label(name))
}

// validateParts checks what a class adds to its pods: what a sandbox takes, and where they may run.
func validateParts(c *nodev1.RuntimeClass) field.ErrorList {
	var errs field.ErrorList
	if c.Overhead != nil {
		errs = append(errs, check.Requirements(&corev1.ResourceRequirements{Limits: c.Overhead.PodFixed}, check.ContainerResource, nil, field.NewPath("overhead"))...)
	}
	if c.Scheduling == nil {
		return errs
	}
	at := field.NewPath("scheduling")
	if c.Scheduling.NodeSelector != nil {
		errs = append(errs, metavalidation.ValidateLabels(c.Scheduling.NodeSelector, at.Child("nodeSelector"))...)
	}
	list, at := c.Scheduling.Tolerations, at.Child("tolerations")
	errs = append(errs, pods.Tolerations(list, at)...)
	seen := map[corev1.Toleration]bool{}
	for i, t := range list {
		key := t
		key.TolerationSeconds = nil // how long it is tolerated does not make it another one
		if seen[key] {
			errs = append(errs, field.Duplicate(at.Index(i), check.GoForm(t)))
		}
		seen[key] = true
	}
	return errs
}
