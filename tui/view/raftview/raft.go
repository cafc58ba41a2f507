// Package raftview is the view of the store's raft group: each member with role, term, vote, timer, log and disk, what travels between them, what the group can
// bear, its elections, and in sentences what happens now and why.
//
// A figure is what is seen of a Frame, in raft's words (figure.go, wire.go, clock.go); the rest places it: boxes or rows for the members, the log as a table, messages as
// a chart with a line of life for each member, the list of elections.
//
// Imports of ours: engine/event, engine/kinds, engine/world, tui/*. Goroutines: the screen's one. Time: raft's timers and messages are in wall time, as the records have
// it; everything else is simulated.
package raftview

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "raft"

// View is the view. The zero value has nothing selected.
type View struct {
	// member selected, and of its log an entry by index; or an election by its record.
	member   string
	entry    uint64
	election event.Seq
	// finding is what is searched for in the log; trouble: members that are well are folded.
	finding string
	trouble bool
	// replay is what was last asked to be played slowly.
	replay intent.Slow
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Finding is what is searched for in the log.
func (v View) Finding() string { return v.finding }

// Selection is the etcd of the selected member, or the record of the selected election.
func (v View) Selection(view.Frame) target.Target {
	switch {
	case v.election != 0:
		return target.Target{Kind: target.Record, Seq: v.election}
	case v.member != "":
		return target.Target{Kind: target.Process, Host: v.member, Process: "etcd"}
	}
	return target.Target{}
}

// Clips are the selected entry, the member's row and what happens now.
func (v View) Clips(f view.Frame) []view.Clip {
	p := v.figure(f)
	var out []view.Clip
	if m := p.member(v.member); m != nil {
		if v.entry != 0 {
			out = append(out, view.Clip{Label: f.Words.Say("raft.clip-entry"), Text: p.entryLine(m, v.entry)})
		}
		out = append(out, view.Clip{Label: f.Words.Say("raft.clip-member"), Text: p.memberLine(m)})
	}
	var now []string
	for _, s := range p.now() {
		now = append(now, s.text)
	}
	return append(out, view.Clip{Label: f.Words.Say("raft.clip-now"), Text: strings.Join(now, "\n")})
}

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	switch i := i.(type) {
	case intent.Move:
		if i.DY != 0 {
			return v.step(f, i.DY, false), nil
		}
		return v.along(f, i.DX), nil
	case intent.Next:
		return v.step(f, i.By, true), nil
	case intent.Page:
		return v.along(f, 8*i.By), nil
	case intent.Edge:
		return v.along(f, i.To*(1<<30)), nil
	case intent.Enter:
		return v.enter(f)
	case intent.Back:
		return v.back(i)
	case intent.Point:
		return v.point(i, f)
	case intent.Wheel:
		return v.along(f, i.By), nil
	case intent.Select:
		return v.choose(f, i.Target), nil
	case intent.Text:
		v.finding = i.Value
		if i.Value != "" {
			return v.match(f, 0, false), nil
		}
		return v, nil
	case intent.Match:
		if v.finding == "" {
			return v, []intent.Intent{i}
		}
		return v.match(f, i.By, true), nil
	case intent.Trouble:
		v.trouble = !v.trouble
		return v, nil
	case intent.Chain:
		if i.Seq == 0 && (v.entry != 0 || v.election != 0) {
			return v.enter(f)
		}
	case intent.Option:
		if i.Name == "slow" {
			return v.slow(f)
		}
	}
	return v, []intent.Intent{i}
}

// choose selects the member that a target lies on.
func (v View) choose(f view.Frame, t target.Target) View {
	if v.figure(f).member(t.Host) != nil {
		v.member, v.entry, v.election = t.Host, 0, 0
	}
	return v
}

