package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/engine/kinds"
)

var podStatusDocs, podSpecDocs = corev1.PodStatus{}.SwaggerDoc(), corev1.PodSpec{}.SwaggerDoc()

var pods = []Column{
	name,
	ready("Ready", "The aggregate readiness state of this pod for accepting traffic.", kinds.PodReady),
	text("Status", "The aggregate status of the containers in this pod.", kinds.PodStatus),
	typed("Restarts", "string", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.", podRestarts,
		func(p *corev1.Pod) Rank { return Rank{Number: float64(kinds.ColumnsOf(p).Restarts)} }),
	age,
	wide(text("IP", podStatusDocs["podIP"], podIP)),
	wide(text("Node", podSpecDocs["nodeName"], func(p *corev1.Pod) string { return orElse(p.Spec.NodeName, "<none>") })),
	wide(text("Nominated Node", podStatusDocs["nominatedNodeName"], func(p *corev1.Pod) string { return orElse(p.Status.NominatedNodeName, "<none>") })),
	wide(text("Readiness Gates", podSpecDocs["readinessGates"], readinessGates)),
}

func podRestarts(p *corev1.Pod, now time.Time) any {
	c := kinds.ColumnsOf(p)
	if c.Restarts > 0 && !c.LastRestart.IsZero() {
		return fmt.Sprintf("%d (%s ago)", c.Restarts, since(c.LastRestart, now))
	}
	return strconv.Itoa(c.Restarts)
}

// podIP is the first of the pod's addresses; podIP and podIPs say the same when both are there.
func podIP(p *corev1.Pod) string {
	ip := p.Status.PodIP
	if ip == "" && len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return orElse(ip, "<none>")
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	have := 0
	for _, g := range p.Spec.ReadinessGates {
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == g.ConditionType {
				if c.Status == corev1.ConditionTrue {
					have++
				}
				break
			}
		}
	}
	return fmt.Sprintf("%d/%d", have, len(p.Spec.ReadinessGates))
}

var (
	succeeded = []metav1.TableRowCondition{{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(corev1.PodSucceeded), Message: "The pod has completed successfully."}}
	failed    = []metav1.TableRowCondition{{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(corev1.PodFailed), Message: "The pod failed."}}
)

// Conditions of an object's row: pods that have ended are marked Completed, so that clients may hide or dim them. Do not change them.
func Conditions(o kinds.Object) []metav1.TableRowCondition {
	if p, ok := o.(*corev1.Pod); ok {
		switch p.Status.Phase {
		case corev1.PodSucceeded:
			return succeeded
		case corev1.PodFailed:
			return failed
		}
	}
	return nil
}

var podTemplates = []Column{
	name,
	text("Containers", containersDoc, func(t *corev1.PodTemplate) string { return containerNames(t.Template.Spec.Containers) }),
	text("Images", imagesDoc, func(t *corev1.PodTemplate) string { return containerImages(t.Template.Spec.Containers) }),
	text("Pod Labels", "The labels for the pod template.", func(t *corev1.PodTemplate) string { return labels.FormatLabels(t.Template.Labels) }),
}

const (
	containersDoc = "Names of each container in the template."
	imagesDoc     = "Images referenced by each container in the template."
)

// containers are the columns of what a workload runs.
func containers[T kinds.Object](of func(T) []corev1.Container) []Column {
	return []Column{
		wide(text("Containers", containersDoc, func(o T) string { return containerNames(of(o)) })),
		wide(text("Images", imagesDoc, func(o T) string { return containerImages(of(o)) })),
	}
}

func containerNames(list []corev1.Container) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return strings.Join(names, ",")
}

func containerImages(list []corev1.Container) string {
	images := make([]string, len(list))
	for i := range list {
		images[i] = list[i].Image
	}
	return strings.Join(images, ",")
}

var eventDocs = corev1.Event{}.SwaggerDoc()

var events = []Column{
	ago("Last Seen", eventDocs["lastTimestamp"], eventLast),
	text("Type", eventDocs["type"], func(e *corev1.Event) string { return e.Type }),
	text("Reason", eventDocs["reason"], func(e *corev1.Event) string { return e.Reason }),
	text("Object", eventDocs["involvedObject"], func(e *corev1.Event) string {
		if e.InvolvedObject.Name == "" {
			return strings.ToLower(e.InvolvedObject.Kind)
		}
		return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
	}),
	wide(text("Subobject", corev1.ObjectReference{}.SwaggerDoc()["fieldPath"], func(e *corev1.Event) string { return e.InvolvedObject.FieldPath })),
	wide(text("Source", eventDocs["source"], kinds.EventSource)),
	text("Message", eventDocs["message"], func(e *corev1.Event) string { return strings.TrimSpace(e.Message) }),
	wide(ago("First Seen", eventDocs["firstTimestamp"], eventFirst)),
	wide(asString(number("Count", eventDocs["count"], func(e *corev1.Event) int32 {
		if e.Series != nil {
			return e.Series.Count
		}
		return cmp.Or(e.Count, 1)
	}))),
	wide(name),
}

// eventLast is what the column tells: of a series only when it was last observed, and nothing where that is not known.
func eventLast(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return eventFirst(e)
}

func eventFirst(e *corev1.Event) time.Time {
	if !e.FirstTimestamp.IsZero() {
		return e.FirstTimestamp.Time
	}
	return e.EventTime.Time
}
