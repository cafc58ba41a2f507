package apiserver

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	psapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"example.com/kubeviz/engine/kinds"
)

// podSecurityDefaults hold where a namespace's labels say nothing: everything is allowed.
func podSecurityDefaults() psapi.Policy {
	all := psapi.LevelVersion{Level: psapi.LevelPrivileged, Version: psapi.LatestVersion()}
	return psapi.Policy{Enforce: all, Audit: all, Warn: all}
}

// podSecurityRules are the checks of all levels and versions. They never change, so servers share them.
var podSecurityRules = sync.OnceValue(func() policy.Evaluator {
	rules, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic("apiserver: " + err.Error()) // the library's own table
	}
	return rules
})

// podSecurity holds pods to the level that their namespace's labels set, warns of templates whose pods will not be let in, and of pods that are there already when a namespace becomes stricter
// (k8s.io/pod-security-admission: admission). What only an audit log would hear is not worked out.
func podSecurity(a *attributes) error {
	switch obj := a.obj.(type) {
	case *corev1.Namespace:
		if a.rq.Subresource == "" {
			return a.securedNamespace(obj)
		}
	case *corev1.Pod:
		old, ok := a.old.(*corev1.Pod)
		switch {
		case a.rq.Subresource != "" && a.rq.Subresource != "ephemeralcontainers":
		case !ok || imagesDiffer(obj, old) || len(obj.Spec.EphemeralContainers) != len(old.Spec.EphemeralContainers):
			return a.secured(&obj.ObjectMeta, &obj.Spec, true)
		}
	default:
		if template := templateOf(a.obj); template != nil && a.rq.Subresource == "" {
			return a.secured(&template.ObjectMeta, &template.Spec, false)
		}
	}
	return nil
}

// templateOf is the template of pods in an object; nil: it has none.
func templateOf(obj kinds.Object) *corev1.PodTemplateSpec {
	switch o := obj.(type) {
	case *corev1.PodTemplate:
		return &o.Template
	case *corev1.ReplicationController:
		return o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template
	}
	return nil
}

// secured looks at a pod, or at the pods that will be made of a template; only pods are refused.
func (a *attributes) secured(meta *metav1.ObjectMeta, spec *corev1.PodSpec, enforce bool) error {
	ns, err := a.server.namespace(a.proc, a.rq, a.obj.GetNamespace())
	if err != nil {
		return nil // a deletion has overtaken the request; it is refused elsewhere or does no harm
	}
	want, _ := psapi.PolicyToEvaluate(ns.Labels, podSecurityDefaults())
	look := func(level psapi.LevelVersion) policy.AggregateCheckResult {
		return policy.AggregateCheckResults(podSecurityRules().EvaluatePod(level, meta, spec))
	}
	if enforce && want.Enforce.Level != psapi.LevelPrivileged {
		if got := look(want.Enforce); !got.Allowed {
			return a.forbid("violates PodSecurity %q: %s", want.Enforce.String(), got.ForbiddenDetail())
		}
	}
	if want.Warn.Level != psapi.LevelPrivileged {
		if got := look(want.Warn); !got.Allowed {
			a.rq.warnings = append(a.rq.warnings, fmt.Sprintf("would violate PodSecurity %q: %s", want.Warn.String(), got.ForbiddenDetail()))
		}
	}
	return nil
}

// imagesDiffer reports the one sort of change to the containers of a running pod that can break a rule; containers for debugging can only be added.
func imagesDiffer(pod, old *corev1.Pod) bool {
	same := func(x, y []corev1.Container) bool {
		return slices.EqualFunc(x, y, func(x, y corev1.Container) bool { return x.Image == y.Image })
	}
	return !same(pod.Spec.Containers, old.Spec.Containers) || !same(pod.Spec.InitContainers, old.Spec.InitContainers)
}

// securedNamespace refuses labels that say nothing sensible, and warns of pods that a stricter level would not have let in.
func (a *attributes) securedNamespace(ns *corev1.Namespace) error {
	want, errs := psapi.PolicyToEvaluate(ns.Labels, podSecurityDefaults())
	old, ok := a.old.(*corev1.Namespace)
	if !ok {
		return invalid(a.rq.Kind, ns.Name, errs)
	}
	had, oldErrs := psapi.PolicyToEvaluate(old.Labels, podSecurityDefaults())
	if len(errs) > 0 && (len(oldErrs) == 0 || !reflect.DeepEqual(errs, oldErrs)) {
		return invalid(a.rq.Kind, ns.Name, errs)
	}
	now, before := want.Enforce, had.Enforce
	if now == before || now.Level == psapi.LevelPrivileged || now.Version == before.Version && psapi.CompareLevels(now.Level, before.Level) < 1 {
		return nil
	}
	a.rq.warnings = append(a.rq.warnings, a.offenders(ns.Name, now)...)
	return nil
}

// offendersLooked bounds how many pods of a namespace are looked at.
const offendersLooked = 3000

// offenders are the warnings about pods of a namespace that break a level's rules, those with the same fault together.
func (a *attributes) offenders(namespace string, level psapi.LevelVersion) []string {
	var first, copies []*corev1.Pod // of each controller one pod comes first
	known := map[types.UID]bool{}
	eachSeen(a, kinds.Pods, namespace, func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner != nil && known[owner.UID] {
			copies = append(copies, pod)
			return true
		}
		if owner != nil {
			known[owner.UID] = true
		}
		first = append(first, pod)
		return true
	})
	pods := append(first, copies...)
	total := len(pods)
	pods = pods[:min(total, offendersLooked)]
	type fault struct {
		pod   string // the first by name
		count int
	}
	faults := map[string]fault{}
	for _, pod := range pods {
		got := policy.AggregateCheckResults(podSecurityRules().EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
		if got.Allowed {
			continue
		}
		f := faults[got.ForbiddenReason()]
		if f.count == 0 || pod.Name < f.pod {
			f.pod = pod.Name
		}
		f.count++
		faults[got.ForbiddenReason()] = f
	}
	var out []string
	if len(pods) < total {
		out = append(out, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", len(pods), total))
	}
	if len(faults) > 0 {
		out = append(out, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", namespace, level.String()))
	}
	var each []string
	for why, f := range faults {
		who := f.pod
		switch f.count {
		case 1:
		case 2:
			who += " (and 1 other pod)"
		default:
			who += fmt.Sprintf(" (and %d other pods)", f.count-1)
		}
		each = append(each, who+": "+why)
	}
	slices.Sort(each)
	return append(out, each...)
}
