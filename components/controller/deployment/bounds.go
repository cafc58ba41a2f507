package deployment

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// bounds are how far the number of pods may leave the number wanted during a rollout.
type bounds struct{ surge, unavailable int32 }

// boundsOf resolves percentages: surge rounds up, unavailable rounds down and never exceeds the number wanted. Both zero would forbid every step, so one pod may
// then be unavailable (k/k deployment_util.go: ResolveFenceposts). Outside of rolling updates both are zero.
func boundsOf(d *appsv1.Deployment) bounds {
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || d.Spec.Strategy.RollingUpdate == nil {
		return bounds{}
	}
	r := d.Spec.Strategy.RollingUpdate
	wanted := replicasWanted(d)
	b := bounds{surge: resolve(r.MaxSurge, wanted, true), unavailable: resolve(r.MaxUnavailable, wanted, false)}
	if b.surge == 0 && b.unavailable == 0 {
		b.unavailable = 1
	}
	if wanted == 0 {
		b.unavailable = 0 // nothing can be missing of nothing
	} else {
		b.unavailable = min(b.unavailable, wanted)
	}
	return b
}

// resolve turns a number or percentage into a number; nil and what cannot be read are 0. Computed in 64 bits: 2147483647 % of 2147483647 is a legal wish.
func resolve(v *intstr.IntOrString, of int32, up bool) int32 {
	if v == nil {
		return 0
	}
	if v.Type == intstr.Int {
		return v.IntVal
	}
	percent, err := intstr.GetScaledValueFromIntOrPercent(v, 100, up)
	if err != nil {
		return 0
	}
	scaled := float64(percent) * float64(of) / 100
	if up {
		return clamp(int64(min(math.Ceil(scaled), math.MaxInt32)))
	}
	return clamp(int64(min(math.Floor(scaled), math.MaxInt32)))
}

func replicasWanted(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// most is the number of pods that may exist at once.
func most(d *appsv1.Deployment) int32 {
	return clamp(int64(replicasWanted(d)) + int64(boundsOf(d).surge))
}

// least is the number of pods that must stay available.
func least(d *appsv1.Deployment) int32 { return replicasWanted(d) - boundsOf(d).unavailable }
