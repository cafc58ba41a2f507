package raftview

import (
	"fmt"
	"slices"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
)

// cell is an entry in a row of the log. lost: the member has given it up; untold: it may have it, see figure.untold.
type cell struct {
	index, term uint64
	text        string
	x           int
	lost        bool
	untold      bool
}

// overwritten is for how long, by the wall, what a member gave up is still seen in its place.
const overwritten = 8 * time.Second

// lately: what the member gave up is still to be seen.
func (p *figure) lately(m *member) bool {
	seen := overwritten
	if p.f.Slow > 1 {
		seen = time.Duration(float64(seen) / p.f.Slow)
	}
	return m.Cut.Seq != 0 && p.clock.since(m.Cut.Wall, m.Cut.At) < seen
}

// lostText is an entry that a member gave up: ×13·t2 pod/lost.
func (p *figure) lostText(m *member, index uint64, width int) string {
	text := fmt.Sprintf("%c%d%ct%d", grid.Times, index, grid.Dot, m.Cut.TermAt(index))
	for _, e := range m.Cut.Entries {
		if e.Index == index {
			if what := p.holds(e); what != "" {
				text += " " + grid.CutMiddle(what, max(width-grid.Width(text)-1, 8))
			}
		}
	}
	return text
}

// textMax bounds what one entry says in a row.
const textMax = 26

// entryText is an entry as a row of the log shows it: 860·t2 pod/nginx-x.
func (p *figure) entryText(m *member, index uint64, width int) string {
	term := m.TermAt(index)
	text := fmt.Sprint(index)
	if term != 0 {
		text += fmt.Sprintf("%ct%d", grid.Dot, term)
	}
	if e, ok := p.f.World.EntryOf(m.Member, index); ok {
		if what := p.holds(e); what != "" {
			text += " " + grid.CutMiddle(what, max(width-grid.Width(text)-1, 8))
		}
	}
	return text
}

// end is the index that rows of the log end with: the newest of any member that runs, or a little after the entry that is selected.
func (p *figure) end() uint64 {
	var last uint64
	for _, m := range p.all {
		if m.runs {
			last = max(last, m.LastIndex)
		}
	}
	for _, m := range p.all {
		if !m.runs && (last == 0 || m.LastIndex > last) { // what it holds alone
			last = max(last, m.LastIndex)
		}
		if p.lately(m) { // what it held alone
			last = max(last, m.Cut.To)
		}
	}
	if p.v.entry != 0 && p.v.entry+2 < last {
		last = p.v.entry + 2
	}
	return last
}

// logCells lays out the newest entries of a member that fit, the same index in the same column for all members; more: there are older ones. A member whose log ends
// before what the others show has a row of its own.
func (p *figure) logCells(m *member, width int) (cells []cell, more bool) {
	end := p.end()
	each := min(textMax, max(width/4, 12))
	first, widths := p.columns(p.all, end, width-p.margin(width), each)
	if m.LastIndex > 0 && (m.LastIndex < first || m.differs != 0 && m.differs < first) {
		end = m.LastIndex
		first, widths = p.columns([]*member{m}, end, width-p.margin(width), each)
	}
	x := 2
	for i := first; i <= end && i > 0; i++ {
		n := widths[i-first]
		if i <= m.LastIndex && (len(m.Runs) == 0 || i >= m.Runs[0].From) {
			cells = append(cells, cell{index: i, term: m.TermAt(i), text: p.entryText(m, i, each), x: x})
		} else if i > m.LastIndex && p.lately(m) && m.Cut.TermAt(i) != 0 {
			cells = append(cells, cell{index: i, term: m.Cut.TermAt(i), text: p.lostText(m, i, each), x: x, lost: true})
		} else if p.untold(m, i) {
			cells = append(cells, cell{index: i, text: fmt.Sprintf("%d%c", i, grid.Unknown), x: x, untold: true})
		}
		x += n + 2
	}
	return cells, len(cells) > 0 && cells[0].index > 1
}

// margin keeps room to the right of the newest entries for a mark that says why they may not stay.
func (p *figure) margin(width int) int {
	for _, m := range p.all {
		if m.differs != 0 || p.lately(m) || m.leads && m.CommitIndex > 0 && m.LastIndex > m.CommitIndex {
			return min(width/3, 32)
		}
	}
	return 0
}

// columns are the widths of the entries that fit up to end, and the first of them.
func (p *figure) columns(of []*member, end uint64, width, each int) (first uint64, widths []int) {
	left := width - 2
	first = end + 1
	for i := end; i > 0; i-- {
		n := 0
		for _, m := range of {
			if i <= m.LastIndex {
				n = max(n, grid.Width(p.entryText(m, i, each)))
			} else if p.lately(m) && m.Cut.TermAt(i) != 0 {
				n = max(n, grid.Width(p.lostText(m, i, each)))
			}
		}
		if n == 0 {
			n = 4
		}
		if left < n || len(widths) == 40 {
			break
		}
		left -= n + 2
		first = i
		widths = append([]int{n}, widths...)
	}
	return first, widths
}

