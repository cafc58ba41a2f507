package policy

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func podDisruptionBudgetResource() *resource.Resource {
	type pdb = *policyv1.PodDisruptionBudget
	return &resource.Resource{
		Kind:           kinds.PodDisruptionBudgets,
		Name:           check.PathSegment,
		FreeFinalizers: true,
		Versioned:      true,
		PrepareCreate: resource.Typed(func(o pdb) {
			o.Status = policyv1.PodDisruptionBudgetStatus{}
			dropOldMark(o.Spec.Selector)
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old pdb, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
				return
			}
			o.Status = old.Status
			if !apiequality.Semantic.DeepEqual(o.Spec.Selector, old.Spec.Selector) {
				dropOldMark(o.Spec.Selector)
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o pdb) field.ErrorList { return validateBudget(&o.Spec, false, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old pdb, sub string) field.ErrorList {
			if sub == "status" {
				s, at := &o.Status, field.NewPath("status")
				errs := metavalidation.ValidateConditions(s.Conditions, at.Child("conditions"))
				return append(errs, check.Counts(at, check.N("disruptionsAllowed", s.DisruptionsAllowed), check.N("currentHealthy", s.CurrentHealthy),
					check.N("desiredHealthy", s.DesiredHealthy), check.N("expectedPods", s.ExpectedPods))...)
			}
			lax := old.Spec.Selector != nil && len(check.LabelSelector(old.Spec.Selector, false, nil)) > 0
			return validateBudget(&o.Spec, lax, field.NewPath("spec"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o pdb) any { return o.Spec }),
	}
}

// oldMark in a selector told how policy/v1beta1 meant it.
const oldMark = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// dropOldMark takes the mark out of a selector, unless it is the whole selector, which then selects nothing.
func dropOldMark(sel *metav1.LabelSelector) {
	nothing := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: oldMark, Operator: metav1.LabelSelectorOpExists}}}
	if sel == nil || apiequality.Semantic.DeepEqual(sel, nothing) {
		return
	}
	sel.MatchExpressions = slices.DeleteFunc(slices.Clone(sel.MatchExpressions), func(r metav1.LabelSelectorRequirement) bool { return r.Key == oldMark })
}

func validateBudget(s *policyv1.PodDisruptionBudgetSpec, lax bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(at, check.GoForm(s), "minAvailable and maxUnavailable cannot be both set"))
	}
	if v := s.MinAvailable; v != nil {
		errs = append(errs, check.IntOrPercent(*v, at.Child("minAvailable"))...)
		errs = append(errs, check.NotOver100(*v, at.Child("minAvailable"))...)
	}
	if v := s.MaxUnavailable; v != nil {
		errs = append(errs, check.IntOrPercent(*v, at.Child("maxUnavailable"))...)
		errs = append(errs, check.NotOver100(*v, at.Child("maxUnavailable"))...)
	}
	errs = append(errs, check.LabelSelector(s.Selector, lax, at.Child("selector"))...)
	policies := []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}
	if p := s.UnhealthyPodEvictionPolicy; p != nil && !slices.Contains(policies, *p) {
		errs = append(errs, field.NotSupported(at.Child("unhealthyPodEvictionPolicy"), *p, policies))
	}
	return errs
}
