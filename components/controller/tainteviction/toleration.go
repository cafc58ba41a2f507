package tainteviction

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// stay is how long a pod may stay on a node with certain NoExecute taints.
type stay struct {
	// untolerated: some taint has no matching toleration, so the pod must go at once whatever was planned.
	untolerated bool
	// forever: no limit. Otherwise the pod must go after limit.
	forever bool
	limit   time.Duration
}

// allowed finds how long tolerations let a pod stay with taints: the shortest tolerationSeconds among the tolerations that match, where each taint counts its first
// match.
func allowed(taints []corev1.Taint, tolerations []corev1.Toleration) stay {
	s := stay{forever: true}
	for i := range taints {
		t := match(&taints[i], tolerations)
		if t == nil {
			return stay{untolerated: true}
		}
		if t.TolerationSeconds == nil {
			continue
		}
		limit := time.Duration(max(0, min(*t.TolerationSeconds, maxSeconds))) * time.Second
		if s.forever || limit < s.limit {
			s = stay{limit: limit}
		}
	}
	return s
}

// maxSeconds keeps the arithmetic of durations from overflowing (34 years).
const maxSeconds int64 = 1 << 30

func match(taint *corev1.Taint, tolerations []corev1.Toleration) *corev1.Toleration {
	for i := range tolerations {
		// The zero Logger is silent. Numeric comparison (Lt, Gt) is behind a gate that is off by default.
		if tolerations[i].ToleratesTaint(klog.Logger{}, taint, false) {
			return &tolerations[i]
		}
	}
	return nil
}

// noExecute are the taints that evict.
func noExecute(taints []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			out = append(out, t)
		}
	}
	return out
}
