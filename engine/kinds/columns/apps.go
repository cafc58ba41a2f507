package columns

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

var (
	deploymentStatusDocs                   = appsv1.DeploymentStatus{}.SwaggerDoc()
	replicaSetSpecDocs, replicaSetDocs     = appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	daemonSetDocs                          = appsv1.DaemonSetStatus{}.SwaggerDoc()
	deploymentSelector, replicaSetSelector = appsv1.DeploymentSpec{}.SwaggerDoc()["selector"], replicaSetSpecDocs["selector"]
)

var deployments = slices.Concat([]Column{
	name,
	ready("Ready", "Number of the pod with ready state", func(d *appsv1.Deployment) (int, int) {
		return int(d.Status.ReadyReplicas), kinds.Desired(d.Spec.Replicas)
	}),
	asString(number("Up-to-date", deploymentStatusDocs["updatedReplicas"], func(d *appsv1.Deployment) int32 { return d.Status.UpdatedReplicas })),
	asString(number("Available", deploymentStatusDocs["availableReplicas"], func(d *appsv1.Deployment) int32 { return d.Status.AvailableReplicas })),
	age,
}, containers(func(d *appsv1.Deployment) []corev1.Container { return d.Spec.Template.Spec.Containers }),
	[]Column{wide(text("Selector", deploymentSelector, func(d *appsv1.Deployment) string {
		s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector) // not FormatLabelSelector as elsewhere: the two differ in what they say of none and of a bad one
		if err != nil {
			return "<invalid>"
		}
		return s.String()
	}))})

var replicaSets = slices.Concat([]Column{
	name,
	number("Desired", replicaSetSpecDocs["replicas"], func(r *appsv1.ReplicaSet) int { return kinds.Desired(r.Spec.Replicas) }),
	number("Current", replicaSetDocs["replicas"], func(r *appsv1.ReplicaSet) int32 { return r.Status.Replicas }),
	number("Ready", replicaSetDocs["readyReplicas"], func(r *appsv1.ReplicaSet) int32 { return r.Status.ReadyReplicas }),
	age,
}, containers(func(r *appsv1.ReplicaSet) []corev1.Container { return r.Spec.Template.Spec.Containers }),
	[]Column{wide(text("Selector", replicaSetSelector, func(r *appsv1.ReplicaSet) string { return metav1.FormatLabelSelector(r.Spec.Selector) }))})

var statefulSets = append([]Column{
	name,
	ready("Ready", "Number of the pod with ready state", func(s *appsv1.StatefulSet) (int, int) {
		return int(s.Status.ReadyReplicas), kinds.Desired(s.Spec.Replicas)
	}),
	age,
}, containers(func(s *appsv1.StatefulSet) []corev1.Container { return s.Spec.Template.Spec.Containers })...)

var daemonSets = slices.Concat([]Column{
	name,
	number("Desired", daemonSetDocs["desiredNumberScheduled"], func(d *appsv1.DaemonSet) int32 { return d.Status.DesiredNumberScheduled }),
	number("Current", daemonSetDocs["currentNumberScheduled"], func(d *appsv1.DaemonSet) int32 { return d.Status.CurrentNumberScheduled }),
	number("Ready", daemonSetDocs["numberReady"], func(d *appsv1.DaemonSet) int32 { return d.Status.NumberReady }),
	number("Up-to-date", daemonSetDocs["updatedNumberScheduled"], func(d *appsv1.DaemonSet) int32 { return d.Status.UpdatedNumberScheduled }),
	number("Available", daemonSetDocs["numberAvailable"], func(d *appsv1.DaemonSet) int32 { return d.Status.NumberAvailable }),
	text("Node Selector", podSpecDocs["nodeSelector"], func(d *appsv1.DaemonSet) string { return labels.FormatLabels(d.Spec.Template.Spec.NodeSelector) }),
	age,
}, containers(func(d *appsv1.DaemonSet) []corev1.Container { return d.Spec.Template.Spec.Containers }),
	[]Column{wide(text("Selector", appsv1.DaemonSetSpec{}.SwaggerDoc()["selector"], func(d *appsv1.DaemonSet) string { return metav1.FormatLabelSelector(d.Spec.Selector) }))})

var controllerRevisions = []Column{
	name,
	text("Controller", "Controller of the object", func(r *appsv1.ControllerRevision) string {
		owner := metav1.GetControllerOf(r)
		if owner == nil {
			return "<none>"
		}
		group := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if group.Empty() {
			return owner.Name
		}
		return strings.ToLower(group.String()) + "/" + owner.Name
	}),
	asString(number("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"], func(r *appsv1.ControllerRevision) int64 { return r.Revision })),
	age,
}

// Scale is the table of a scale subresource. Its name has no format, so that kubectl prints no prefix there.
var Scale = []Column{
	text("Name", docs["name"], func(s *autoscalingv1.Scale) string { return s.Name }),
	number("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"], func(s *autoscalingv1.Scale) int32 { return s.Spec.Replicas }),
	number("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"], func(s *autoscalingv1.Scale) int32 { return s.Status.Replicas }),
	age,
}
