package apiserver

import (
	"fmt"
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/kubeviz/components/apiserver/resource/admissionregistration"
	"example.com/kubeviz/components/apiserver/resource/expressions"
	"example.com/kubeviz/engine/kinds"
)

// mutatingPolicies lets the MutatingAdmissionPolicies that are bound change an object (k8s.io/apiserver pkg/admission/plugin/policy/mutating). When one did, the other plugins see the object once more, and
// after them the policies that want to be asked again.
func mutatingPolicies(a *attributes) error {
	if a.obj == nil || a.server.cache.kinds[kinds.MutatingAdmissionPolicyBindings].items.Len() == 0 || !a.judged() {
		return nil
	}
	by := map[string][]*admissionregistrationv1.MutatingAdmissionPolicyBinding{}
	eachSeen(a, kinds.MutatingAdmissionPolicyBindings, "", func(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) bool {
		by[b.Spec.PolicyName] = append(by[b.Spec.PolicyName], b)
		return true
	})
	m := &mutation{judgement: judgement{attributes: a}, asked: map[string]bool{}, again: map[string]bool{}}
	if err := m.round(by); err != nil || !m.changed {
		return err
	}
	before := a.obj.DeepCopyObject()
	if err := run(mutating, a); err != nil {
		return err
	}
	if !apiequality.Semantic.DeepEqual(before, a.obj) {
		m.changedByOthers()
	}
	m.second = true
	return m.round(by)
}

// mutation is one object on its way through the policies.
type mutation struct {
	judgement
	types   managedfields.TypeConverter
	changed bool
	second  bool
	// asked are those that were asked since the last change and want to hear of a further one; again those that are asked in the second round. By policy, binding and parameters.
	asked, again map[string]bool
	refusals     []string
	reason       metav1.StatusReason // of the first refusal
}

func (m *mutation) changedByOthers() {
	for id := range m.asked {
		m.again[id] = true
	}
	clear(m.asked)
}

// refuse notes what speaks against the request.
func (m *mutation) refuse(p *admissionregistrationv1.MutatingAdmissionPolicy, binding string, reason metav1.StatusReason, err error) {
	if p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == admissionregistrationv1.Ignore {
		return
	}
	text := fmt.Sprintf("policy %q denied request: %s", p.Name, err)
	if binding != "" {
		text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", p.Name, binding, err)
	}
	if len(m.refusals) == 0 {
		m.reason = reason
	}
	m.refusals = append(m.refusals, text)
}

// round asks all policies.
func (m *mutation) round(by map[string][]*admissionregistrationv1.MutatingAdmissionPolicyBinding) (err error) {
	m.refusals = nil
	eachSeen(m.attributes, kinds.MutatingAdmissionPolicies, "", func(p *admissionregistrationv1.MutatingAdmissionPolicy) bool {
		if len(by[p.Name]) > 0 {
			err = m.mutating(p, by[p.Name])
		}
		return err == nil
	})
	if err != nil || len(m.refusals) == 0 {
		return err
	}
	refused := m.forbid("admission request denied by policy").(*apierrors.StatusError)
	refused.ErrStatus.Message = m.refusals[0]
	if m.reason != "" { // the code stays that of Forbidden
		refused.ErrStatus.Reason = m.reason
	}
	for _, text := range m.refusals {
		refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{Message: text})
	}
	return refused
}

func (m *mutation) mutating(p *admissionregistrationv1.MutatingAdmissionPolicy, bindings []*admissionregistrationv1.MutatingAdmissionPolicyBinding) error {
	if matches, err := m.matches(p.Spec.MatchConstraints, false); err != nil || !matches {
		return err
	}
	paramKind, err := m.paramKind(p.Spec.ParamKind)
	if err != nil {
		m.refuse(p, "", "", err)
		return nil
	}
	var policy *expressions.Policy
	for _, b := range bindings {
		if matches, err := m.matches(b.Spec.MatchResources, true); err != nil {
			return err
		} else if !matches {
			continue
		}
		params, err := m.params(paramKind, b.Spec.ParamRef)
		if err != nil {
			m.refuse(p, b.Name, "", fmt.Errorf("failed to configure binding: %w", err))
			continue
		}
		if policy == nil {
			if policy, err = expressions.PolicyOf(admissionregistration.MutatingSource(p)); err != nil {
				return apierrors.NewInternalError(err)
			}
		}
		for _, param := range params {
			if err := m.invoke(p, b.Name, policy, param); err != nil {
				return err
			}
		}
	}
	return nil
}

// invoke lets one policy make its changes, with one object of parameters.
func (m *mutation) invoke(p *admissionregistrationv1.MutatingAdmissionPolicy, binding string, policy *expressions.Policy, param runtime.Object) error {
	id := p.Name + "/" + binding
	if o, ok := param.(metav1.Object); ok {
		id += "/" + o.GetNamespace() + "/" + o.GetName()
	}
	if m.second && !m.again[id] {
		return nil
	}
	if m.types == nil {
		fields, err := m.server.fields.For(m.rq.Kind, nil, "")
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		m.types = fields.Types()
	}
	if err := m.prepare(); err != nil {
		return err
	}
	if err := m.show(m.obj); err != nil {
		return err
	}
	matches, err := policy.Matches(m.request, param)
	if err != nil {
		m.refuse(p, binding, metav1.StatusReasonInvalid, err)
		return nil
	}
	if !matches {
		return nil
	}
	before := m.obj.DeepCopyObject()
	for i := range policy.Mutations() {
		made, err := policy.Mutate(i, m.request, param, m.types)
		if err == nil {
			err = m.take(made)
		}
		if err != nil {
			m.refuse(p, binding, metav1.StatusReasonInvalid, err)
			continue
		}
		if err := m.show(m.obj); err != nil {
			return err
		}
	}
	if !apiequality.Semantic.DeepEqual(before, m.obj) {
		m.changed = true
		m.changedByOthers()
	}
	if p.Spec.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy {
		m.asked[id] = true
	}
	return nil
}

// show makes the object, as it is now, what expressions and patches see: a map with its type.
func (m *mutation) show(obj kinds.Object) error {
	shown := shownTo(m.rq.Kind, obj)
	u, ok := shown.(*unstructured.Unstructured)
	if !ok {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(shown)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		u = &unstructured.Unstructured{Object: content}
	}
	m.request.Attributes.VersionedObject.Set(u)
	return nil
}

// take makes the object what a patch made of it.
func (m *mutation) take(made *unstructured.Unstructured) error {
	var next kinds.Object
	if m.rq.Kind.Custom != nil {
		c := kinds.NewCustom(m.rq.Kind)
		if _, err := c.Take(runtime.DeepCopyJSON(made.Object), false); err != nil {
			return err
		}
		next = c
	} else {
		next = m.rq.Kind.New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, next); err != nil {
			return err
		}
	}
	clearType(next)
	if m.rq.res.Default != nil {
		m.rq.res.Default(next)
	}
	reflect.ValueOf(m.obj).Elem().Set(reflect.ValueOf(next).Elem()) // those who sent it through hold the same object
	return nil
}
