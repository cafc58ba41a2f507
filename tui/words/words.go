// Package words is the catalogue: every word the screen says of itself, by key, in one folder per language and one file per part of the screen.
//
// A line of the file is "key = text". Text holds places {name}, choices by number {n|pod|pods}, and keys to press {@power|K}: the action, and the key it has unless
// the user gave it another. Arguments that are text pass tui/sanitize here, so nothing from the
// cluster reaches the screen unchecked through a sentence. Words of Kubernetes (Ready, Pending, kubelet) are not translated.
//
// Imports of ours: tui/sanitize. Goroutines: a Catalogue is immutable. Time: spans of simulated time, as Span writes them.
package words

import (
	"embed"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/kubeviz/tui/sanitize"
)

//go:embed en/*.txt ru/*.txt
var files embed.FS

// Catalogue is one language.
type Catalogue struct {
	texts    map[string][]segment
	plural   func(n int) int
	fallback *Catalogue // nil: none
	keys     map[string]string
}

// segment is plain text, a place, a choice by number, or (name "@…") the key of an action with its default.
type segment struct {
	text    string
	name    string
	choices []string
}

// Languages lists the languages there are, by their two letters; the first is the one that others fall back to.
func Languages() []string { return []string{"en", "ru"} }

// English is the first language.
func English() *Catalogue { return english() }

// The catalogues are read once.
var (
	english = sync.OnceValue(func() *Catalogue { return embedded("en") })
	russian = sync.OnceValue(func() *Catalogue {
		c := embedded("ru")
		c.fallback = english()
		return c
	})
)

// Language is the catalogue of a language by its two letters. What it does not have is said in English.
func Language(code string) (*Catalogue, error) {
	switch code {
	case "en":
		return english(), nil
	case "ru":
		return russian(), nil
	}
	return nil, fmt.Errorf("no language is called %q; there are %s", code, strings.Join(Languages(), ", "))
}

// WithKeys is the catalogue with other keys in its sentences: label by the name of the action. Actions that are not in labels keep the key the text gives.
func (c *Catalogue) WithKeys(labels map[string]string) *Catalogue {
	if c == nil {
		return nil
	}
	n := *c
	n.keys, n.fallback = labels, c.fallback.WithKeys(labels)
	return &n
}

func embedded(code string) *Catalogue {
	plural := map[string]func(int) int{"en": pluralEnglish, "ru": pluralRussian}[code]
	names, err := files.ReadDir(code)
	var all strings.Builder
	for _, n := range names {
		var data []byte
		if data, err = files.ReadFile(code + "/" + n.Name()); err != nil {
			break
		}
		all.Write(data)
		all.WriteByte('\n')
	}
	var c *Catalogue
	if err == nil {
		c, err = Parse(all.String(), plural)
	}
	if err != nil {
		panic(fmt.Sprintf("words: the catalogue %s: %v", code, err)) // embedded data; a test reads it
	}
	return c
}

// pluralEnglish picks from one and many.
func pluralEnglish(n int) int {
	if n == 1 {
		return 0
	}
	return 1
}

// pluralRussian picks from one (1, 21), few (2-4, 22-24) and many. Source: CLDR's plural rules.
func pluralRussian(n int) int {
	n = max(n, -n)
	switch {
	case n%10 == 1 && n%100 != 11:
		return 0
	case n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return 1
	}
	return 2
}

// Parse reads a catalogue. plural picks the choice for a number.
func Parse(data string, plural func(n int) int) (*Catalogue, error) {
	c := &Catalogue{texts: map[string][]segment{}, plural: plural}
	for i, line := range strings.Split(data, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, text, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" {
			return nil, fmt.Errorf("line %d: not \"key = text\": %q", i+1, line)
		}
		if _, twice := c.texts[key]; twice {
			return nil, fmt.Errorf("line %d: %q is there twice", i+1, key)
		}
		segs, err := segments(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", i+1, key, err)
		}
		c.texts[key] = segs
	}
	return c, nil
}