// step goes through members and then elections, newest first. round: after the last comes the first.
func (v View) step(f view.Frame, by int, round bool) View {
	p := v.figure(f)
	n, e := len(p.shown), p.electionsShown()
	all := n + len(e)
	if all == 0 {
		return v
	}
	at := slices.IndexFunc(p.shown, func(m *member) bool { return m.Name == v.member })
	if v.election != 0 {
		if i := slices.Index(e, v.election); i >= 0 {
			at = n + i
		}
	}
	switch {
	case at < 0 && by > 0, at < 0 && round && by < 0:
		at = (by - 1 + all) % all
		if by > 0 {
			at = 0
		}
	case at < 0:
		at = 0
	case round:
		at = ((at+by)%all + all) % all
	default:
		at = min(max(at+by, 0), all-1)
	}
	v.election = 0
	if at >= n {
		v.member, v.entry, v.election = "", 0, e[at-n]
		return v
	}
	if m := p.shown[at]; m.Name != v.member {
		v.member = m.Name
		if m.TermAt(v.entry) == 0 {
			v.entry = 0
		}
	}
	return v
}

// along goes along the log of the selected member; of the leader's where none is selected.
func (v View) along(f view.Frame, by int) View {
	p := v.figure(f)
	m := p.member(v.member)
	if m == nil && len(p.shown) > 0 {
		m = p.shown[0]
		if p.leader != nil {
			m = p.member(p.leader.Name)
		}
	}
	if m == nil || len(m.Runs) == 0 {
		return v
	}
	first, last := m.Runs[0].From, m.Runs[len(m.Runs)-1].To
	at := int64(v.entry)
	if v.entry == 0 {
		at = int64(last)
		if by < 0 {
			at++
		}
	}
	at = min(max(at+int64(by), int64(first), int64(last)-reach), int64(last))
	v.member, v.entry, v.election = m.Name, uint64(at), 0
	return v
}

// reach is how far back in a log the cursor goes.
const reach = 256

func (v View) enter(f view.Frame) (view.View, []intent.Intent) {
	p := v.figure(f)
	switch {
	case v.election != 0:
		return v, []intent.Intent{intent.Open{Page: "chain", Target: v.Selection(f), Seq: v.election}}
	case v.member == "":
		return v, nil
	case v.entry != 0:
		if seq := p.recordOf(p.member(v.member), v.entry); seq != 0 {
			return v, []intent.Intent{intent.Open{Page: "chain", Target: v.Selection(f), Seq: seq}}
		}
		return v, []intent.Intent{intent.Tell{Text: f.Words.Say("raft.no-record", "index", v.entry)}}
	}
	return v, []intent.Intent{intent.Open{Page: "detail", Target: v.Selection(f)}}
}

func (v View) back(i intent.Intent) (view.View, []intent.Intent) {
	switch {
	case v.entry != 0:
		v.entry = 0
	case v.member != "" || v.election != 0:
		v.member, v.election = "", 0
	case v.trouble:
		v.trouble = false
	case v.finding != "":
		v.finding = ""
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

func (v View) point(i intent.Point, f view.Frame) (view.View, []intent.Intent) {
	p := v.figure(f)
	for _, a := range p.areas() {
		if !a.rect.Contains(i.X, i.Y) {
			continue
		}
		if i.Twice && a.member == v.member && a.entry == v.entry && a.election == v.election {
			return v.enter(f)
		}
		v.member, v.entry, v.election = a.member, a.entry, a.election
		return v, nil
	}
	return v, nil
}

// match goes to an entry that holds what is searched for: the newest, or the next older (1) or newer (-1) one.
func (v View) match(f view.Frame, by int, again bool) View {
	p := v.figure(f)
	m := p.member(v.member)
	if m == nil && p.leader != nil {
		m = p.member(p.leader.Name)
	}
	if m == nil || len(m.Runs) == 0 {
		return v
	}
	want := strings.ToLower(v.finding)
	last := m.Runs[len(m.Runs)-1].To
	at, step := int64(last), int64(-1)
	if again && v.entry != 0 {
		at = int64(v.entry) - int64(by)
		step = -int64(by)
	}
	for n := 0; n < reach && at > 0 && at <= int64(last); n, at = n+1, at+step {
		if strings.Contains(strings.ToLower(p.entryLine(m, uint64(at))), want) {
			v.member, v.entry, v.election = m.Name, uint64(at), 0
			return v
		}
	}
	return v
}

// Draw draws the view.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 1 || h < 1 {
		return
	}
	f.W, f.H = w, h
	v.figure(f).draw(c)
}
