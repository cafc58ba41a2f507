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
			switch sub {
			case "status":
				keepStatus(p, old)
				return
			case ephemeralPart:
				onlyEphemeral(p, old)
				return
			case resizePart:
				onlyResources(p, old)
				return
			}
			p.Status = old.Status
			if p.Spec.Resources == nil { // a client that knows nothing of them has dropped them
				p.Spec.Resources = old.Spec.Resources.DeepCopy()
			}
		}),
		Validate:       resource.TypedCheck(validatePod),
		ValidateUpdate: resource.TypedCheckUpdate(validatePodUpdate),
		UpdateWhole:    true,
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
		Notice: resource.TypedValue(armorNotice),
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
	selectOwnLabels(p)
	takeArmor(p)
	defaultPodResources(p)
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

// qosClass sorts a pod by what it asks for as a whole, or else by what its containers ask for (k/k pkg/apis/core/helper/qos): all limits equal to requests for CPU and memory is
// Guaranteed, nothing at all is BestEffort, and so is a pod of which all containers are alike in that.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	if r := p.Spec.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		return qosOf(r)
	}
	class := corev1.PodQOSClass("")
	for _, list := range [2][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			class = sameClass(class, qosOf(&list[i].Resources))
		}
	}
	if class == "" {
		return corev1.PodQOSBestEffort
	}
	return class
}

func qosOf(r *corev1.ResourceRequirements) corev1.PodQOSClass {
	class := corev1.PodQOSClass("")
	for _, name := range [2]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		switch req, lim := r.Requests[name], r.Limits[name]; {
		case !req.Equal(lim):
			return corev1.PodQOSBurstable
		case req.IsZero():
			class = sameClass(class, corev1.PodQOSBestEffort)
		default:
			class = sameClass(class, corev1.PodQOSGuaranteed)
		}
	}
	return class
}

// sameClass is the class of two parts: their own if they are alike.
func sameClass(a, b corev1.PodQOSClass) corev1.PodQOSClass {
	if a == "" || a == b {
		return b
	}
	return corev1.PodQOSBurstable
}
