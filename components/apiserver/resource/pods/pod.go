package pods

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// Resource of pods.
func Resource() *resource.Resource {
	type pod = *corev1.Pod
	return &resource.Resource{
		Kind:          kinds.Pods,
		Name:          apivalidation.NameIsDNSSubdomain,
		Default:       resource.Typed(defaultPod),
		PrepareCreate: resource.Typed(preparePod),
		PrepareUpdate: resource.TypedUpdate(func(p, old pod, sub string) {
			if sub == "status" {
				p.Spec = old.Spec
				p.OwnerReferences = old.OwnerReferences
				p.Status.QOSClass = old.Status.QOSClass
				return
			}
			p.Status = old.Status
		}),
		Validate:       resource.TypedCheck(validatePod),
		ValidateUpdate: resource.TypedCheckUpdate(validatePodUpdate),
		Generation:     true,
		Spec:           resource.TypedSpec(func(p pod) any { return p.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"spec.nodeName":            resource.TypedValue(func(p pod) string { return p.Spec.NodeName }),
			"spec.restartPolicy":       resource.TypedValue(func(p pod) string { return string(p.Spec.RestartPolicy) }),
			"spec.schedulerName":       resource.TypedValue(func(p pod) string { return p.Spec.SchedulerName }),
			"spec.serviceAccountName":  resource.TypedValue(func(p pod) string { return p.Spec.ServiceAccountName }),
			"spec.hostNetwork":         resource.TypedValue(func(p pod) string { return strconv.FormatBool(p.Spec.HostNetwork) }),
			"status.phase":             resource.TypedValue(func(p pod) string { return string(p.Status.Phase) }),
			"status.podIP":             resource.TypedValue(func(p pod) string { return p.Status.PodIP }),
			"status.nominatedNodeName": resource.TypedValue(func(p pod) string { return p.Status.NominatedNodeName }),
		},
		// People seldom change pods themselves, so there are no warnings for updates.
		Warn: resource.TypedWarn(func(p, old pod) []string {
			if old != nil {
				return nil
			}
			var out []string
			if texts := validation.IsDNS1123Label(p.Name); len(texts) > 0 {
				out = append(out, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", texts))
			}
			return append(out, warnings(&p.Spec, &p.ObjectMeta, nil)...)
		}),
		Index: []string{"spec.nodeName"},
		Grace: func(o kinds.Object, asked *int64) int64 { return podGrace(o.(pod), asked) },
	}
}

// preparePod drops what a creator may not set and works out what only the server says.
func preparePod(p *corev1.Pod) {
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(p)}
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates"}}
	}
}

// defaultGrace of a pod that says nothing, in seconds.
const defaultGrace int64 = 30

// podGrace settles the grace period of a pod's deletion (API-19): pods that run nowhere, or no longer, need none.
func podGrace(p *corev1.Pod, asked *int64) int64 {
	grace := defaultGrace
	switch {
	case asked != nil:
		grace = *asked
	case p.Spec.TerminationGracePeriodSeconds != nil:
		grace = *p.Spec.TerminationGracePeriodSeconds
	}
	switch {
	case p.Spec.NodeName == "", p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
		return 0
	case grace < 0:
		return 1
	}
	return grace
}

// qosClass sorts a pod by what its containers ask for (k/k pkg/apis/core/helper/qos): all limits equal to requests for CPU and memory is Guaranteed, nothing at all is
// BestEffort.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	anything, guaranteed := false, true
	for _, list := range [2][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			r := &list[i].Resources
			for _, name := range [2]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				req, hasReq := r.Requests[name]
				lim, hasLim := r.Limits[name]
				if (hasReq && !req.IsZero()) || (hasLim && !lim.IsZero()) {
					anything = true
				}
				if !hasLim || lim.IsZero() || (hasReq && req.Cmp(lim) != 0) {
					guaranteed = false
				}
			}
		}
	}
	switch {
	case !anything:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
