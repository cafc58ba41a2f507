package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// Family is the one IP family of the clusters of this model.
const Family = corev1.IPv4Protocol

// settleService brings together what a service says of its addresses in several fields, before addresses are given out (k/k pkg/registry/core/service/storage). old is nil for creations.
func settleService(s, old *corev1.Service) field.ErrorList {
	if old != nil {
		keepAllocated(s, old)
	}
	alignClusterIPs(s, old)
	return settleFamilies(s, old)
}

// keepAllocated fills in what the server had given out and the user left out.
func keepAllocated(s, old *corev1.Service) {
	if TakesClusterIP(old) && TakesClusterIP(s) {
		if s.Spec.ClusterIP == "" {
			s.Spec.ClusterIP = old.Spec.ClusterIP
		}
		if len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP == old.Spec.ClusterIP {
			s.Spec.ClusterIPs = slices.Clone(old.Spec.ClusterIPs)
		}
	}
	if TakesNodePorts(old) && TakesNodePorts(s) {
		keepNodePorts(s, old)
	}
	if TakesHealthPort(old) && TakesHealthPort(s) && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = old.Spec.HealthCheckNodePort
	}
}

// keepNodePorts gives ports without a number on the nodes the one they had, by the name of the port, unless another port has it now.
func keepNodePorts(s, old *corev1.Service) {
	used := map[int32]bool{}
	byName := map[string]int32{}
	for _, o := range old.Spec.Ports {
		byName[o.Name] = o.NodePort
		for _, p := range s.Spec.Ports {
			used[o.NodePort] = used[o.NodePort] || o.NodePort != 0 && o.NodePort == p.NodePort
		}
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if had := byName[p.Name]; p.NodePort == 0 && !used[had] {
			p.NodePort = had
			used[had] = true
		}
	}
}

// alignClusterIPs fills the list of addresses from the one address for clients that know only that, and the other way round where one of them was cleared.
func alignClusterIPs(s, old *corev1.Service) {
	now := &s.Spec
	if old == nil {
		if now.ClusterIP != "" && len(now.ClusterIPs) == 0 {
			now.ClusterIPs = []string{now.ClusterIP}
		}
		return
	}
	was := &old.Spec
	if len(was.ClusterIPs) > 0 && len(now.ClusterIPs) == 0 && now.ClusterIP == was.ClusterIP {
		now.ClusterIPs = slices.Clone(was.ClusterIPs)
	}
	if now.ClusterIP == was.ClusterIP || !slices.Equal(now.ClusterIPs, was.ClusterIPs) {
		return
	}
	if was.ClusterIP != "" && now.ClusterIP == "" {
		now.ClusterIPs = nil
	} else {
		now.ClusterIPs = []string{now.ClusterIP}
	}
}

// settleFamilies works out the IP families of a service and whether it wants one or two.
func settleFamilies(s, old *corev1.Service) field.ErrorList {
	spec := &s.Spec
	if !TakesClusterIP(s) {
		return nil
	}
	if old != nil && policy(old) == corev1.IPFamilyPolicyPreferDualStack && policy(s) == corev1.IPFamilyPolicyPreferDualStack && sameClusterIPs(s, old) && sameFamilies(s, old) {
		return nil
	}
	anyone := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0 // whoever writes its endpoints may use any family
	if spec.IPFamilyPolicy == nil {
		p := corev1.IPFamilyPolicySingleStack
		switch {
		case old != nil && old.Spec.IPFamilyPolicy != nil:
			p = *old.Spec.IPFamilyPolicy
		case anyone:
			p = corev1.IPFamilyPolicyRequireDualStack
		}
		spec.IPFamilyPolicy = &p
	}
	if errs := validateClusterIPs(s, old); len(errs) > 0 {
		return errs
	}
	if errs := settleOneOrTwo(s, old); len(errs) > 0 {
		return errs
	}
	if anyone {
		if len(spec.IPFamilies) == 0 {
			spec.IPFamilies = []corev1.IPFamily{Family}
		}
		if len(spec.IPFamilies) < 2 && policy(s) != corev1.IPFamilyPolicySingleStack {
			spec.IPFamilies = append(spec.IPFamilies, other(spec.IPFamilies[0]))
		}
		return nil
	}
	var errs field.ErrorList
	at := field.NewPath("spec")
	if policy(s) == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(at.Child("ipFamilyPolicy"), spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, f := range spec.IPFamilies {
		if f != Family {
			errs = append(errs, field.Invalid(at.Child("ipFamilies").Index(i), f, "not configured on this cluster"))
		}
	}
	if len(errs) == 0 && len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{Family}
	}
	return errs
}

