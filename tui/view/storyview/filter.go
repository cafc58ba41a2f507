package storyview

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/search"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// level is how much of the journal is shown.
type level int

const (
	folded level = iota // the story, repetitions folded
	each                // the story, repetitions one by one
	facts               // every record
)

// filter says which sentences are shown.
type filter struct {
	query     search.Query
	wrong     *search.Error
	component string // "": all
	kind      string // "": all
	trouble   bool
}

// weights by the word that a query has for them; a weight stands for those above it too.
var weights = []string{"hidden", "routine", "notable", "headline"}

// fields of a sentence that a query can name.
var fields = []search.Field{{Name: "by"}, {Name: "about"}, {Name: "kind"}, {Name: "actor"}, {Name: "weight", Values: weights}, {Name: "since", Span: true}}

func (k filter) on() bool { return !k.query.Empty() || k.component != "" || k.kind != "" || k.trouble }

// same reports whether two filters keep the same sentences.
func (k filter) same(o filter) bool {
	return k.query.Text() == o.query.Text() && k.component == o.component && k.kind == o.kind && k.trouble == o.trouble
}

// keeps reports whether a sentence is shown. What is too old by since: is left out later, because that changes with time.
func (k filter) keeps(l *feed.Line) bool {
	switch {
	case k.trouble && l.Tone != sentence.Warn && l.Tone != sentence.Bad:
		return false
	case k.component != "" && component(l.Who) != k.component:
		return false
	case k.kind != "" && kindOf(l.Subject) != k.kind:
		return false
	}
	return k.query.Empty() || k.query.Match(l.Text(), func(name string) []string { return said(l, name) })
}

// said is what a field says of a sentence.
func said(l *feed.Line, name string) []string {
	switch name {
	case "by":
		return []string{l.Who}
	case "actor":
		return []string{string(l.Actor)}
	case "kind":
		return []string{kindOf(l.Subject)}
	case "weight":
		return weights[:min(max(int(l.Weight), 0), len(weights)-1)+1]
	case "about":
		return names(l.Subject)
	}
	return nil
}

// component is who speaks without the machine.
func component(who string) string { c, _, _ := strings.Cut(who, "/"); return c }

// kindOf is what users call the kind of a thing: "Pod", "Deployment", "Worker".
func kindOf(t target.Target) string {
	switch t.Kind {
	case target.Pod:
		return "Pod"
	case target.Master:
		return "Master"
	case target.Worker:
		return "Worker"
	case target.Process:
		return "Process"
	case target.Balancer:
		return "Balancer"
	case target.Queue:
		return "Queue"
	case target.Client:
		return "Client"
	case target.Object:
		if k, ok := kinds.Named(t.Type); ok {
			return k.Kind
		}
		return t.Type
	}
	return ""
}

// names are the ways to name a thing in a query: "nginx", "default/nginx", "pod/nginx", "pod/default/nginx".
func names(t target.Target) []string {
	kind := strings.ToLower(kindOf(t))
	switch t.Kind {
	case target.Nothing, target.Record:
		return nil
	case target.Master, target.Worker, target.Balancer:
		return []string{t.Host, kind + "/" + t.Host, "node/" + t.Host}
	case target.Process:
		return []string{t.Host + "/" + t.Process, t.Host, t.Process}
	case target.Queue:
		return []string{t.Name, t.Host + "/" + t.Process}
	}
	if t.Kind == target.Client {
		label := motion.Label(t.Name)
		return []string{label, kind + "/" + label}
	}
	out := []string{t.Name, kind + "/" + t.Name}
	if t.Namespace != "" {
		full := t.Namespace + "/" + t.Name
		out = append(out, full, kind+"/"+full)
	}
	if t.Host != "" {
		out = append(out, t.Host)
	}
	return out
}

// next is the value after now in a cycle that began with the one of the selected line: the others in order, then all ("").
func next(now, began string, there []string) string {
	if len(there) == 0 {
		return ""
	}
	if now == "" {
		if i := slices.Index(there, began); i >= 0 {
			return there[i]
		}
		return there[0]
	}
	i, _ := slices.BinarySearch(there, now)
	if i < len(there) && there[i] == now {
		i++
	}
	then := there[i%len(there)]
	if then == began || len(there) == 1 {
		return ""
	}
	return then
}

// there lists the components or kinds of what is remembered, in order.
func there(f view.Frame, of func(*feed.Line) string) []string {
	seen := map[string]bool{}
	var out []string
	lines := f.Feed.Lines()
	for i := range lines {
		if s := of(&lines[i]); s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}