func segments(text string) ([]segment, error) {
	var out []segment
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(out, segment{text: text}), nil
		}
		if open > 0 {
			out = append(out, segment{text: text[:open]})
		}
		end := strings.IndexByte(text[open:], '}')
		if end < 0 {
			return nil, fmt.Errorf("a brace is not closed")
		}
		parts := strings.Split(text[open+1:open+end], "|")
		if key := strings.HasPrefix(parts[0], "@"); parts[0] == "" || key != (len(parts) == 2) {
			return nil, fmt.Errorf("{%s} is neither a name nor a choice nor a key", strings.Join(parts, "|"))
		}
		out = append(out, segment{name: parts[0], choices: parts[1:]})
		text = text[open+end+1:]
	}
	return out, nil
}

// Say gives the text of a key. args are pairs: the name of a place, then its value (text, a number or a span of time: an age where the place is called since or age). A missing key or value shows as such.
func (c *Catalogue) Say(key string, args ...any) string {
	segs, ok := c.texts[key]
	if !ok && c.fallback != nil {
		return c.fallback.Say(key, args...)
	}
	if !ok {
		return "{" + key + "}"
	}
	if len(segs) == 0 {
		return ""
	}
	if len(segs) == 1 && segs[0].name == "" {
		return segs[0].text
	}
	var b strings.Builder
	for _, s := range segs {
		if s.name == "" {
			b.WriteString(s.text)
			continue
		}
		if action, ok := strings.CutPrefix(s.name, "@"); ok {
			label, other := c.keys[action]
			if !other {
				label = s.choices[0]
			}
			b.WriteString(label)
			continue
		}
		v, ok := lookup(args, s.name)
		switch {
		case !ok:
			b.WriteString("{" + s.name + "}")
		case len(s.choices) > 0:
			n, _ := v.(int)
			b.WriteString(s.choices[min(c.plural(n), len(s.choices)-1)])
		default:
			b.WriteString(value(s.name, v))
		}
	}
	return b.String()
}

// KeysNamed lists the actions whose keys the texts name, with the key that stands there: for a test against the table of keys.
func (c *Catalogue) KeysNamed() map[string]string {
	out := map[string]string{}
	for _, segs := range c.texts {
		for _, s := range segs {
			if action, ok := strings.CutPrefix(s.name, "@"); ok {
				out[action] = s.choices[0]
			}
		}
	}
	return out
}

// Has reports whether the key exists.
func (c *Catalogue) Has(key string) bool { _, ok := c.texts[key]; return ok }

// Keys lists all keys, sorted.
func (c *Catalogue) Keys() []string {
	out := make([]string, 0, len(c.texts))
	for k := range c.texts {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func lookup(args []any, name string) (any, bool) {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == name {
			return args[i+1], true
		}
	}
	return nil, false
}

func value(name string, v any) string {
	switch v := v.(type) {
	case string:
		return sanitize.Text(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case time.Duration:
		if name == "since" || name == "age" {
			return Age(v)
		}
		return Span(v)
	case fmt.Stringer:
		return sanitize.Text(v.String())
	}
	return sanitize.Text(fmt.Sprint(v))
}

// Span writes a span of time for the screen: 14s, 4m38s, 2h05m, 3d04h.
func Span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// Age writes how long something has been so, in one unit: 14s, 119s, 2m, 3h, 4d. It changes less often than Span, so the eye is not drawn to it.
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return strconv.FormatInt(int64(max(d, 0)/time.Second), 10) + "s"
	case d < 2*time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d < 48*time.Hour:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	}
	return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
}

// Short writes a span below a second in milliseconds, and others with one fraction.
func Short(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return Span(d)
}

// Size writes bytes in binary units with one fraction: 8.1 MiB.
func Size(bytes int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	v := float64(max(bytes, 0)) / 1024
	i := 0
	for v >= 1023.95 && i < len(units)-1 {
		v /= 1024
		i++
	}
	if i == 0 && v < 10 {
		return strconv.FormatInt(max(bytes, 0), 10) + " B"
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[i]
}

// Quantity writes bytes as the console takes them: 16Mi.
func Quantity(bytes int64) string {
	if bytes%(1<<30) == 0 {
		return strconv.FormatInt(bytes>>30, 10) + "Gi"
	}
	return strconv.FormatInt(bytes>>20, 10) + "Mi"
}
