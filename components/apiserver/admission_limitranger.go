package apiserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"example.com/kubeviz/engine/kinds"
)

// limitRangerAnnotation says what the plugin filled in.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// limitRanger fills in what the LimitRanges of a namespace say containers have by default, which it does before pods are validated (k/k plugin/pkg/admission/limitranger).
func limitRanger(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || !a.creates() && a.rq.Subresource != "resize" {
		return nil
	}
	eachSeen(a, kinds.LimitRanges, pod.Namespace, func(lr *corev1.LimitRange) bool {
		fillResources(lr, pod)
		return true
	})
	return nil
}

// withinLimits refuses pods and claims outside of what the LimitRanges of their namespace allow.
func withinLimits(a *attributes) error {
	if a.obj == nil || a.rq.Subresource != "" && a.rq.Subresource != "resize" {
		return nil
	}
	var check func(*corev1.LimitRange) []error
	switch obj := a.obj.(type) {
	case *corev1.Pod:
		if a.old != nil && a.rq.Subresource == "" {
			return nil // what a pod asks for changes in its resize subresource only
		}
		check = func(lr *corev1.LimitRange) []error { return podWithin(lr, obj) }
	case *corev1.PersistentVolumeClaim:
		if old, ok := a.old.(*corev1.PersistentVolumeClaim); ok && (obj.DeletionTimestamp != nil || sameList(old.Spec.Resources.Requests, obj.Spec.Resources.Requests)) {
			return nil
		}
		check = func(lr *corev1.LimitRange) []error { return claimWithin(lr, obj) }
	default:
		return nil
	}
	var refused error
	eachSeen(a, kinds.LimitRanges, a.obj.GetNamespace(), func(lr *corev1.LimitRange) bool {
		if errs := check(lr); len(errs) > 0 {
			refused = a.forbid("%w", utilerrors.NewAggregate(errs))
		}
		return refused == nil
	})
	return refused
}

func sameList(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// fillResources gives containers the defaults of one LimitRange and notes which.
func fillResources(lr *corev1.LimitRange, pod *corev1.Pod) {
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range lr.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			maps.Copy(limits, item.Default)
			maps.Copy(requests, item.DefaultRequest)
		}
	}
	var notes []string
	for _, group := range []struct {
		word       string
		containers []corev1.Container
	}{{"container", pod.Spec.Containers}, {"init container", pod.Spec.InitContainers}} {
		for i := range group.containers {
			c := &group.containers[i]
			if set := fillList(&c.Resources.Requests, requests); len(set) > 0 {
				notes = append(notes, strings.Join(set, ", ")+" request for "+group.word+" "+c.Name)
			}
			if set := fillList(&c.Resources.Limits, limits); len(set) > 0 {
				notes = append(notes, strings.Join(set, ", ")+" limit for "+group.word+" "+c.Name)
			}
		}
	}
	if len(notes) > 0 {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(notes, "; ")
	}
}

// fillList adds what is missing and names it.
func fillList(have *corev1.ResourceList, defaults corev1.ResourceList) (set []string) {
	for _, name := range sortedNames(defaults) {
		if _, ok := (*have)[name]; ok {
			continue
		}
		if *have == nil {
			*have = corev1.ResourceList{}
		}
		(*have)[name] = defaults[name].DeepCopy()
		set = append(set, string(name))
	}
	return set
}

func sortedNames(l corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(l)) }

func podWithin(lr *corev1.LimitRange, pod *corev1.Pod) (errs []error) {
	for _, item := range lr.Spec.Limits {
		switch item.Type {
		case corev1.LimitTypeContainer:
			for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
				for i := range containers {
					errs = append(errs, within(item, containers[i].Resources.Requests, containers[i].Resources.Limits)...)
				}
			}
		case corev1.LimitTypePod:
			requests, limits := podTotals(pod)
			errs = append(errs, within(item, requests, limits)...)
		}
	}
	return errs
}

func claimWithin(lr *corev1.LimitRange, claim *corev1.PersistentVolumeClaim) (errs []error) {
	for _, item := range lr.Spec.Limits {
		if item.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		asked := claim.Spec.Resources.Requests
		for _, name := range sortedNames(item.Min) {
			errs = appendError(errs, atLeast(item.Type, name, item.Min[name], asked, nil))
		}
		for _, name := range sortedNames(item.Max) {
			errs = appendError(errs, requestAtMost(item.Type, name, item.Max[name], asked))
		}
	}
	return errs
}