func (p *figure) drawCells(m *member, cells []cell, more bool, c grid.Canvas) {
	if m.LastIndex == 0 {
		c.Put(0, 0, p.say("raft.log-empty"), theme.Dim)
		return
	}
	if more {
		c.Put(0, 0, string(grid.Ellipsis), theme.Dim)
	}
	for _, e := range cells {
		if e.lost {
			c.Put(e.x, 0, e.text, theme.Failing)
			continue
		}
		if e.untold {
			c.Put(e.x, 0, e.text, theme.Frame)
			continue
		}
		c.Put(e.x, 0, e.text, p.entryStyle(m, e.index))
	}
}

// entryStyle: what is applied is quiet, what waits for a majority stands out, what will be overwritten is in trouble.
func (p *figure) entryStyle(m *member, index uint64) grid.Style {
	style := theme.Text
	switch {
	case m.differs != 0 && index >= m.differs:
		style = theme.Failing
	case index > m.CommitIndex && m.runs:
		style = theme.Busy
	case index <= m.Applied || !m.runs:
		style = theme.Dim
	}
	if m.Name == p.v.member && index == p.v.entry {
		style |= grid.Reverse
	}
	return style
}

// drawMarks writes under the entries how far they are committed and applied, and which will not stay.
func (p *figure) drawMarks(m *member, cells []cell, c grid.Canvas) {
	if len(cells) == 0 {
		return
	}
	var marks []mark
	put := func(index uint64, text string, style grid.Style) {
		marks = append(marks, mark{index: index, text: text, style: style})
	}
	commit := min(m.CommitIndex, m.LastIndex)
	switch {
	case !m.runs && commit == 0:
	case !m.runs:
		put(commit, p.say("raft.mark-committed", "index", commit), theme.Dim)
	case m.Applied >= commit && commit > 0:
		text := p.say("raft.mark-both", "index", commit)
		if e, ok := p.f.World.EntryOf(m.Member, commit); ok && e.Refused.Refused > 0 {
			text += ", " + p.turnedDown(e)
		}
		put(commit, text, theme.Dim)
	default:
		if m.Applied > 0 {
			put(m.Applied, p.say("raft.mark-applied", "index", m.Applied), theme.Dim)
		}
		if commit > 0 {
			put(commit, p.say("raft.mark-committed", "index", commit), theme.Dim)
		} else {
			put(m.LastIndex, p.say("raft.mark-unknown"), theme.Dim)
		}
	}
	switch {
	case m.differs != 0 && p.leader == nil && m.runs && len(m.info.CutFrom) == 0:
		put(m.differs, p.say("raft.mark-open", "holders", p.holders(m.differs, m.TermAt(m.differs)), "members", p.voters), theme.Waiting)
	case m.differs != 0 && p.leader == nil:
		put(m.differs, p.say("raft.mark-alone"), theme.Failing)
	case m.differs != 0:
		put(m.differs, p.say("raft.mark-doomed"), theme.Failing)
	case m.leads && m.LastIndex > commit:
		put(commit+1, p.say("raft.mark-waits", "holders", p.holders(m.LastIndex, m.LastTerm()), "members", p.voters), theme.Busy)
	}
	if p.lately(m) && m.differs == 0 {
		text := p.say("raft.mark-given-up", "range", indexes(m.Cut.From, m.Cut.To))
		if m.Cut.By != 0 {
			what := ""
			if len(m.Cut.Entries) > 0 {
				what = p.lostText(m, m.Cut.Entries[0].Index, textMax)
			} else {
				what = fmt.Sprintf("%c%s", grid.Times, indexes(m.Cut.From, m.Cut.To))
			}
			if n := m.Cut.To - m.Cut.From; n > 0 {
				what += fmt.Sprintf(" +%d", n)
			}
			text = p.say("raft.mark-overwritten", "what", what, "term", m.Cut.By)
		}
		marks = slices.DeleteFunc(marks, func(k mark) bool { return k.index >= m.Cut.From }) // how far it is committed is said of the others, too
		put(m.Cut.From, text, theme.Failing)
	}
	placeMarks(marks, cells, c)
}

// mark under an entry.
type mark struct {
	index uint64
	text  string
	style grid.Style
}

// placeMarks puts each sign under the start of its entry, with its text to the right of it, or to the left where the right is taken.
func placeMarks(marks []mark, cells []cell, c grid.Canvas) {
	w, _ := c.Size()
	column := func(index uint64) int {
		for _, e := range cells {
			if e.index == index {
				return e.x
			}
		}
		return -1
	}
	next := 0
	for i, m := range marks {
		x := column(m.index)
		n := grid.Width(m.text)
		limit := w
		if i+1 < len(marks) {
			if y := column(marks[i+1].index); y > x {
				limit = y - 1
			}
		}
		switch {
		case x < 0 && m.index > cells[len(cells)-1].index:
		case x < 0:
			next = c.PutMax(next, 0, w-next, string(grid.Before)+" "+m.text, m.style) + 2
		case x+2+n > limit && x-1-n >= next:
			c.Put(x-1-n, 0, m.text, m.style)
			next = c.Put(x, 0, string(grid.Moment), m.style) + 1
		default:
			x = max(x, next)
			next = c.PutMax(x, 0, w-x, string(grid.Moment)+" "+m.text, m.style) + 2
		}
	}
}
