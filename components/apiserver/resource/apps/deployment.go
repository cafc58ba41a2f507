package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func deploymentResource() *resource.Resource {
	type deployment = *appsv1.Deployment
	return &resource.Resource{
		Kind:    kinds.Deployments,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultDeployment),
		PrepareCreate: resource.Typed(func(d deployment) {
			d.Status = appsv1.DeploymentStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(d, old deployment, sub string) {
			if sub == "status" {
				d.Spec, d.Labels = old.Spec, old.Labels
				return
			}
			d.Status = old.Status
			// Annotations count as a change of a Deployment, other than elsewhere; the controller writes its own through the status.
			if !apiequality.Semantic.DeepEqual(d.Annotations, old.Annotations) && apiequality.Semantic.DeepEqual(d.Spec, old.Spec) {
				d.Generation++
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(d deployment) field.ErrorList { return validateDeployment(&d.Spec, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(d, old deployment, sub string) field.ErrorList {
			if sub == "status" {
				return validateDeploymentStatus(&d.Status, &old.Status, field.NewPath("status"))
			}
			errs := validateDeployment(&d.Spec, field.NewPath("spec"))
			return append(errs, apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(d deployment) any { return d.Spec }),
		Warn: resource.TypedWarn(func(d, old deployment) []string {
			if old != nil {
				return nil
			}
			return nameWarnings(d.Name)
		}),
	}
}

// Defaults of a Deployment (fidelity DEP-1).
func defaultDeployment(d *appsv1.Deployment) {
	s := &d.Spec
	check.SetDefault(&s.Replicas, 1)
	if s.Strategy.Type == "" {
		s.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if s.Strategy.RollingUpdate == nil {
			s.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		check.SetDefault(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		check.SetDefault(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	check.SetDefault(&s.RevisionHistoryLimit, 10)
	check.SetDefault(&s.ProgressDeadlineSeconds, 600)
	pods.DefaultSpec(&s.Template.Spec)
}

func validateDeployment(s *appsv1.DeploymentSpec, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.Opt("replicas", s.Replicas))
	errs = append(errs, validateSelected(s.Selector, &s.Template, at)...)
	errs = append(errs, validateDeploymentStrategy(&s.Strategy, at.Child("strategy"))...)
	errs = append(errs, check.Counts(at, check.N("minReadySeconds", s.MinReadySeconds), check.Opt("revisionHistoryLimit", s.RevisionHistoryLimit),
		check.Opt("progressDeadlineSeconds", s.ProgressDeadlineSeconds))...)
	if p := s.ProgressDeadlineSeconds; p != nil && *p <= s.MinReadySeconds {
		errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), p, "must be greater than minReadySeconds"))
	}
	return errs
}

func validateDeploymentStrategy(s *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			return field.ErrorList{field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is '"+string(s.Type)+"'")}
		}
		return nil
	case appsv1.RollingUpdateDeploymentStrategyType:
		return validateRollingDeployment(s.RollingUpdate, at.Child("rollingUpdate"))
	}
	e := field.NotSupported(at, "", []string{string(appsv1.RecreateDeploymentStrategyType), string(appsv1.RollingUpdateDeploymentStrategyType)})
	e.BadValue = check.GoForm(s)
	return field.ErrorList{e}
}

func validateRollingDeployment(ru *appsv1.RollingUpdateDeployment, at *field.Path) field.ErrorList {
	unavailable, surge := *ru.MaxUnavailable, *ru.MaxSurge
	errs := check.IntOrPercent(unavailable, at.Child("maxUnavailable"))
	errs = append(errs, check.IntOrPercent(surge, at.Child("maxSurge"))...)
	if check.ShareValue(unavailable) == 0 && check.ShareValue(surge) == 0 {
		errs = append(errs, field.Invalid(at.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, check.NotOver100(unavailable, at.Child("maxUnavailable"))...)
}

func validateDeploymentStatus(s, old *appsv1.DeploymentStatus, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.N("observedGeneration", s.ObservedGeneration), check.N("replicas", s.Replicas), check.N("updatedReplicas", s.UpdatedReplicas),
		check.N("readyReplicas", s.ReadyReplicas), check.N("availableReplicas", s.AvailableReplicas), check.N("unavailableReplicas", s.UnavailableReplicas),
		check.Opt("terminatingReplicas", s.TerminatingReplicas), check.Opt("collisionCount", s.CollisionCount))
	errs = append(errs, check.AtMost(at, s.Replicas, aboveReplicas, check.N("updatedReplicas", s.UpdatedReplicas), check.N("readyReplicas", s.ReadyReplicas),
		check.N("availableReplicas", s.AvailableReplicas))...)
	errs = append(errs, check.AtMost(at, s.ReadyReplicas, "cannot be greater than readyReplicas", check.N("availableReplicas", s.AvailableReplicas))...)
	return append(errs, check.NotDecremented(s.CollisionCount, old.CollisionCount, at.Child("collisionCount"))...)
}

// aboveReplicas refuses counts of a status that are more than there are pods.
const aboveReplicas = "cannot be greater than status.replicas"