func other(f corev1.IPFamily) corev1.IPFamily {
	if f == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// settleOneOrTwo checks the wish for one or two families against the addresses and families that are named, and takes the families of named addresses.
func settleOneOrTwo(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	spec, at := &s.Spec, field.NewPath("spec")
	refuse := func(text string) {
		errs = append(errs, field.Invalid(at.Child("ipFamilyPolicy"), spec.IPFamilyPolicy, text))
	}
	if old != nil {
		if policy(s) == corev1.IPFamilyPolicySingleStack {
			if sameClusterIPs(s, old) && len(spec.ClusterIPs) > 1 {
				spec.ClusterIPs = spec.ClusterIPs[:1]
			}
			if sameFamilies(s, old) && len(spec.IPFamilies) > 1 {
				spec.IPFamilies = spec.IPFamilies[:1]
			}
		} else {
			if len(spec.ClusterIPs) == 1 && len(old.Spec.ClusterIPs) == 2 && spec.ClusterIPs[0] == old.Spec.ClusterIPs[0] {
				refuse("must be 'SingleStack' to release the secondary cluster IP")
			}
			if len(spec.IPFamilies) == 1 && len(old.Spec.IPFamilies) == 2 && spec.IPFamilies[0] == old.Spec.IPFamilies[0] {
				refuse("must be 'SingleStack' to release the secondary IP family")
			}
		}
	}
	if policy(s) == corev1.IPFamilyPolicySingleStack {
		if len(spec.ClusterIPs) == 2 {
			refuse("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
		}
		if len(spec.IPFamilies) == 2 {
			refuse("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
		}
	}
	for i, ip := range spec.ClusterIPs {
		if ip == corev1.ClusterIPNone {
			break
		}
		if i < len(spec.IPFamilies) {
			continue
		}
		f := corev1.IPv4Protocol
		if netutils.IsIPv6String(ip) {
			f = corev1.IPv6Protocol
		}
		if f != Family {
			errs = append(errs, field.Invalid(at.Child("clusterIPs").Index(i), spec.ClusterIPs, fmt.Sprintf("%s is not configured on this cluster", f)))
		} else {
			spec.IPFamilies = append(spec.IPFamilies, f)
		}
	}
	return errs
}

var families = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}

// policies, sorted as errors list them.
var policies = []corev1.IPFamilyPolicy{corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack}

// validateClusterIPs checks the fields that belong together: clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy. old is nil for creations.
func validateClusterIPs(s, old *corev1.Service) field.ErrorList {
	if !TakesClusterIP(s) {
		return nil // all of them must be unset there
	}
	var errs field.ErrorList
	spec, ips, fams := &s.Spec, field.NewPath("spec", "clusterIPs"), field.NewPath("spec", "ipFamilies")
	switch {
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		errs = append(errs, field.Required(ips, ""))
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		errs = append(errs, field.Invalid(ips, spec.ClusterIPs, "first value must match `clusterIP`"))
	case spec.ClusterIP == "" && len(spec.ClusterIPs) != 0:
		errs = append(errs, field.Invalid(ips, spec.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	}
	for i, f := range spec.IPFamilies {
		errs = append(errs, check.OneOf(fams.Index(i), f, families...)...)
		if slices.Contains(spec.IPFamilies[:i], f) {
			errs = append(errs, field.Duplicate(fams.Index(i), f))
		}
	}
	if spec.IPFamilyPolicy != nil {
		errs = append(errs, check.OneOf(field.NewPath("spec", "ipFamilyPolicy"), policy(s), policies...)...)
	}
	var known []string
	if old != nil {
		known = old.Spec.ClusterIPs
	}
	bad := false
	for i, ip := range spec.ClusterIPs {
		if i == 0 && ip == corev1.ClusterIPNone {
			if len(spec.ClusterIPs) > 1 {
				bad = true
				errs = append(errs, field.Invalid(ips, spec.ClusterIPs, "'None' must be the first and only value"))
			}
			continue
		}
		wrong := legacyIP(ips.Index(i), ip, known)
		bad = bad || len(wrong) > 0
		errs = append(errs, wrong...)
	}
	if len(spec.ClusterIPs) > 2 {
		errs = append(errs, field.Invalid(ips, spec.ClusterIPs, "may only hold up to 2 values"))
	}
	if bad {
		return errs // what follows would only blame the bad address again
	}
	if len(spec.ClusterIPs) > 1 {
		dual, err := netutils.IsDualStackIPStrings(spec.ClusterIPs)
		if err != nil {
			errs = append(errs, field.InternalError(ips, fmt.Errorf("failed to check for dual stack with error:%v", err)))
		}
		if !dual {
			errs = append(errs, field.Invalid(ips, spec.ClusterIPs, "may specify no more than one IP for each IP family"))
		}
	}
	if Headless(s) {
		return errs
	}
	for i := range min(len(spec.ClusterIPs), len(spec.IPFamilies)) {
		ip, six := spec.ClusterIPs[i], netutils.IsIPv6String(spec.ClusterIPs[i])
		if f := spec.IPFamilies[i]; f == corev1.IPv4Protocol && six || f == corev1.IPv6Protocol && !six {
			errs = append(errs, field.Invalid(ips.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", f, i)))
		}
	}
	return errs
}
