package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Names of resources (k/k pkg/apis/core/helper).
var (
	containerResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	countedResources   = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
		corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers}
	computeQuotas = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage}
)

// HugePage reports a resource of huge pages.
func HugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func quotaHugePage(name corev1.ResourceName) bool {
	return HugePage(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// Native reports a resource of Kubernetes' own: without a prefix, or with one in kubernetes.io.
func Native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// Extended reports a resource that somebody else defines and that is counted in whole numbers.
func Extended(name corev1.ResourceName) bool {
	if Native(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// Overcommit reports a resource whose limits may exceed its requests.
func Overcommit(name corev1.ResourceName) bool { return Native(name) && !HugePage(name) }

// Counted reports a resource measured in whole numbers.
func Counted(name corev1.ResourceName) bool {
	return slices.Contains(countedResources, name) || Extended(name)
}

// StandardQuota reports a resource that quotas know by themselves.
func StandardQuota(name corev1.ResourceName) bool {
	return slices.Contains(countedResources, name) || slices.Contains(computeQuotas, name) || quotaHugePage(name)
}

func standard(name corev1.ResourceName) bool {
	return StandardQuota(name) || name == corev1.ResourceStorage
}

// ResourceName checks the name of any resource.
func ResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if slices.Contains(containerResources, name) {
		return nil
	}
	if errs := Texts(at, name, validation.IsQualifiedName(string(name))); len(errs) > 0 {
		return errs
	}
	if !strings.Contains(string(name), "/") && !standard(name) {
		return field.ErrorList{field.Invalid(at, name, "must be a standard resource type or fully qualified")}
	}
	return nil
}

// ContainerResource checks the name of a resource that containers may ask for.
func ContainerResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if slices.Contains(containerResources, name) {
		return nil
	}
	errs := ResourceName(name, at)
	switch {
	case !strings.Contains(string(name), "/"):
		if !HugePage(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
		}
	case !Native(name) && !Extended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// QuotaResource checks the name of a resource that a quota may bound.
func QuotaResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := ResourceName(name, at)
	if !strings.Contains(string(name), "/") && !StandardQuota(name) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
	}
	return errs
}

// Quantity checks an amount of a resource as k/k ValidateResourceQuantityValue does.
func Quantity(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	errs := Amount(name, q, at)
	if Counted(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q, "must be an integer"))
	}
	return errs
}

// PositiveQuantity checks an amount that must be more than nothing.
func PositiveQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() <= 0 {
		return field.ErrorList{field.Invalid(at, q.String(), "must be greater than zero")}
	}
	return nil
}

// BasicQuantity checks an amount whose name is checked elsewhere.
func BasicQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Value() < 0 {
		return field.ErrorList{field.Invalid(at, q.Value(), "must be a valid resource quantity")}
	}
	return nil
}

// Requirements checks what a container (or a pod, by other names) asks for and may use. claims are the names of the pod's resource claims.
func Requirements(r *corev1.ResourceRequirements, name func(corev1.ResourceName, *field.Path) field.ErrorList, claims []string, at *field.Path) field.ErrorList {
	if len(r.Limits) == 0 && len(r.Requests) == 0 && len(r.Claims) == 0 {
		return nil
	}
	var errs field.ErrorList
	lims, reqs := at.Child("limits"), at.Child("requests")
	compute, huge := false, false
	one := func(n corev1.ResourceName, q resource.Quantity, at *field.Path) {
		errs = append(errs, name(n, at)...)
		errs = append(errs, Quantity(n, q, at)...)
		compute = compute || n == corev1.ResourceCPU || n == corev1.ResourceMemory
	}
	pages := func(n corev1.ResourceName, q resource.Quantity, at *field.Path) {
		if HugePage(n) {
			huge = true
			if !wholePages(n, q) {
				errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), n)))
			}
		}
	}
	for _, n := range SortedNames(r.Limits) {
		at := lims.Key(string(n))
		one(n, r.Limits[n], at)
		pages(n, r.Limits[n], at)
	}
	for _, n := range SortedNames(r.Requests) {
		q, at := r.Requests[n], reqs.Key(string(n))
		one(n, q, at)
		limit, ok := r.Limits[n]
		switch {
		case !ok:
			if !Overcommit(n) {
				errs = append(errs, field.Required(lims, "Limit must be set for non overcommitable resources"))
			}
		case q.Cmp(limit) != 0 && !Overcommit(n):
			errs = append(errs, field.Invalid(reqs, q.String(), fmt.Sprintf("must be equal to %s limit of %s", n, limit.String())))
		case q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(reqs, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", n, limit.String())))
		}
		pages(n, q, at)
	}
	if huge && !compute {
		errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
	}
	return append(errs, claimNames(r.Claims, claims, at.Child("claims"))...)
}

// wholePages reports an amount of huge pages that is some of them and no part of one.
func wholePages(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	return err == nil && size.Sign() > 0 && q.Value() >= 0 && size.Value() != 0 && q.Value()%size.Value() == 0
}

// claimNames checks which of the pod's claims a container uses.
func claimNames(list []corev1.ResourceClaim, pod []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var whole, parts []string // claims used as a whole, and requests of claims, in the order of the list
	for i, c := range list {
		at := at.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		key := c.Name
		if slices.Contains(whole, c.Name) {
			errs = append(errs, field.Duplicate(at, c.Name))
		} else {
			if c.Request != "" {
				errs = append(errs, Label1123(c.Request, at.Child("request"))...)
				if key += "/" + c.Request; slices.Contains(parts, key) {
					errs = append(errs, field.Duplicate(at, key))
				}
				parts = append(parts, key)
			} else {
				for _, p := range parts {
					if strings.HasPrefix(p, c.Name+"/") {
						errs = append(errs, field.Duplicate(at, c.Name))
					}
				}
				whole = append(whole, c.Name)
			}
		}
		if !slices.Contains(pod, c.Name) {
			e := field.NotFound(at, c.Name)
			e.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(pod) == 0 {
				e.Detail += " which is empty"
			} else {
				names := slices.Clone(pod)
				slices.Sort(names)
				e.Detail += ": " + strings.Join(names, ", ")
			}
			errs = append(errs, e)
		}
	}
	return errs
}
