package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// What users may ask for ends below the classes that keep a cluster alive.
const (
	systemPrefix = "system-"
	userMax      = 1000000000
)

var systemClasses = map[string]int32{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}

func priorityClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.PriorityClasses,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(c *schedulingv1.PriorityClass) {
			check.SetDefault(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
		}),
		UpdateWhole:    true, // the classes of the system stay as they are, whatever is sent
		Validate:       resource.TypedCheck(validatePriorityClass),
		ValidateUpdate: resource.TypedCheckUpdate(validatePriorityClassUpdate),
		Deletable: func(_, name string) string {
			if _, ok := systemClasses[name]; ok {
				return "this is a system priority class and cannot be deleted"
			}
			return ""
		},
		Generation: true, // it begins at 1 and stays there: nothing that counts can change
	}
}

func validatePriorityClass(c *schedulingv1.PriorityClass) field.ErrorList {
	var errs field.ErrorList
	switch {
	case strings.HasPrefix(c.Name, systemPrefix):
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"), "priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+why))
		}
	case c.Value > userMax:
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %v", userMax)))
	}
	if p := c.PreemptionPolicy; p != nil && *p != corev1.PreemptLowerPriority && *p != corev1.PreemptNever {
		at := field.NewPath("preemptionPolicy")
		if *p == "" {
			return append(errs, field.Required(at, ""))
		}
		errs = append(errs, field.NotSupported(at, *p, []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}))
	}
	return errs
}

// notSystem says why a class is none of those that the API server itself makes.
func notSystem(c *schedulingv1.PriorityClass) string {
	value, ok := systemClasses[c.Name]
	switch {
	case !ok:
		return c.Name + " is not a known system priority class"
	case c.Value != value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", c.Name)
	}
	return ""
}

func validatePriorityClassUpdate(c, old *schedulingv1.PriorityClass, _ string) field.ErrorList {
	var errs field.ErrorList
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(c.PreemptionPolicy, old.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}
