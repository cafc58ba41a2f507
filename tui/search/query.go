package search

import (
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"example.com/kubeviz/tui/words"
)

// Field of the things that are searched.
type Field struct {
	Name string
	// Values there are; nil: any.
	Values []string
	// Span: the value is a length of time ("5m"), which the caller reads by Query.Span.
	Span bool
}

// Query is a parsed text. The zero value matches everything.
type Query struct {
	text  string
	terms []term
}

type term struct {
	field string // "": plain text
	not   bool
	any   []string // one of them
	span  time.Duration
}

// Error is what is wrong with a query, as a key of the catalogue with what goes into it.
type Error struct {
	Key  string
	Args []any
}

// Say is the error in the user's words.
func (e *Error) Say(c *words.Catalogue) string { return c.Say(e.Key, e.Args...) }

func (e *Error) Error() string { return e.Say(words.English()) }

// textMax is how much of a query is read; nobody types more.
const textMax = 400

// Parse reads a query. A query with an error in it holds the terms that are right, so that what is shown changes with each letter and the error beside it.
func Parse(text string, fields []Field) (Query, *Error) {
	if len(text) > textMax {
		text = strings.ToValidUTF8(text[:textMax], "")
	}
	q := Query{text: strings.TrimSpace(text)}
	words, first := split(text)
	for _, w := range words {
		t, wrong := parseTerm(w, fields)
		if wrong != nil {
			if first == nil {
				first = wrong
			}
			continue
		}
		q.terms = append(q.terms, t)
	}
	return q, first
}

// word of a query; quoted ones are plain text.
type word struct {
	text   string
	quoted bool
	not    bool
}

func split(text string) ([]word, *Error) {
	var out []word
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return out, nil
		}
		w := word{}
		rest := text
		if strings.HasPrefix(rest, "!") {
			w.not, rest = true, rest[1:]
		}
		if strings.HasPrefix(rest, `"`) {
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return append(out, word{text: rest[1:], quoted: true, not: w.not}), &Error{Key: "ui.search-quote"}
			}
			w.text, w.quoted = rest[1:1+end], true
			text = rest[2+end:]
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			w.text, text = rest[:end], rest[end:]
		}
		if w.text != "" || w.not {
			out = append(out, w)
		}
	}
}

func parseTerm(w word, fields []Field) (term, *Error) {
	plain := term{not: w.not, any: []string{w.text}}
	if w.text == "" {
		return term{}, &Error{Key: "ui.search-not"}
	}
	name, value, ok := strings.Cut(w.text, ":")
	if !ok || w.quoted || name == "" {
		return plain, nil
	}
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == strings.ToLower(name) })
	if i < 0 {
		if near(name, fields) {
			return term{}, &Error{Key: "ui.search-field", Args: []any{"field", name, "fields", names(fields)}}
		}
		return plain, nil // an image, a time: text with a colon in it
	}
	f := fields[i]
	if value == "" {
		return term{}, &Error{Key: "ui.search-value", Args: []any{"field", f.Name}}
	}
	t := term{field: f.Name, not: w.not, any: strings.Split(strings.ToLower(value), ",")}
	t.any = slices.DeleteFunc(t.any, func(s string) bool { return s == "" })
	if f.Span {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return term{}, &Error{Key: "ui.search-span", Args: []any{"field", f.Name, "value", value}}
		}
		t.span = d
	}
	for _, v := range t.any {
		if f.Values != nil && !slices.ContainsFunc(f.Values, func(s string) bool { return strings.EqualFold(s, v) }) {
			return term{}, &Error{Key: "ui.search-word", Args: []any{"field", f.Name, "value", v, "values", strings.Join(f.Values, ", ")}}
		}
	}
	return t, nil
}

// near reports whether a name is one of the fields with a letter or two wrong.
func near(name string, fields []Field) bool {
	for _, f := range fields {
		if Distance(strings.ToLower(name), f.Name) <= min(2, len(f.Name)/2) {
			return true
		}
	}
	return false
}

// Distance is how many letters must be put in, taken out or changed to make b of a (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func names(fields []Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name+":")
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// Text of the query as it was typed, without blanks around it.
func (q Query) Text() string { return q.text }

// Empty reports whether it matches everything.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Span is the shortest span that the query gives for a field.
func (q Query) Span(field string) (d time.Duration, ok bool) {
	for _, t := range q.terms {
		if t.field == field && t.span > 0 && !t.not && (!ok || t.span < d) {
			d, ok = t.span, true
		}
	}
	return d, ok
}

// Match reports whether a thing is meant: text is what it says, field gives what a field says of it, which may be several things.
func (q Query) Match(text string, field func(name string) []string) bool {
	for i := range q.terms {
		t := &q.terms[i]
		if t.span > 0 {
			continue
		}
		if t.matches(text, field) == t.not {
			return false
		}
	}
	return true
}

func (t *term) matches(text string, field func(string) []string) bool {
	if t.field == "" {
		if t.not { // what is kept out shall really be there
			if hasUpper(t.any[0]) {
				return strings.Contains(text, t.any[0])
			}
			return strings.Contains(strings.ToLower(text), t.any[0])
		}
		_, ok := Find(t.any[0], text)
		return ok
	}
	for _, said := range field(t.field) {
		said = strings.ToLower(said)
		for _, v := range t.any {
			if Glob(v, said) || !strings.Contains(v, "*") && strings.Contains(said, v) {
				return true
			}
		}
	}
	return false
}

// Score is how well a text matches the plain words of the query, for lists that put the best first.
func (q Query) Score(text string) int {
	sum := 0
	for _, t := range q.terms {
		if t.field == "" && !t.not {
			h, _ := Find(t.any[0], text)
			sum += h.Score
		}
	}
	return sum
}

// Marks are the byte ranges of a text that the plain words of the query match, in order and apart.
func (q Query) Marks(text string) [][2]int {
	var all [][2]int
	for _, t := range q.terms {
		if t.field == "" && !t.not {
			if h, ok := Find(t.any[0], text); ok {
				all = append(all, h.At...)
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	out := all[:0]
	for _, m := range all {
		if n := len(out); n > 0 && m[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m[1])
			continue
		}
		out = append(out, m)
	}
	return out
}

// Glob matches a text as a whole; * stands for anything.
func Glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return len(text) >= len(last) && strings.HasSuffix(text, last)
}
