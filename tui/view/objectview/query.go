package objectview

import (
	"fmt"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
	"example.com/kubeviz/engine/world"
)

// query is a filter: all of its terms must hold. Terms are separated by blanks:
//
//	web            the name, the namespace or a cell holds the text, in any case
//	web-*          the name matches the pattern
//	status=Pending a column of the table has the value (or matches the pattern); != for the opposite
//	app=web        a label has the value; app!=web, or any selector without blanks ("app in (a,b)" is written -l "app in (a,b)")
//	-n kube-system the namespace
//	-l selector    the rest of the line is a label selector
type query []term

type term interface {
	matches(w *world.World, o *world.Object) bool
}

func (q query) matches(w *world.World, o *world.Object) bool {
	for _, t := range q {
		if !t.matches(w, o) {
			return false
		}
	}
	return true
}

// filterMax bounds the text of a filter, in bytes.
const filterMax = 512

// parse reads a filter; what cannot be read is left out and told in err.
func parse(text string, k *kinds.Kind) (q query, err error) {
	if len(text) > filterMax {
		return nil, fmt.Errorf("%d bytes, at most %d", len(text), filterMax)
	}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-n" || w == "--namespace":
			if i++; i < len(words) {
				q = append(q, inNamespace(words[i]))
			}
			continue
		case w == "-l" || w == "--selector":
			rest := strings.Join(words[i+1:], " ")
			s, bad := labels.Parse(strings.Trim(rest, `"'`))
			if bad != nil {
				return q, bad
			}
			if rest != "" {
				q = append(q, selected{s})
			}
			return q, err
		case strings.ContainsAny(w, "=!") && w != "!" && w != "=":
			t, bad := equality(w, k)
			if bad != nil {
				err = bad
				continue
			}
			q = append(q, t)
			continue
		case strings.ContainsAny(w, "*?[") && validPattern(w):
			q = append(q, pattern(strings.ToLower(w)))
			continue
		}
		q = append(q, anywhere(strings.ToLower(w), k))
	}
	return q, err
}

func validPattern(p string) bool {
	_, err := path.Match(p, "")
	return err == nil
}

// equality is a term with = in it: of a column where there is one of that name, else of a label.
func equality(w string, k *kinds.Kind) (term, error) {
	name, value, ok := strings.Cut(w, "=")
	not := false
	if n, cut := strings.CutSuffix(name, "!"); cut {
		name, not = n, true
	}
	value = strings.TrimPrefix(value, "=")
	if ok {
		switch strings.ToLower(name) {
		case "ns", "namespace":
			if k.Namespaced {
				return negated(inNamespace(value), not), nil
			}
		}
		for _, c := range columns.Of(k) {
			if strings.EqualFold(strings.ReplaceAll(c.Header, " ", ""), name) || strings.EqualFold(c.Header, name) {
				value = strings.ToLower(value)
				if !validPattern(value) {
					return nil, fmt.Errorf("%s is no pattern", value)
				}
				return negated(inColumn{c, value}, not), nil
			}
		}
	}
	s, err := labels.Parse(w)
	if err != nil {
		return nil, err
	}
	return selected{s}, nil
}

func negated(t term, not bool) term {
	if not {
		return except{t}
	}
	return t
}

type except struct{ term }

func (e except) matches(w *world.World, o *world.Object) bool { return !e.term.matches(w, o) }

type inNamespace string

func (n inNamespace) matches(_ *world.World, o *world.Object) bool {
	if string(n) == "" {
		return true
	}
	ok, _ := path.Match(string(n), o.Object.GetNamespace())
	return ok
}

type inColumn struct {
	column columns.Column
	value  string
}

func (c inColumn) matches(w *world.World, o *world.Object) bool {
	cell := strings.ToLower(c.column.Cell(o.Object, w.At))
	if cell == c.value {
		return true
	}
	ok, _ := path.Match(c.value, cell)
	return ok
}

type selected struct{ s labels.Selector }

func (s selected) matches(_ *world.World, o *world.Object) bool {
	return s.s.Matches(labels.Set(o.Object.GetLabels()))
}

type pattern string

func (p pattern) matches(_ *world.World, o *world.Object) bool {
	ok, _ := path.Match(string(p), strings.ToLower(o.Object.GetName()))
	return ok
}

// holds looks for a text in the name first, because that is cheap, then in the cells, but for those that are ages.
type holds struct {
	text    string
	columns []columns.Column
}

func anywhere(text string, k *kinds.Kind) term {
	h := holds{text: text}
	for _, c := range columns.Of(k) {
		switch c.Header {
		case "NAME", "AGE", "LAST SEEN", "FIRST SEEN", "READY":
		default:
			h.columns = append(h.columns, c)
		}
	}
	return h
}

func (h holds) matches(_ *world.World, o *world.Object) bool {
	if strings.Contains(strings.ToLower(o.Object.GetName()), h.text) || strings.Contains(o.Object.GetNamespace(), h.text) {
		return true
	}
	for _, c := range h.columns {
		if strings.Contains(strings.ToLower(c.Cell(o.Object, time.Time{})), h.text) {
			return true
		}
	}
	return false
}
