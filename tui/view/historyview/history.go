// Package historyview is the page of an object's revisions, the newest first: when, by whom, what changed in a phrase, and field by field against the revision before.
//
// Revisions come out of the journal, so the page goes as far back as the journal does; where it ends, it says so.
//
// Imports of ours: engine/event, engine/kinds, tui/*. Goroutines: the screen's one. Time: simulated.
package historyview

import (
	"fmt"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// ID of the page.
const ID = "history"

// View is the page of the revisions of what it was opened for.
type View struct {
	about intent.Open
	// seq is the record of the chosen revision; 0: the newest, which is followed.
	seq   event.Seq
	above int
	// below is how far the fields are scrolled; onFields: the keys move there.
	below    int
	onFields bool
	find     string
	cache    *cache
}

// New makes the page; it begins at the revision of about.Seq, where that is one.
func New(about intent.Open, f view.Frame) View {
	if t := about.Target; t.Kind == target.Master || t.Kind == target.Worker {
		about.Target = target.Target{Kind: target.Object, Type: "nodes", Name: t.Host}
	}
	return View{about: about, seq: about.Seq, cache: &cache{}}
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Titled   = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the page.
func (v View) ID() string { return ID }

// Title of the page in the path.
func (v View) Title(f view.Frame) string { return f.Words.Say("history.title") }

// Selection is the object.
func (v View) Selection(f view.Frame) target.Target { return v.about.Target }

// Finding is what is searched for.
func (v View) Finding() string { return v.find }

// page is what is seen of a View in a Frame.
type page struct {
	cache   *cache
	lay     plan
	at, top int
	fields  []describe.Row
}

type plan struct{ head, list, fields, foot layout.Rect }

// besideFrom is the width from which the fields stand beside the list, not under it.
const besideFrom = 116

func layOut(w, h int) plan {
	rows := layout.Rect{W: w, H: h}.Rows(layout.Fixed(1), layout.Fill(1), layout.Fixed(1))
	p := plan{head: rows[0], foot: rows[2]}
	if w >= besideFrom {
		cols := rows[1].Cols(layout.Fill(11), layout.Fixed(1), layout.Fill(10))
		p.list, p.fields = cols[0], cols[2]
		return p
	}
	parts := rows[1].Rows(layout.Fill(1), layout.Fill(1))
	p.list, p.fields = parts[0], parts[1]
	return p
}

func (v View) page(f view.Frame) page {
	c := v.cache
	if c == nil {
		c = &cache{}
	}
	c.advance(f, v.about.Target)
	p := page{cache: c, lay: layOut(f.W, f.H)}
	if v.seq != 0 {
		for p.at < len(c.list)-1 && c.list[p.at].seq > v.seq { // to the revision that was in force then, if it is none itself
			p.at++
		}
	}
	h := max(p.lay.list.H, 1)
	p.top = max(min(p.at-min(v.above, h-1), len(c.list)-h), 0)
	if p.at < len(c.list) {
		p.fields = fieldRows(f, c.change(f, c.list[p.at]), p.lay.fields.W-2)
	}
	return p
}

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	if v.cache == nil {
		v.cache = &cache{}
	}
	p := v.page(f)
	h := max(p.lay.list.H, 1)
	switch i := i.(type) {
	case intent.Move:
		switch {
		case i.DX != 0:
			v.onFields = i.DX > 0
			return v, nil
		case v.onFields:
			return v.slide(p, i.DY), nil
		}
		return v.to(p, p.at+i.DY), nil
	case intent.Next:
		v.onFields = !v.onFields
		return v, nil
	case intent.Page:
		if v.onFields {
			return v.slide(p, i.By*max(p.lay.fields.H-1, 1)), nil
		}
		return v.to(p, p.at+i.By*h), nil
	case intent.Wheel:
		if p.lay.fields.Contains(i.X, i.Y) {
			return v.slide(p, 3*i.By), nil
		}
		return v.to(p, p.at+3*i.By), nil
	case intent.Edge:
		switch {
		case v.onFields:
			return v.slide(p, i.To*len(p.fields)), nil
		case i.To < 0:
			return v.to(p, 0), nil
		}
		return v.to(p, len(p.cache.list)-1), nil
	case intent.Point:
		v.onFields = p.lay.fields.Contains(i.X, i.Y)
		if at := p.top + i.Y - p.lay.list.Y; p.lay.list.Contains(i.X, i.Y) && at < len(p.cache.list) {
			v = v.to(p, at)
			if i.Twice {
				return v, []intent.Intent{v.chain(p.cache.list[at].seq)}
			}
		}
		return v, nil
	case intent.Enter:
		if p.at < len(p.cache.list) {
			return v, []intent.Intent{v.chain(p.cache.list[p.at].seq)}
		}
		return v, nil
	case intent.Chain:
		if i.Seq == 0 && p.at < len(p.cache.list) {
			return v, []intent.Intent{intent.Chain{Seq: p.cache.list[p.at].seq}}
		}
	case intent.Option:
		if i.Name == "to-revision" {
			if p.at < len(p.cache.list) {
				return v, []intent.Intent{intent.ToSeq{Seq: p.cache.list[p.at].seq}}
			}
			return v, nil
		}
	case intent.Text:
		v.find = strings.TrimSpace(i.Value)
		if v.find == "" {
			return v, nil
		}
		return v.match(f, p, p.at, 1), nil
	case intent.Match:
		if v.find != "" {
			return v.match(f, p, p.at+i.By, i.By), nil
		}
		return v.to(p, p.at+i.By), nil
	case intent.Back:
		if v.find != "" {
			v.find = ""
			return v, nil
		}
	}
	return v, []intent.Intent{i}
}

func (v View) chain(seq event.Seq) intent.Open {
	return intent.Open{Page: "chain", Target: v.about.Target, Seq: seq}
}

// to chooses a revision; the newest is followed.
func (v View) to(p page, at int) View {
	at = max(min(at, len(p.cache.list)-1), 0)
	v.seq, v.below, v.onFields = 0, 0, false
	if at > 0 && at < len(p.cache.list) {
		v.seq = p.cache.list[at].seq
	}
	v.above = max(min(at-p.top, p.lay.list.H-1), 0)
	return v
}

func (v View) slide(p page, by int) View {
	v.below = max(min(v.below+by, len(p.fields)-max(p.lay.fields.H-1, 1)), 0)
	return v
}

// match goes to the next revision from at on whose phrase, author or fields hold what is searched for.
func (v View) match(f view.Frame, p page, at, by int) View {
	list := p.cache.list
	if i, ok := widget.Seek(len(list), at, by, func(i int) bool { return holds(p.cache.change(f, list[i]), v.find) }); ok {
		return v.to(p, i)
	}
	return v
}

func holds(ch change, find string) bool {
	find = strings.ToLower(find)
	if strings.Contains(strings.ToLower(ch.who+" "+ch.phrase), find) {
		return true
	}
	for _, c := range ch.diff.Changes {
		if strings.Contains(strings.ToLower(c.Field()+" "+c.Old+" "+c.New), find) {
			return true
		}
	}
	return false
}

// Clips are the phrase, the fields, and the revision.
func (v View) Clips(f view.Frame) []view.Clip {
	p := v.page(f)
	if p.at >= len(p.cache.list) {
		return nil
	}
	say := f.Words.Say
	rev := p.cache.list[p.at]
	ch := p.cache.change(f, rev)
	var all strings.Builder
	for _, r := range p.fields {
		all.WriteString(r.Text())
		all.WriteByte('\n')
	}
	out := []view.Clip{{Label: say("history.clip-phrase"), Text: ch.phrase}, {Label: say("history.clip-fields"), Text: all.String()}}
	if r, ok := f.Record(rev.seq); ok {
		e := r.Event.(event.ObjectChanged)
		out = append(out, view.Clip{Label: say("detail.revision"), Text: fmt.Sprint(e.Revision)})
	}
	return out
}
