// Package detailview is the page about one thing: a machine, a program, a pod, any object of the API, a queue, the balancer or a client.
//
// Its tabs are the table of fields, YAML, the text of kubectl describe, Events, requests with their stages, queues, watches, and the records of the journal. Every line
// that stands for a record leads to its chain, every line that names a thing leads to that thing. The page about an object that was deleted stays, and shows its last state.
//
// Imports of ours: engine/event, tui/*. Goroutines: the screen's one. Time: simulated.
package detailview

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// ID of the page.
const ID = "detail"

// View is the page about what it was opened for.
type View struct {
	about intent.Open
	tab   int
	at    [tabCount]cursor
	find  string
	// split is where the divider was dragged to, in cells from the left; 0: where it is by itself.
	split int
	cache *cache
}

// cursor is the chosen row of a tab: by what it stands for where it has a record, else by its place.
type cursor struct {
	row, above int // above: rows between it and the top of the screen
	seq        event.Seq
	target     target.Target
}

// New makes the page.
func New(about intent.Open, f view.Frame) View {
	v := View{about: about, cache: &cache{}}
	for i, id := range tabIDs {
		if id == about.Tab {
			v.tab = i
		}
	}
	if about.Tab == "" && about.Target.Kind == target.Queue {
		v.tab = queue
	}
	return v
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

// Selection is what the page is about.
func (v View) Selection(f view.Frame) target.Target { return f.Placed(v.about.Target) }

// Title of the page in the path.
func (v View) Title(f view.Frame) string { return name(v.about.Target) }

// Finding is what is searched for.
func (v View) Finding() string { return v.find }

func name(t target.Target) string {
	switch t.Kind {
	case target.Master, target.Worker:
		return t.Host
	case target.Process:
		return t.Process + "/" + t.Host
	case target.Balancer:
		return "balancer"
	case target.Client:
		return motion.Label(t.Name)
	}
	return t.Name
}

// page is what is seen of a View in a Frame.
type page struct {
	cache   *cache
	subject describe.Subject
	lay     plan
	rows    []describe.Row // wrapped, of the tab in front
	labelW  int
	at, top int
}

func (v View) page(f view.Frame) page {
	c := v.cache
	if c == nil {
		c = &cache{}
	}
	p := page{cache: c, subject: describe.SubjectOf(f, v.about.Target), lay: layOut(f, v.split)}
	c.ledger.advance(f, p.subject)
	p.rows = c.rows(f, p.subject, v.tab)
	p.labelW = describe.LabelWidth(p.rows, max(p.lay.main.W*2/5, 10))
	p.rows = describe.Wrap(p.rows, p.lay.main.W-2, p.labelW)
	cur := v.at[v.tab]
	p.at = locate(p.rows, cur)
	h := max(p.lay.main.H, 1)
	p.top = max(min(p.at-min(cur.above, h-1), len(p.rows)-h), 0)
	return p
}

// locate finds the row of a cursor.
func locate(rows []describe.Row, c cursor) int {
	at := max(min(c.row, len(rows)-1), 0)
	if c.seq == 0 || len(rows) == 0 || rows[at].Seq == c.seq && rows[at].Target == c.target {
		return at
	}
	for d := 1; d < len(rows); d++ { // the nearest of the same
		for _, i := range [2]int{at + d, at - d} {
			if i >= 0 && i < len(rows) && rows[i].Seq == c.seq && rows[i].Target == c.target {
				return i
			}
		}
	}
	return at
}

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	if v.cache == nil {
		v.cache = &cache{}
	}
	p := v.page(f)
	h := max(p.lay.main.H, 1)
	switch i := i.(type) {
	case intent.Move:
		if i.DX != 0 {
			return v.cycle(i.DX), nil
		}
		return v.to(p, p.at+i.DY), nil
	case intent.Next:
		return v.cycle(i.By), nil
	case intent.Page:
		return v.scroll(p, i.By*h), nil
	case intent.Wheel:
		return v.scroll(p, 3*i.By), nil
	case intent.Edge:
		if i.To < 0 {
			return v.to(p, 0), nil
		}
		return v.to(p, len(p.rows)-1), nil
	case intent.Point:
		return v.point(i, f, p)
	case intent.Drag:
		return v.drag(i, p), nil
	case intent.Enter:
		return v.enter(p)
	case intent.Detail:
		if t := p.target(); t.Kind != target.Nothing {
			return v, []intent.Intent{intent.Open{Page: ID, Target: t}}
		}
		return v, nil
	case intent.Chain:
		if seq := p.seq(); i.Seq == 0 && seq != 0 {
			return v, []intent.Intent{intent.Chain{Seq: seq}}
		}
	case intent.Text:
		return v.search(i, p), nil
	case intent.Match:
		if v.find != "" {
			return v.match(p, p.at+i.By, i.By), nil
		}
	case intent.Back:
		if v.find != "" {
			v.find = ""
			return v, nil
		}
	case intent.Option:
		return v.option(i, p)
	}
	return v, []intent.Intent{i}
}

