package check

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestWhatContainersAskForIsRefusedInKubernetesWords(t *testing.T) {
	list := func(name corev1.ResourceName, amount string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(amount)}
	}
	for _, c := range []struct {
		name string
		r    corev1.ResourceRequirements
		want string
	}{
		{"nothing", corev1.ResourceRequirements{}, ""},
		{"a request below its limit", corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "2")}, ""},
		{"a request above its limit", corev1.ResourceRequirements{Requests: list("cpu", "2"), Limits: list("cpu", "1")}, `r.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`},
		{"a resource without a prefix", corev1.ResourceRequirements{Limits: list("gpu", "1")},
			`[r.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified, r.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers]`},
		{"an extended resource without a limit", corev1.ResourceRequirements{Requests: list("example.com/gpu", "1")}, `r.limits: Required value: Limit must be set for non overcommitable resources`},
		{"an extended resource asked for in part", corev1.ResourceRequirements{Requests: list("example.com/gpu", "1"), Limits: list("example.com/gpu", "2")},
			`r.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2`},
		{"half an extended resource", corev1.ResourceRequirements{Limits: list("example.com/gpu", "500m")}, `r.limits[example.com/gpu]: Invalid value: "500m": must be an integer`},
		{"huge pages alone", corev1.ResourceRequirements{Limits: list("hugepages-2Mi", "2Mi")}, `r: Forbidden: HugePages require cpu or memory`},
		{"a part of a huge page", corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "hugepages-2Mi": resource.MustParse("3Mi")}},
			`r.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`},
		{"huge pages of no size", corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "hugepages-x": resource.MustParse("3Mi")}},
			`r.limits[hugepages-x]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-x`},
		{"a claim the pod has not", corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "b"}}}, `r.claims[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a`},
		{"a claim twice", corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "a"}, {Name: "a"}}}, `r.claims[1]: Duplicate value: "a"`},
		{"a request of a claim, then the whole claim", corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "a", Request: "r"}, {Name: "a"}}}, `r.claims[1]: Duplicate value: "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := Requirements(&c.r, ContainerResource, []string{"a"}, field.NewPath("r")).ToAggregate(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("says\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
