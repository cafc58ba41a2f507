package pods

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// takeArmor gives containers without an AppArmor profile the one that the annotation from before there was a field names, where it is another one than the pod's (as applyAppArmorVersionSkew).
func takeArmor(p *corev1.Pod) {
	eachArmor(p, func(c *corev1.Container, _ string, named *corev1.AppArmorProfile) {
		if named == nil || apiequality.Semantic.DeepEqual(named, podArmor(&p.Spec)) {
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = named
	})
}

// armorNotice tells of annotations that takeArmor is about to make into fields, and of those that name no profile.
func armorNotice(p *corev1.Pod) []string {
	var out []string
	eachArmor(p, func(_ *corev1.Container, key string, named *corev1.AppArmorProfile) {
		if named == nil || !apiequality.Semantic.DeepEqual(named, podArmor(&p.Spec)) {
			out = append(out, field.NewPath("metadata", "annotations").Key(key).String()+`: deprecated since v1.30; use the "appArmorProfile" field instead`)
		}
	})
	return out
}

// eachArmor visits the containers that have an annotation for a profile and no profile; named is nil where the annotation names none.
func eachArmor(p *corev1.Pod, fn func(c *corev1.Container, key string, named *corev1.AppArmorProfile)) {
	if p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return
	}
	each(&p.Spec, field.NewPath("spec"), func(c *corev1.Container, _ *field.Path) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		if v, has := p.Annotations[key]; has && (c.SecurityContext == nil || c.SecurityContext.AppArmorProfile == nil) {
			fn(c, key, armorNamed(v))
		}
	})
}

func podArmor(s *corev1.PodSpec) *corev1.AppArmorProfile {
	if s.SecurityContext == nil {
		return nil
	}
	return s.SecurityContext.AppArmorProfile
}

// armorNamed is the profile that an annotation names; nil: none that could be a field.
func armorNamed(v string) *corev1.AppArmorProfile {
	var p *corev1.AppArmorProfile
	switch file, local := strings.CutPrefix(v, corev1.DeprecatedAppArmorBetaProfileNamePrefix); {
	case v == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		p = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case v == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		p = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case local:
		p = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &file}
	}
	if len(appArmor(p, nil)) > 0 {
		return nil
	}
	return p
}