func appendError(errs []error, err error) []error {
	if err == nil {
		return errs
	}
	return append(errs, err)
}

// within checks one item of a LimitRange. Kubernetes goes through maps and so in no order; by name the texts repeat.
func within(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) (errs []error) {
	for _, name := range sortedNames(item.Min) {
		errs = appendError(errs, atLeast(item.Type, name, item.Min[name], requests, limits))
	}
	for _, name := range sortedNames(item.Max) {
		errs = appendError(errs, atMost(item.Type, name, item.Max[name], requests, limits))
	}
	for _, name := range sortedNames(item.MaxLimitRequestRatio) {
		errs = appendError(errs, ratioAtMost(item.Type, name, item.MaxLimitRequestRatio[name], requests, limits))
	}
	return errs
}

func atLeast(t corev1.LimitType, name corev1.ResourceName, least resource.Quantity, requests, limits corev1.ResourceList) error {
	request, asked := requests[name]
	limit, limited := limits[name]
	switch {
	case !asked:
		return fmt.Errorf("minimum %s usage per %s is %s.  No request is specified", name, t, least.String())
	case request.Cmp(least) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but request is %s", name, t, least.String(), request.String())
	case limited && limit.Cmp(least) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but limit is %s", name, t, least.String(), limit.String())
	}
	return nil
}

func atMost(t corev1.LimitType, name corev1.ResourceName, most resource.Quantity, requests, limits corev1.ResourceList) error {
	request, asked := requests[name]
	limit, limited := limits[name]
	switch {
	case !limited:
		return fmt.Errorf("maximum %s usage per %s is %s.  No limit is specified", name, t, most.String())
	case limit.Cmp(most) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but limit is %s", name, t, most.String(), limit.String())
	case asked && request.Cmp(most) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, t, most.String(), request.String())
	}
	return nil
}

func requestAtMost(t corev1.LimitType, name corev1.ResourceName, most resource.Quantity, requests corev1.ResourceList) error {
	request, asked := requests[name]
	switch {
	case !asked:
		return fmt.Errorf("maximum %s usage per %s is %s.  No request is specified", name, t, most.String())
	case request.Cmp(most) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, t, most.String(), request.String())
	}
	return nil
}

func ratioAtMost(t corev1.LimitType, name corev1.ResourceName, most resource.Quantity, requests, limits corev1.ResourceList) error {
	request, limit := requests[name], limits[name]
	switch {
	case request.IsZero():
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, t, most.String())
	case limit.IsZero():
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, t, most.String())
	}
	if ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64(); cmp.Compare(ratio, most.AsApproximateFloat64()) > 0 {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, t, most.String(), ratio)
	}
	return nil
}

// podTotals is what a pod takes as a whole: its containers and sidecars together, or at an init container's turn that one with the sidecars before it. A resource that the pod asks for
// as a whole (spec.resources) counts as said there.
func podTotals(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	requests = podTotal(pod, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
	limits = podTotal(pod, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
	if pod.Spec.Resources != nil {
		maps.Copy(requests, pod.Spec.Resources.Requests)
		maps.Copy(limits, pod.Spec.Resources.Limits)
	}
	return requests, limits
}

func podTotal(pod *corev1.Pod, of func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		addList(total, of(pod.Spec.Containers[i].Resources))
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			addList(sidecars, of(c.Resources))
			raiseList(peak, sidecars)
			continue
		}
		turn := sidecars.DeepCopy()
		addList(turn, of(c.Resources))
		raiseList(peak, turn)
	}
	addList(total, sidecars)
	raiseList(total, peak)
	return total
}

func addList(to, more corev1.ResourceList) {
	for name, q := range more {
		sum := q.DeepCopy()
		if have, ok := to[name]; ok {
			sum = have.DeepCopy()
			sum.Add(q)
		}
		to[name] = sum
	}
}

func raiseList(to, least corev1.ResourceList) {
	for name, q := range least {
		if have, ok := to[name]; !ok || have.Cmp(q) < 0 {
			to[name] = q.DeepCopy()
		}
	}
}
