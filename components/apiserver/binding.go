package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// bind is POST pods/<name>/binding: the one way a pod gets its node (k/k pkg/registry/core/pod/storage).
func (s *Server) bind(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	b, ok := rq.Object.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding object: %T", rq.Object))
	}
	rq.enter(stageValidate)
	var errs field.ErrorList
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	} else if b.Target.Kind == "" || b.Target.Kind == "Node" {
		for _, text := range apivalidation.NameIsDNSSubdomain(b.Target.Name, false) {
			errs = append(errs, field.Invalid(field.NewPath("target", "name"), b.Target.Name, text))
		}
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Binding").GroupKind(), b.Name, errs)
	}
	resp, err := s.update(p, rq, updateTries, func(old kinds.Object) (kinds.Object, error) {
		pod := old.DeepCopyObject().(*corev1.Pod)
		if why := bound(pod, b, metav1.NewTime(p.Now().Truncate(secondsOf))); why != nil {
			return nil, apierrors.NewConflict(corev1.Resource("pods/binding"), pod.Name, why)
		}
		s.labelByNode(pod, b.Target.Name)
		return pod, nil
	}, nil)
	if err != nil {
		return nil, err
	}
	// Kubernetes answers with 201 and a bare Status; the version tells in-process callers what was written.
	return &kubeapi.Response{Status: &metav1.Status{Status: metav1.StatusSuccess}, ResourceVersion: resp.ResourceVersion, Created: true}, nil
}

// bound writes the assignment into pod, or says why it is refused.
func bound(pod *corev1.Pod, b *corev1.Binding, now metav1.Time) error {
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", b.UID, pod.UID)
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name)
	}
	pod.Spec.NodeName = b.Target.Name
	for k, v := range b.Labels {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels[k] = v
	}
	for k, v := range b.Annotations {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[k] = v
	}
	// The generation stays: the assignment is no change of what users want.
	setPodCondition(&pod.Status, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now})
	return nil
}

func setPodCondition(st *corev1.PodStatus, c corev1.PodCondition) {
	for i := range st.Conditions {
		if have := &st.Conditions[i]; have.Type == c.Type {
			if have.Status == c.Status {
				c.LastTransitionTime = have.LastTransitionTime
			}
			*have = c
			return
		}
	}
	st.Conditions = append(st.Conditions, c)
}