func (v View) option(i intent.Option, p page) (view.View, []intent.Intent) {
	switch i.Name {
	case "history":
		if t := objectOf(p.subject); t.Kind != target.Nothing {
			return v, []intent.Intent{intent.Open{Page: "history", Target: t}}
		}
		return v, nil
	case "overview":
		v.tab = overview
	case "yaml":
		v.tab = manifest
	case "describe":
		v.tab = described
	case "requests":
		v.tab = requests
	case "records":
		v.tab = records
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

// objectOf is the object that the page is about, or that stands for the machine.
func objectOf(s describe.Subject) target.Target {
	if s.Object == nil {
		return target.Target{}
	}
	if s.Target.Kind == target.Pod {
		return s.Target
	}
	return target.ForObject(s.Kind, s.Object.GetNamespace(), s.Object.GetName())
}

func (v View) cycle(by int) View {
	v.tab = (v.tab + by + tabCount) % tabCount
	return v
}

// to chooses a row; the screen scrolls only when it must.
func (v View) to(p page, at int) View {
	at = max(min(at, len(p.rows)-1), 0)
	c := cursor{row: at, above: max(min(at-p.top, p.lay.main.H-1), 0)}
	if at < len(p.rows) {
		c.seq, c.target = p.rows[at].Seq, p.rows[at].Target
	}
	v.at[v.tab] = c
	return v
}

// scroll moves what is seen and the chosen row with it.
func (v View) scroll(p page, by int) View {
	above := p.at - p.top
	v = v.to(p, p.at+by)
	v.at[v.tab].above = above
	return v
}

func (p page) target() target.Target {
	if p.at < len(p.rows) {
		return p.rows[p.at].Target
	}
	return target.Target{}
}

func (p page) seq() event.Seq {
	if p.at < len(p.rows) {
		return p.rows[p.at].Seq
	}
	return 0
}

// enter follows the row: to the thing it names, else to the chain of its record.
func (v View) enter(p page) (view.View, []intent.Intent) {
	if t := p.target(); t.Kind != target.Nothing && t != v.about.Target {
		return v, []intent.Intent{intent.Open{Page: ID, Target: t}}
	}
	if seq := p.seq(); seq != 0 {
		return v, []intent.Intent{intent.Open{Page: "chain", Target: v.about.Target, Seq: seq}}
	}
	return v, nil
}

func (v View) point(i intent.Point, f view.Frame, p page) (view.View, []intent.Intent) {
	if i.Y == p.lay.tabs.Y {
		x := p.lay.tabs.X
		for tab := range tabCount {
			x2 := x + tabWidth(f, p, tab)
			if i.X >= x && i.X < x2 {
				v.tab = tab
				return v, nil
			}
			x = x2
		}
		return v, nil
	}
	if !p.lay.main.Contains(i.X, i.Y) {
		return v, nil
	}
	row := p.top + i.Y - p.lay.main.Y
	if row >= len(p.rows) {
		return v, nil
	}
	v = v.to(p, row)
	if i.Twice {
		p.at = row
		return v.enter(p)
	}
	return v, nil
}

func (v View) drag(i intent.Drag, p page) View {
	if side := p.lay.side; side.W > 0 && (v.split == i.FromX || i.FromX == side.X-1 || i.FromX == side.X-2) && i.FromY >= p.lay.main.Y {
		v.split = i.X
	} else if v.split > 0 && side.W > 0 && abs(v.split-i.X) < 8 {
		v.split = i.X
	}
	return v
}

func abs(n int) int { return max(n, -n) }

func (v View) search(i intent.Text, p page) View {
	v.find = i.Value
	if v.find == "" || (p.at < len(p.rows) && matches(p.rows[p.at], v.find)) {
		return v
	}
	return v.match(p, p.at, 1)
}

// match goes to the next row from at on that holds what is searched for, around the end.
func (v View) match(p page, at, by int) View {
	if row, ok := widget.Seek(len(p.rows), at, by, func(i int) bool { return matches(p.rows[i], v.find) }); ok {
		return v.to(p, row)
	}
	return v
}

func matches(r describe.Row, find string) bool {
	return strings.Contains(strings.ToLower(r.Text()), strings.ToLower(find))
}

// Clips are the row, what it says, the tab, the manifest and the lines of kubectl.
func (v View) Clips(f view.Frame) []view.Clip {
	p := v.page(f)
	say := f.Words.Say
	var out []view.Clip
	add := func(label, text string) {
		if strings.TrimSpace(text) != "" {
			out = append(out, view.Clip{Label: label, Text: text})
		}
	}
	if p.at < len(p.rows) {
		value := ""
		for _, s := range p.rows[p.at].Line {
			value += s.Text
		}
		add(say("detail.clip-value"), strings.TrimSpace(value))
		add(say("detail.clip-row"), p.rows[p.at].Text())
	}
	add(say("detail.clip-name"), name(v.about.Target))
	var tab strings.Builder
	for _, r := range p.rows {
		tab.WriteString(r.Text())
		tab.WriteByte('\n')
	}
	add(say("detail.clip-page"), tab.String())
	add("kubectl get", kubectl(p.subject, "get", "-o yaml"))
	add("kubectl describe", kubectl(p.subject, "describe", ""))
	add("YAML", strings.Join(describe.YAML(p.subject), "\n"))
	return out
}
