package expressions_test

import (
	"fmt"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// heavy are rules that use up what they may, each in another way, on a list of 400 texts.
var heavy = map[string]string{
	"loops":       "self.list.all(a, self.list.all(b, self.list.all(c, a != '' && b != '' && c != '')))",
	"expressions": "self.list.all(a, self.list.all(b, a.matches('^(x|y)*[a-z]{3,40}$') || b != ''))",
	"texts":       "self.list.all(a, self.list.all(b, (a + b + a + b).size() > 0))",
	"lists":       "self.list.map(a, self.list.map(b, [a, b])).size() > 0",
	"sorting":     "self.list.all(a, self.list.isSorted())",
	"quantities":  "self.list.all(a, self.list.all(b, quantity('100Mi').add(quantity('1Gi')).isGreaterThan(quantity('5'))))",
	"replacing":   "self.list.all(a, self.list.all(b, a.replace('a', 'bb').lowerAscii().split('').size() > 0))",
	"finding":     "self.list.all(a, self.list.all(b, a.findAll('[a-z]+').size() >= 0))",
}

func BenchmarkTheMostThatOneObjectMayCost(b *testing.B) {
	list := make([]any, 400)
	for i := range list {
		list[i] = strings.Repeat("abc", 10)
	}
	obj := map[string]any{"spec": map[string]any{"list": list}}
	for name, rule := range heavy {
		b.Run(name, func(b *testing.B) {
			v1, in := read(b, spec(strings.Repeat("- rule: \""+rule+"\"\n", 10), "list: {type: array, items: {type: string}}"))
			st, err := structuralschema.NewStructural(in)
			if err != nil {
				b.Fatal(err)
			}
			rules := expressions.RulesOf(st, v1)
			rules.Check(obj, nil, nil)
			for b.Loop() {
				rules.Check(obj, nil, nil)
			}
		})
	}
}

func BenchmarkARuleThatIsMet(b *testing.B) {
	v1, in := read(b, spec("- rule: self.min <= self.max", "min: {type: integer}\nmax: {type: integer}"))
	st, _ := structuralschema.NewStructural(in)
	rules := expressions.RulesOf(st, v1)
	obj := map[string]any{"spec": map[string]any{"min": int64(1), "max": int64(2)}}
	for b.Loop() {
		rules.Check(obj, nil, nil)
	}
}

func BenchmarkCompilation(b *testing.B) {
	for _, size := range []int{100, 10_000, 60_000} {
		rule := "- rule: \"self.min <= self.max && self.name.startsWith('abc') && self.max in [1, 2, 3]\"\n"
		_, in := read(b, spec(strings.Repeat(rule, max(1, size/len(rule))), "min: {type: integer}\nmax: {type: integer}\nname: {type: string, maxLength: 10}"))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				expressions.CheckSchema(in, field.NewPath("s"), true)
			}
		})
	}
}
