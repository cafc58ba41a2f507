package expressions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// What evaluation may cost, in units of CEL. A unit takes up to 0.7 µs (loops within loops; most take a tenth), so that an expression holds up the loop for 70 ms at worst and all those that look at one
// object for 140. Kubernetes allows each expression ten times as much and an object fifty times, of the time of a server that has nothing else to keep going. A rule that compares each of 64 items with each
// other one costs some 20,000.
const (
	ExpressionMost = celconfig.PerCallLimit / 10
	Budget         = celconfig.RuntimeCELCostBudget / 50
)

// Rules are those in the schema of one version of a kind.
type Rules struct {
	schema *structuralschema.Structural
	source *apiextensionsv1.JSONSchemaProps
	once   sync.Once
	check  *schemacel.Validator
}

// RulesOf finds the rules in a schema; nil: there are none. They are compiled when they are first needed. source is the schema as it was written.
func RulesOf(s *structuralschema.Structural, source *apiextensionsv1.JSONSchemaProps) *Rules {
	if !ruled(s) {
		return nil
	}
	return &Rules{schema: s, source: source}
}

// ruled reports that a schema has rules where they count.
func ruled(s *structuralschema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || ruled(s.Items) || s.AdditionalProperties != nil && ruled(s.AdditionalProperties.Structural) {
		return true
	}
	for _, p := range s.Properties {
		if ruled(&p) {
			return true
		}
	}
	return false
}

// compiled keeps the rules of the schemas met last: the servers of a cluster, and versions with one schema, share them.
var compiled = struct {
	sync.Mutex
	by    map[[sha256.Size]byte]*schemacel.Validator
	order [][sha256.Size]byte
}{by: map[[sha256.Size]byte]*schemacel.Validator{}}

const compiledMost = 64

func (r *Rules) validator() *schemacel.Validator {
	r.once.Do(func() {
		raw, err := json.Marshal(r.source)
		if err != nil {
			r.check = schemacel.NewValidator(r.schema, true, ExpressionMost)
			return
		}
		key := sha256.Sum256(raw)
		compiled.Lock()
		defer compiled.Unlock()
		have, ok := compiled.by[key]
		if !ok {
			have = schemacel.NewValidator(r.schema, true, ExpressionMost)
			if len(compiled.order) == compiledMost {
				delete(compiled.by, compiled.order[0])
				compiled.order = compiled.order[1:]
			}
			compiled.by[key], compiled.order = have, append(compiled.order, key)
		}
		r.check = have
	})
	return r.check
}

// notChecked stands where other faults come first (apiextensions-apiserver pkg/registry/customresource).
const notChecked = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// Check tells which rules an object breaks. Both are whole objects as JSON values; old is nil for creations. faults are what is wrong with the object otherwise: with some, rules are not looked at.
// What is broken and was so before, in a part that an update leaves alone, comes back as warnings.
func (r *Rules) Check(obj, old map[string]any, faults field.ErrorList) (errs field.ErrorList, warnings []string) {
	if r == nil {
		return nil, nil
	}
	for _, e := range faults {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil, notChecked)}, nil
		}
	}
	heard := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), heard)
	if old == nil {
		errs, _ = r.validator().Validate(ctx, nil, r.schema, obj, nil, Budget)
	} else {
		same := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: r.schema})
		errs, _ = r.validator().Validate(ctx, nil, r.schema, obj, old, Budget, schemacel.WithRatcheting(same))
	}
	// The library takes the members of maps in any order.
	for _, e := range errs {
		e.Detail = plain(e.Detail)
	}
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Detail, b.Detail))
	})
	slices.Sort(heard.texts)
	return errs, heard.texts
}

// recorder hears warnings.
type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }
