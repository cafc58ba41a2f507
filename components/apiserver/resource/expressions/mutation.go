package expressions

import (
	"context"
	"fmt"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/cel/environment"
)

// metered tells what an evaluation left of its budget, which the library keeps to itself. It tells whoever put a place for that into the context.
type metered struct{ plugincel.MutatingEvaluator }

type leftKey struct{}

// ForInput implements plugincel.MutatingEvaluator.
func (m metered) ForInput(ctx context.Context, v *admission.VersionedAttributes, asked *admissionv1.AdmissionRequest, with plugincel.OptionalVariableBindings, ns *corev1.Namespace, budget int64) (plugincel.EvaluationResult, int64, error) {
	result, left, err := m.MutatingEvaluator.ForInput(ctx, v, asked, with, ns, budget)
	if at, ok := ctx.Value(leftKey{}).(*int64); ok {
		*at = left
	}
	return result, left, err
}

// compileMutations compiles what policies do to objects.
func (p *Policy) compileMutations(list []admissionregistrationv1.Mutation, o plugincel.OptionalVariableDeclarations, heed func(*field.Path, string, plugincel.CompilationResult)) {
	o.HasPatchTypes = true
	for i, m := range list {
		at := field.NewPath("spec", "mutations").Index(i)
		var made patch.Patcher
		compile := func(e plugincel.ExpressionAccessor, at *field.Path) plugincel.MutatingEvaluator {
			r := p.variables.CompileCELExpression(e, o, environment.NewExpressions)
			heed(at.Child("expression"), e.GetExpression(), r)
			return metered{plugincel.NewMutatingEvaluator(r)}
		}
		switch {
		case m.PatchType == admissionregistrationv1.PatchTypeJSONPatch && m.JSONPatch != nil && strings.TrimSpace(m.JSONPatch.Expression) != "":
			made = patch.NewJSONPatcher(compile(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, at.Child("jsonPatch")))
		case m.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil && strings.TrimSpace(m.ApplyConfiguration.Expression) != "":
			made = patch.NewApplyConfigurationPatcher(compile(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, at.Child("applyConfiguration")))
		}
		p.mutations = append(p.mutations, made)
	}
}

// interfaces let the library read what a patch made; objects come and go as maps.
var interfaces = sync.OnceValue(func() admission.ObjectInterfaces { return admission.NewObjectInterfacesFromScheme(runtime.NewScheme()) })

// Mutations is how many changes the policy makes one after the other.
func (p *Policy) Mutations() int { return len(p.mutations) }

// Matches asks the policy's match conditions, for one object of parameters.
func (p *Policy) Matches(r *Request, params runtime.Object) (bool, error) {
	return p.matches(r, r.admission(), plugincel.OptionalVariableBindings{VersionedParams: params, Authorizer: r.Authorizer})
}

// Mutate makes one change and gives the object as it is then; r's object is a map with its type, and stays as it is. types are those of its kind.
func (p *Policy) Mutate(i int, r *Request, params runtime.Object, types managedfields.TypeConverter) (out *unstructured.Unstructured, err error) {
	defer func() {
		if v := recover(); v != nil { // patches take apart what nobody has looked at yet
			out, err = nil, fmt.Errorf("invalid patch: %v", v)
		}
	}()
	if p.mutations[i] == nil {
		return nil, fmt.Errorf("no expression")
	}
	counted := &counter{of: r.Authorizer}
	budget := r.Left
	if p.asks {
		budget += questionsMost * questionCost
	}
	left := budget
	ctx := p.variables.CreateContext(context.WithValue(context.Background(), leftKey{}, &left))
	made, err := p.mutations[i].Patch(ctx, patch.Request{MatchedResource: r.Attributes.GetResource(), VersionedAttributes: r.Attributes, ObjectInterfaces: interfaces(), TypeConverter: types,
		OptionalVariables: plugincel.OptionalVariableBindings{VersionedParams: params, Authorizer: counted}, Namespace: plugincel.CreateNamespaceObject(r.Namespace)}, budget)
	r.Left = max(0, r.Left-max(0, budget-left-questionCost*counted.n))
	if err != nil {
		return nil, err
	}
	u, ok := made.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a patch made a %T", made)
	}
	return u, nil
}

// admission is the request in the words of the API.
func (r *Request) admission() *admissionv1.AdmissionRequest {
	return plugincel.CreateAdmissionRequest(r.Attributes.Attributes, metav1.GroupVersionResource(r.Attributes.GetResource()), metav1.GroupVersionKind(r.Attributes.VersionedKind))
}
