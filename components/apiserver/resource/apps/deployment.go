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
	return &resource.Resource{
		Kind:    kinds.Deployments,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultDeployment),
		PrepareCreate: resource.Typed(func(d *appsv1.Deployment) {
			d.Status = appsv1.DeploymentStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(d, old *appsv1.Deployment, sub string) {
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
		Validate: resource.TypedCheck(validateDeployment),
		ValidateUpdate: resource.TypedCheckUpdate(func(d, old *appsv1.Deployment, _ string) field.ErrorList {
			return apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(d *appsv1.Deployment) any { return d.Spec }),
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

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	s, at := &d.Spec, field.NewPath("spec")
	errs := apivalidation.ValidateNonnegativeField(int64(*s.Replicas), at.Child("replicas"))
	errs = append(errs, check.Selector(s.Selector, s.Template.Labels, at)...)
	errs = append(errs, pods.ValidateTemplate(&s.Template, at.Child("template"))...)
	errs = append(errs, validateStrategy(&s.Strategy, at.Child("strategy"))...)
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(s.MinReadySeconds), at.Child("minReadySeconds"))...)
	if s.RevisionHistoryLimit != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*s.RevisionHistoryLimit), at.Child("revisionHistoryLimit"))...)
	}
	if p := s.ProgressDeadlineSeconds; p != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*p), at.Child("progressDeadlineSeconds"))...)
		if *p <= s.MinReadySeconds {
			errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), *p, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateStrategy(s *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is '"+string(s.Type)+"'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		ru, at := s.RollingUpdate, at.Child("rollingUpdate")
		errs = append(errs, check.Share(*ru.MaxUnavailable, at.Child("maxUnavailable"))...)
		errs = append(errs, check.Share(*ru.MaxSurge, at.Child("maxSurge"))...)
		if check.ShareValue(*ru.MaxUnavailable) == 0 && check.ShareValue(*ru.MaxSurge) == 0 {
			errs = append(errs, field.Invalid(at.Child("maxUnavailable"), ru.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
		}
		if v, ok := check.Percent(*ru.MaxUnavailable); ok && v > 100 {
			errs = append(errs, field.Invalid(at.Child("maxUnavailable"), ru.MaxUnavailable, "must not be greater than 100%"))
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("type"), s.Type, []string{"Recreate", "RollingUpdate"}))
	}
	return errs
}
