package pods

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// keepStatus keeps of the old pod what a writer of its status may not touch, or left out because it knows nothing of it.
func keepStatus(p, old *corev1.Pod) {
	p.Spec = old.Spec
	p.OwnerReferences = old.OwnerReferences
	st, was := &p.Status, &old.Status
	if st.QOSClass == "" {
		st.QOSClass = was.QOSClass
	}
	if st.ResourceClaimStatuses == nil {
		st.ResourceClaimStatuses = was.ResourceClaimStatuses
	}
	if st.ExtendedResourceClaimStatus == nil {
		st.ExtendedResourceClaimStatus = was.ExtendedResourceClaimStatus
	}
	if st.NodeAllocatableResourceClaimStatuses == nil {
		st.NodeAllocatableResourceClaimStatuses = was.NodeAllocatableResourceClaimStatuses
	}
	if st.ObservedGeneration == 0 {
		st.ObservedGeneration = was.ObservedGeneration
	}
	// Conditions of one type may stand there several times; the first new one is the first old one.
	for i := range st.Conditions {
		c := &st.Conditions[i]
		if c.ObservedGeneration != 0 {
			continue
		}
		n := 0
		for j := range st.Conditions[:i] {
			if st.Conditions[j].Type == c.Type {
				n++
			}
		}
		for j := range was.Conditions {
			if was.Conditions[j].Type != c.Type {
				continue
			}
			if n == 0 {
				c.ObservedGeneration = was.Conditions[j].ObservedGeneration
				break
			}
			n--
		}
	}
}

// validateStatusUpdate refuses statuses that no kubelet reports.
func validateStatusUpdate(p, old *corev1.Pod) field.ErrorList {
	at := field.NewPath("status")
	st, was := &p.Status, &old.Status
	var errs field.ErrorList
	generation := func(n int64, at *field.Path) {
		if n < 0 {
			errs = append(errs, field.Invalid(at.Child("observedGeneration"), n, "must be a non-negative integer"))
		}
	}
	for i := range st.Conditions {
		c, at := &st.Conditions[i], at.Child("conditions").Index(i)
		generation(c.ObservedGeneration, at)
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		default:
			errs = append(errs, check.QualifiedName(string(c.Type), at.Child("Type"))...)
		}
	}
	if name := st.NominatedNodeName; name != "" && name != was.NominatedNodeName {
		at := at.Child("nominatedNodeName")
		errs = append(errs, check.Texts(at, name, apivalidation.NameIsDNSSubdomain(name, false))...)
		if old.Spec.NodeName != "" {
			errs = append(errs, field.Forbidden(at, "may not be set on pods that are already bound to a node"))
		}
	}
	generation(st.ObservedGeneration, at)
	if st.QOSClass != was.QOSClass {
		errs = append(errs, field.Invalid(at.Child("qosClass"), st.QOSClass, apivalidation.FieldImmutableErrorMsg))
	}
	for _, l := range []struct {
		name     string
		now, was []corev1.ContainerStatus
		of       []corev1.Container
	}{
		{"containerStatuses", st.ContainerStatuses, was.ContainerStatuses, old.Spec.Containers},
		{"initContainerStatuses", st.InitContainerStatuses, was.InitContainerStatuses, old.Spec.InitContainers},
		{"ephemeralContainerStatuses", st.EphemeralContainerStatuses, was.EphemeralContainerStatuses, nil},
	} {
		errs = append(errs, staysEnded(l.now, l.was, l.of, &old.Spec, at.Child(l.name))...)
	}
	errs = append(errs, claimStatuses(st.ResourceClaimStatuses, p.Spec.ResourceClaims, at.Child("resourceClaimStatuses"))...)
	errs = append(errs, podIPs(st, was, at.Child("podIPs"))...)
	return append(errs, hostIPs(st, was, at.Child("hostIPs"))...)
}

