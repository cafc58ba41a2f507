package pods

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// Parts of a pod that are changed by themselves while it runs: the containers for debugging, and what the others may use.
const (
	ephemeralPart = "ephemeralcontainers"
	resizePart    = "resize"
)

// keepAllBut gives the pod back everything that the change of a part may not touch; only what take copies out of the pod as it was sent stays new.
func keepAllBut(p, old *corev1.Pod, take func(spec *corev1.PodSpec)) {
	spec := *old.Spec.DeepCopy()
	take(&spec)
	p.Spec, p.Status = spec, old.Status
	p.Labels, p.Annotations, p.Finalizers, p.OwnerReferences = old.Labels, old.Annotations, old.Finalizers, old.OwnerReferences
}

func onlyEphemeral(p, old *corev1.Pod) {
	sent := p.Spec.EphemeralContainers
	keepAllBut(p, old, func(s *corev1.PodSpec) { s.EphemeralContainers = sent })
}

// onlyResources leaves a pod whose containers come in another order, or in another number, as it is: it is refused then, and the refusal shall name what was sent.
func onlyResources(p, old *corev1.Pod) {
	sent := p.Spec
	if len(sent.Containers) != len(old.Spec.Containers) || len(sent.InitContainers) != len(old.Spec.InitContainers) {
		return
	}
	resized := func(to *[]corev1.Container, from []corev1.Container) {
		for i := range from {
			if (*to)[i].Name != from[i].Name {
				*to = from
				return
			}
			(*to)[i].Resources, (*to)[i].ResizePolicy = from[i].Resources, from[i].ResizePolicy
		}
	}
	keepAllBut(p, old, func(s *corev1.PodSpec) {
		resized(&s.Containers, sent.Containers)
		resized(&s.InitContainers, sent.InitContainers)
		if sent.Resources != nil { // a client that knows nothing of them has dropped them
			s.Resources = sent.Resources
		}
	})
	defaultPodResources(p)
}

// validateEphemeral lets containers for debugging be added; those there are stay (as ValidatePodEphemeralContainersUpdate).
func validateEphemeral(p, old *corev1.Pod) field.ErrorList {
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	errs := validateWhole(p, lenientFor(&old.Spec))
	errs = append(errs, annotationUpdates(p, old)...)
	at := field.NewPath("spec", "ephemeralContainers")
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		j := slices.IndexFunc(p.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == was.Name })
		switch {
		case j < 0:
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		case !apiequality.Semantic.DeepEqual(*was, p.Spec.EphemeralContainers[j]):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name, check.Diff(*was, p.Spec.EphemeralContainers[j]))))
		}
	}
	return errs
}

