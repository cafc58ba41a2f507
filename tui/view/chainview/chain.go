// Package chainview is the page of causes: the way from a command of the user (or the start of the cluster) to a record, and what followed from it, as a waterfall in
// time.
//
// The list is a tree that runs straight where one thing leads to one other. A request with its answer, its stages and its revisions is one hop; hops that say the same
// of like things are folded into the one that is waited for longest; what only tells that something was told is counted. At most some 1,500 hops are followed
// on their own and 300 more for each one that is opened, so that a page costs the same however much a command set off. A page that is left open goes
// on: records that belong to it are added when they come.
//
// Imports of ours: engine/event, engine/kinds, engine/trace, tui/*. Goroutines: the screen's one. Time: simulated.
package chainview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// ID of the view.
const ID = "chain"

// View is the page about what it was opened for.
type View struct {
	about  target.Target
	path   []event.Seq // from the record asked for back to its root
	fold   folding
	linear bool
	finds  string
	// at is the line under the cursor, offset the rows above it on the screen: nothing moves under the cursor. placed: the user or the page has chosen it.
	at     rowID
	offset int
	placed bool
	cache  *cache
}

// New makes the page. Where no record is named, it is about the last one about the target that matters.
func New(about intent.Open, f view.Frame) View {
	v := View{about: about.Target, cache: &cache{}}
	for seq := pick(about, f); seq != 0 && len(v.path) < pathMax; {
		v.path = append(v.path, seq)
		r, ok := f.Record(seq)
		if !ok || r.Cause >= seq {
			break
		}
		seq = r.Cause
	}
	return v
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Titled   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Title names the page by what it is about.
func (v View) Title(f view.Frame) string {
	title := f.Words.Say("chain.crumb")
	switch {
	case v.about.Name != "":
		return title + " " + grid.CutMiddle(sanitize.Text(v.about.Name), 24)
	case v.about.Host != "":
		return title + " " + sanitize.Text(v.about.Host)
	}
	return title
}

// Finding is what is searched for.
func (v View) Finding() string { return v.finds }

// Selection is the thing that the hop under the cursor is about.
func (v View) Selection(f view.Frame) target.Target {
	p := v.look(f)
	if len(p.rows) == 0 {
		return target.Target{}
	}
	return p.line(f, v.cursor(p)).subject
}

// cursor is the index of the row under the cursor: the one chosen, or of what is gone the hop it was in, else the record that was asked for.
func (v View) cursor(p *page) int {
	if v.placed {
		if i, ok := p.find(v.at); ok {
			return i
		}
		if i, ok := p.find(rowID{seq: v.at.seq}); ok {
			return i
		}
	}
	return p.focusRow
}

// Handle moves the cursor, opens and closes hops, and turns keys about the hop into intents.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	p := v.look(f)
	if len(p.rows) == 0 {
		return v, []intent.Intent{i}
	}
	at := v.cursor(p)
	height := bodyHeight(f.W, f.H, len(p.rows))
	switch i := i.(type) {
	case intent.Move:
		switch {
		case i.DY != 0:
			return v.to(p, at+i.DY, height), nil
		case i.DX > 0:
			return v.open(p, at, height), nil
		case i.DX < 0:
			return v.close(p, at, height), nil
		}
	case intent.Next:
		return v.to(p, at+i.By, height), nil
	case intent.Wheel:
		return v.to(p, at+3*i.By, height), nil
	case intent.Page:
		return v.to(p, at+i.By*max(height-1, 1), height), nil
	case intent.Edge:
		if i.To < 0 {
			return v.to(p, 0, height), nil
		}
		return v.to(p, len(p.rows)-1, height), nil
	case intent.Point:
		y := i.Y - headHeight(f.H)
		if y < 0 || y >= height {
			return v, nil
		}
		n := v.top(p, at, height) + y
		if n >= len(p.rows) {
			return v, nil
		}
		v = v.to(p, n, height)
		if i.Twice {
			return v.enter(f, p, n, height)
		}
		return v, nil
	case intent.Enter:
		return v.enter(f, p, at, height)
	case intent.Chain:
		if i.Seq == 0 {
			r := p.rows[at]
			return v, []intent.Intent{intent.Open{Page: ID, Target: p.line(f, at).subject, Seq: r.h.result().Seq}}
		}
		return v, []intent.Intent{i}
	case intent.Text:
		v.finds = i.Value
		return v.match(f, p, at, 0, height), nil
	case intent.Match:
		return v.match(f, p, at, i.By, height), nil
	case intent.Option:
		return v.option(i, f, p, at)
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

func (v View) option(i intent.Option, f view.Frame, p *page, at int) (view.View, []intent.Intent) {
	switch i.Name {
	case "expand":
		v.fold.all, v.fold.only = !v.fold.all, false // each of the two says what is shown, so they cannot both be
		v.fold.levels = nil
	case "scale":
		v.linear = !v.linear
	case "path":
		if v.fold.only = !v.fold.only; v.fold.only && v.fold.all {
			v.fold.all, v.fold.levels = false, nil
		}
	case "goto":
		return v, []intent.Intent{intent.ToSeq{Seq: p.rows[at].h.last().Seq}}
	default:
		return v, []intent.Intent{i}
	}
	return v.stay(p, at), nil
}

// stay keeps the cursor on the same line while the list around it changes.
func (v View) stay(p *page, at int) View {
	if !v.placed {
		v.offset = at
	}
	v.at, v.placed = p.rows[at].id, true
	return v
}

// to puts the cursor on a row, with the list moving only at its edges.
func (v View) to(p *page, n, height int) View {
	n = min(max(n, 0), len(p.rows)-1)
	top := v.top(p, v.cursor(p), height)
	v.at, v.placed = p.rows[n].id, true
	v.offset = min(max(n-top, 0), max(height-1, 0))
	return v
}

// top is the first row on the screen.
func (v View) top(p *page, at, height int) int {
	offset := v.offset
	if !v.placed {
		offset = height / 2
	}
	return max(min(at-offset, len(p.rows)-height), 0)
}

// open shows more of a hop; where there is no more, it goes to the next row.
func (v View) open(p *page, at, height int) View {
	r := p.rows[at]
	if !r.opens {
		return v.to(p, at+1, height)
	}
	return v.stay(p, at).level(r.h, r.level+1)
}

// close shows less of a hop; where there is no less, it goes to the hop that this one hangs on.
func (v View) close(p *page, at, height int) View {
	r := p.rows[at]
	if r.id.kind != hopRow {
		n, _ := p.find(rowID{seq: r.h.seq()})
		return v.to(p, n, height)
	}
	if r.level > closed && (r.level > goesOn || r.depth > 0) && r.h.count+parts(r.h) > 0 {
		return v.stay(p, at).level(r.h, r.level-1)
	}
	for n := at - 1; n >= 0; n-- {
		if p.rows[n].h == r.h.parent && p.rows[n].id.kind == hopRow {
			return v.to(p, n, height)
		}
	}
	return v
}

func (v View) level(h *hop, n int) View {
	levels := maps.Clone(v.fold.levels)
	if levels == nil {
		levels = map[event.Seq]int{}
	}
	levels[h.seq()] = min(max(n, closed), whole)
	v.fold.levels = levels
	return v
}

// enter opens a closed hop, else goes where its subject is at home.
func (v View) enter(f view.Frame, p *page, at, height int) (view.View, []intent.Intent) {
	r := p.rows[at]
	s := p.line(f, at).subject
	if r.opens && r.level == closed || s.Kind == target.Nothing || s.Kind == target.Record {
		return v.open(p, at, height), nil
	}
	return v.stay(p, at), []intent.Intent{intent.Jump{Target: s}}
}

// match goes to a row that holds what is searched for: the one under the cursor or after it (by 0), or the next one in a direction.
func (v View) match(f view.Frame, p *page, at, by, height int) View {
	if v.finds == "" {
		return v
	}
	want := strings.ToLower(v.finds)
	holds := func(i int) bool {
		l := p.line(f, i)
		return strings.Contains(strings.ToLower(l.who+" "+l.text), want)
	}
	if n, ok := widget.Seek(len(p.rows), at+by, cmp.Or(by, 1), holds); ok {
		return v.to(p, n, height)
	}
	return v
}

// opened are the hops that the user opened, in order.
func (v View) opened() []event.Seq {
	out := slices.Collect(maps.Keys(v.fold.levels))
	slices.Sort(out)
	return out
}