// staysEnded keeps containers that are not started again from running again. of is nil for those that never are.
func staysEnded(now, was []corev1.ContainerStatus, of []corev1.Container, s *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range was {
		end := was[i].State.Terminated
		if end == nil {
			continue
		}
		n := slices.IndexFunc(now, func(c corev1.ContainerStatus) bool { return c.Name == was[i].Name && c.State.Terminated == nil })
		if n < 0 || of != nil && anyRestartsAll(s) {
			continue
		}
		c := slices.IndexFunc(of, func(c corev1.Container) bool { return c.Name == was[i].Name })
		if c < 0 || !startsAgain(&of[c], s, end.ExitCode) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// anyRestartsAll reports a rule by which all containers start again.
func anyRestartsAll(s *corev1.PodSpec) bool {
	for _, list := range [2][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			for _, r := range list[i].RestartPolicyRules {
				if r.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					return true
				}
			}
		}
	}
	return false
}

// startsAgain tells whether a container that ended with code is started again: by its own rules, its own policy, or the pod's.
func startsAgain(c *corev1.Container, s *corev1.PodSpec, code int32) bool {
	policy := string(s.RestartPolicy)
	if c.RestartPolicy != nil {
		for _, r := range c.RestartPolicyRules {
			if r.ExitCodes == nil {
				continue
			}
			in := slices.Contains(r.ExitCodes.Values, code)
			if in == (r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
				return true
			}
		}
		policy = string(*c.RestartPolicy)
	}
	switch policy {
	case string(corev1.RestartPolicyNever):
		return false
	case string(corev1.RestartPolicyOnFailure):
		return code != 0
	}
	return true
}

func claimStatuses(list []corev1.PodResourceClaimStatus, claims []corev1.PodResourceClaim, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range list {
		at := at.Index(i)
		if !slices.ContainsFunc(claims, func(p corev1.PodResourceClaim) bool { return p.Name == c.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), c.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if slices.ContainsFunc(list[:i], func(o corev1.PodResourceClaimStatus) bool { return o.Name == c.Name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		if n := c.ResourceClaimName; n != nil {
			errs = append(errs, check.Texts(at.Child("resourceClaimName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
		}
	}
	return errs
}

func podIPs(st, was *corev1.PodStatus, at *field.Path) field.ErrorList {
	ips := make([]string, len(st.PodIPs))
	for i := range ips {
		ips[i] = st.PodIPs[i].IP
	}
	kept := make([]string, len(was.PodIPs))
	for i := range kept {
		kept[i] = was.PodIPs[i].IP
	}
	errs := validIPs(ips, kept, at)
	errs = append(errs, twoFamilies(ips, check.GoForm(st.PodIPs), at)...)
	switch {
	case (st.PodIP == "") != (len(ips) == 0):
		errs = append(errs, field.Invalid(at, check.GoForm(st.PodIPs), "podIP and podIPs must either both be set or both be unset"))
	case len(ips) > 0 && st.PodIP != ips[0]:
		errs = append(errs, field.Invalid(at.Index(0).Child("ip"), ips[0], "must be equal to `podIP`"))
	}
	return errs
}

func hostIPs(st, was *corev1.PodStatus, at *field.Path) field.ErrorList {
	if len(st.HostIPs) == 0 {
		return nil
	}
	var errs field.ErrorList
	ips := make([]string, len(st.HostIPs))
	for i := range ips {
		ips[i] = st.HostIPs[i].IP
	}
	kept := make([]string, len(was.HostIPs))
	for i := range kept {
		kept[i] = was.HostIPs[i].IP
	}
	if st.HostIP != ips[0] {
		errs = append(errs, field.Invalid(at.Index(0).Child("ip"), ips[0], "must be equal to `hostIP`"))
	}
	errs = append(errs, validIPs(ips, kept, at)...)
	return append(errs, twoFamilies(ips, check.GoForm(st.HostIPs), at)...)
}

// validIPs checks addresses; those that were there before stay as they are.
func validIPs(ips, kept []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		errs = append(errs, validation.IsValidIPForLegacyField(at.Index(i), ip, true, kept)...)
	}
	return errs
}

// twoFamilies lets a pod have one address of each kind.
func twoFamilies(ips []string, shown any, at *field.Path) field.ErrorList {
	if len(ips) < 2 {
		return nil
	}
	dual, err := netutils.IsDualStackIPStrings(ips)
	var errs field.ErrorList
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%v", err)))
	}
	if !dual || len(ips) > 2 {
		errs = append(errs, field.Invalid(at, shown, "may specify no more than one IP for each IP family"))
	}
	return errs
}
