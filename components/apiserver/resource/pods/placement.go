package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// lenient is what an update may keep of rules that the pod broke already before; nothing, for creations.
type lenient struct {
	nodeValues     bool // values in the required node affinity that are no label values
	selectorValues bool // the same in selectors of pods
	spreadSelector bool // any selector of a spread constraint
}

// lenientFor looks what an old pod breaks.
func lenientFor(old *corev1.PodSpec) lenient {
	var l lenient
	if a := old.Affinity; a != nil {
		if a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			l.nodeValues = check.BadLabelValues(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
		}
		eachAffinityTerm(a, func(t *corev1.PodAffinityTerm) {
			for _, s := range [2]*metav1.LabelSelector{t.LabelSelector, t.NamespaceSelector} {
				l.selectorValues = l.selectorValues || len(check.LabelSelector(s, false, nil)) > 0
			}
		})
	}
	for i := range old.TopologySpreadConstraints {
		l.spreadSelector = l.spreadSelector || len(check.LabelSelector(old.TopologySpreadConstraints[i].LabelSelector, false, nil)) > 0
	}
	return l
}

// eachAffinityTerm visits what a pod says of pods it wants to be near to, and far from.
func eachAffinityTerm(a *corev1.Affinity, fn func(*corev1.PodAffinityTerm)) {
	visit := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			fn(&required[i])
		}
		for i := range preferred {
			fn(&preferred[i].PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		visit(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		visit(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// Names of the two lists of every affinity.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateAffinity(a *corev1.Affinity, l lenient, at *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		at := at.Child("nodeAffinity")
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			errs = append(errs, check.NodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution, l.nodeValues, at.Child(required))...)
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t, at := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child(preferred).Index(i)
			errs = append(errs, weight(t.Weight, at)...)
			// Bad values are let pass: such a preference is met by no node, and does no harm.
			errs = append(errs, check.NodeSelectorTerm(&t.Preference, true, at.Child("preference"))...)
		}
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, affinityTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, l, at.Child("podAffinity"))...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, affinityTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, l, at.Child("podAntiAffinity"))...)
	}
	return errs
}

func weight(w int32, at *field.Path) field.ErrorList {
	if w > 0 && w <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("weight"), w, "must be in the range 1-100")}
}

func affinityTerms(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm, l lenient, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range must {
		errs = append(errs, affinityTerm(&must[i], l, at.Child(required).Index(i))...)
	}
	for i := range may {
		at := at.Child(preferred).Index(i)
		errs = append(errs, weight(may[i].Weight, at)...)
		errs = append(errs, affinityTerm(&may[i].PodAffinityTerm, l, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func affinityTerm(t *corev1.PodAffinityTerm, l lenient, at *field.Path) field.ErrorList {
	errs := check.LabelSelector(t.LabelSelector, l.selectorValues, at.Child("labelSelector"))
	errs = append(errs, check.LabelSelector(t.NamespaceSelector, l.selectorValues, at.Child("namespaceSelector"))...)
	for _, ns := range t.Namespaces {
		errs = append(errs, check.Texts(at.Child("namespace"), ns, apivalidation.ValidateNamespaceName(ns, false))...) // sic: neither plural nor index
	}
	errs = append(errs, labelKeys(t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector, at)...)
	if t.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, check.LabelKey(t.TopologyKey, at.Child("topologyKey"))...)
}

// labelKeys checks labels whose value is taken from the pod itself. By the time it is asked, preparePod has put the keys into the selector, so that a key is there twice if the user wrote it as
// well.
func labelKeys(match, mismatch []string, sel *metav1.LabelSelector, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, l := range []struct {
		name string
		keys []string
	}{{"matchLabelKeys", match}, {"mismatchLabelKeys", mismatch}} {
		at := at.Child(l.name)
		if len(l.keys) > 0 && sel == nil {
			errs = append(errs, field.Forbidden(at, "must not be specified when labelSelector is not set"))
			continue
		}
		for i, k := range l.keys {
			errs = append(errs, check.LabelKey(k, at.Index(i))...)
		}
	}
	if sel != nil && len(match) > 0 {
		for i, e := range sel.MatchExpressions {
			_, twice := sel.MatchLabels[e.Key]
			twice = twice || slices.ContainsFunc(sel.MatchExpressions[:i], func(o metav1.LabelSelectorRequirement) bool { return o.Key == e.Key })
			if j := lastIndex(match, e.Key); twice && j >= 0 {
				errs = append(errs, field.Invalid(at.Index(j), e.Key, "exists in both matchLabelKeys and labelSelector")) // sic: the path leaves out matchLabelKeys
			}
		}
	}
	for i, k := range match {
		if slices.Contains(mismatch, k) {
			errs = append(errs, field.Invalid(at.Child("matchLabelKeys").Index(i), k, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func lastIndex(list []string, v string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return i
		}
	}
	return -1
}

// selectOwnLabels puts the labels that matchLabelKeys and mismatchLabelKeys name, with the pod's own values, into the selectors of a new pod. Keys that the pod has no label for say nothing.
func selectOwnLabels(p *corev1.Pod) {
	add := func(sel *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator) {
		if sel == nil {
			return
		}
		for _, k := range keys {
			if v, has := p.Labels[k]; has {
				sel.MatchExpressions = append(sel.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
			}
		}
	}
	if p.Spec.Affinity != nil {
		eachAffinityTerm(p.Spec.Affinity, func(t *corev1.PodAffinityTerm) {
			add(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn)
			add(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
		})
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		add(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
}

func validateSpread(list []corev1.TopologySpreadConstraint, l lenient, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	positive := func(n int32, at *field.Path) {
		if n <= 0 {
			errs = append(errs, field.Invalid(at, int64(n), "must be greater than zero"))
		}
	}
	for i := range list {
		c, at := &list[i], at.Index(i)
		positive(c.MaxSkew, at.Child("maxSkew"))
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, check.OneOf(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		if slices.ContainsFunc(list[i+1:], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		if c.MinDomains != nil {
			at := at.Child("minDomains")
			positive(*c.MinDomains, at)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(at, *c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
			}
		}
		for _, p := range []struct {
			name   string
			policy *corev1.NodeInclusionPolicy
		}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
			if p.policy != nil {
				errs = append(errs, check.OneOf(at.Child(p.name), *p.policy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
			}
		}
		errs = append(errs, labelKeys(c.MatchLabelKeys, nil, c.LabelSelector, at)...)
		if !l.spreadSelector {
			errs = append(errs, check.LabelSelector(c.LabelSelector, false, at.Child("labelSelector"))...)
		}
	}
	return errs
}

// Tolerations checks which taints are tolerated.
func Tolerations(list []corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		at := at.Index(i)
		op := at.Child("operator")
		if t.Key != "" {
			errs = append(errs, check.LabelKey(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(op, t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if texts := validation.IsValidLabelValue(t.Value); len(texts) > 0 {
				errs = append(errs, field.Invalid(op, t.Value, strings.Join(texts, ";")))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(op, t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt: // known, but served only where an alpha feature is on
			errs = append(errs, check.NotSupported(op, t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt}))
		default:
			errs = append(errs, check.NotSupported(op, t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		errs = append(errs, check.TaintEffect(t.Effect, true, at.Child("effect"))...)
	}
	return errs
}