// validateResize lets CPU and memory of containers that run on be changed, as long as the pod stays in its class and nothing that was asked for is dropped (as ValidatePodResize).
func validateResize(p, old *corev1.Pod) field.ErrorList {
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	errs := validateWhole(p, lenientFor(&old.Spec))
	at := field.NewPath("spec")
	class := old.Status.QOSClass
	if class == "" {
		class = qosClass(old)
	}
	if class != qosClass(p) {
		errs = append(errs, field.Invalid(at, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !resizable(old) {
		errs = append(errs, field.Forbidden(at, "Pod running on node without support for resize"))
	}
	rest := p.Spec.DeepCopy() // of which what may change is put back; the rest must be equal
	if asksAsWhole(old) || asksAsWhole(p) {
		errs = append(errs, resizeWhole(rest, p, old, at)...)
	}
	if moved := sameContainers(p, old, at); len(moved) > 0 {
		return append(errs, moved...)
	}
	for _, list := range []struct {
		now, was []corev1.Container
		at       *field.Path
	}{{p.Spec.InitContainers, old.Spec.InitContainers, at.Child("initContainers")}, {p.Spec.Containers, old.Spec.Containers, at.Child("containers")}} {
		for i := range list.was {
			now, was, at := &list.now[i].Resources, &list.was[i].Resources, list.at.Index(i).Child("resources")
			if dropped(now.Requests, was.Requests) {
				errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
			}
			if dropped(now.Limits, was.Limits) {
				errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
			}
		}
	}

	for i := range rest.Containers {
		if was := &old.Spec.Containers[i]; !putBack(&rest.Containers[i], was) {
			errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable"))
		}
	}
	for i := range rest.InitContainers {
		c, was := &rest.InitContainers[i], &old.Spec.InitContainers[i]
		sidecar, changed := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways, !apiequality.Semantic.DeepEqual(*c, *was)
		if !putBack(c, was) {
			errs = append(errs, field.Forbidden(at.Child("initContainers").Index(i), "only cpu and memory resources for init or sidecar containers are mutable"))
		}
		if changed && !sidecar && slices.ContainsFunc(c.ResizePolicy, func(r corev1.ContainerResizePolicy) bool { return r.RestartPolicy == corev1.RestartContainer }) {
			errs = append(errs, field.Forbidden(at.Child("initContainers").Index(i), "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
	if len(errs) == 0 && !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable\n"+check.Diff(old.Spec, *rest)))
	}
	return errs
}

// asksAsWhole reports a pod that asks for something beside what its containers ask for.
func asksAsWhole(p *corev1.Pod) bool {
	return p.Spec.Resources != nil && len(p.Spec.Resources.Requests)+len(p.Spec.Resources.Limits) > 0
}

// resizeWhole checks the change of what a pod asks for as a whole, and puts CPU and memory back in rest.
func resizeWhole(rest *corev1.PodSpec, p, old *corev1.Pod, at *field.Path) field.ErrorList {
	was := old.Spec.Resources
	if was != nil && p.Spec.Resources == nil {
		return field.ErrorList{field.Forbidden(at.Child("resources"), "pod-level resources cannot be removed")}
	}
	var errs field.ErrorList
	if was != nil {
		if dropped(p.Spec.Resources.Requests, was.Requests) {
			errs = append(errs, field.Forbidden(at.Child("resources", "requests"), "pod-level resource requests cannot be removed"))
		}
		if dropped(p.Spec.Resources.Limits, was.Limits) {
			errs = append(errs, field.Forbidden(at.Child("resources", "limits"), "pod-level resource limits cannot be removed"))
		}
	}
	had := corev1.ResourceRequirements{}
	if was != nil {
		had = *was
	}
	back(&rest.Resources.Requests, had.Requests)
	back(&rest.Resources.Limits, had.Limits)
	if !apiequality.Semantic.DeepEqual(*rest.Resources, had) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable at pod-level"))
	}
	rest.Resources = was
	return errs
}

// resizable reports that the kubelet that has the pod, if one has, tells what running containers have got: one that does not cannot give them more.
func resizable(p *corev1.Pod) bool {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

func sameContainers(p, old *corev1.Pod, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, l := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", p.Spec.Containers, old.Spec.Containers}, {"initContainers", p.Spec.InitContainers, old.Spec.InitContainers}} {
		if len(l.now) != len(l.was) {
			errs = append(errs, field.Forbidden(at, l.name+" may not be added or removed on resize"))
			continue
		}
		for i := range l.was {
			if l.now[i].Name != l.was[i].Name {
				errs = append(errs, field.Forbidden(at, l.name+" may not be renamed or reordered on resize"))
				break
			}
		}
	}
	return errs
}

// dropped reports that something which was asked for is asked for no more.
func dropped(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, has := now[name]; !has {
			return true
		}
	}
	return false
}

// putBack undoes what a resize may do to a container, and reports that nothing else was done.
func putBack(c, was *corev1.Container) bool {
	back(&c.Resources.Requests, was.Resources.Requests)
	back(&c.Resources.Limits, was.Resources.Limits)
	return apiequality.Semantic.DeepEqual(*c, *was)
}

// back gives a list the amounts of CPU and memory that there were.
func back(list *corev1.ResourceList, was corev1.ResourceList) {
	out := corev1.ResourceList{}
	for name, q := range *list {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			out[name] = q
		}
	}
	for _, name := range [2]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, had := was[name]; had {
			out[name] = q
		}
	}
	*list = out
}
