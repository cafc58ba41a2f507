package raftview

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/layout"
)

// plan says where everything goes.
type plan struct {
	head, foot layout.Rect
	// boxes of the members, one each, with a frame or without.
	boxes  []layout.Rect
	framed bool
	// The rest is empty where there is no room.
	table, chart, elections layout.Rect
}

// Sizes of the parts.
const (
	sideFrom    = 150 // columns from which messages and elections stand beside the members
	stripMin    = 7   // rows of what lies below the members
	tableFrom   = 100 // columns from which the log lies beside the messages
	electionMin = 4
	factsFrom   = 28 // rows from which what concerns all members has a row of its own
)

// heights of a member's box, the best first: with a frame, and how many rows should be left for other things.
var heights = []struct {
	rows   int
	framed bool
	spare  int
}{{7, true, 9}, {6, true, stripMin}, {6, true, 0}, {5, true, 0}, {3, false, 0}, {2, false, 0}, {1, false, 0}}

func (p *figure) plan() plan {
	w, h := p.f.W, p.f.H
	all := layout.Rect{W: w, H: h}
	var l plan
	foot := 4
	switch {
	case h >= 44:
		foot = 7
	case h >= 28:
		foot = 5
	case h < 8:
		foot = 1
	case h < 14:
		foot = 2
	}
	head := 1
	if h >= factsFrom && len(p.storeFacts()) > 0 {
		head = 2
	}
	parts := all.Rows(layout.Fixed(head), layout.Fill(1), layout.Fixed(min(foot, max(h-1, 0))))
	l.head, l.foot = parts[0], parts[2]
	body := parts[1]
	if w >= sideFrom && body.H >= 16 {
		cols := body.Cols(layout.Fill(1), layout.Fixed(1), layout.Fixed(min(max(w*2/5, 56), 90)))
		body = cols[0]
		history := min(max(len(p.f.World.Elections)+2, electionMin), cols[2].H/3)
		side := cols[2].Rows(layout.Fill(1), layout.Fixed(history))
		l.chart, l.elections = side[0], side[1]
	}
	body = p.planBoxes(&l, body)
	switch {
	case body.H < electionMin:
	case !l.chart.Empty():
		l.table = body
	case body.H < stripMin:
		l.elections = body
	case w >= tableFrom:
		cols := body.Cols(layout.Fill(1), layout.Fill(1))
		history := min(max(len(p.f.World.Elections)+2, electionMin), body.H/3)
		if body.H < stripMin+electionMin {
			history = 0
		}
		side := cols[1].Rows(layout.Fill(1), layout.Fixed(history))
		l.table, l.chart, l.elections = cols[0], side[0], side[1]
	case body.H >= stripMin+electionMin:
		rows := body.Rows(layout.Fill(1), layout.Fixed(min(max(len(p.f.World.Elections)+2, electionMin), body.H/3)))
		l.chart, l.elections = rows[0], rows[1]
	default:
		l.chart = body
	}
	return l
}

// planBoxes gives each member a box and returns what is left.
func (p *figure) planBoxes(l *plan, body layout.Rect) layout.Rect {
	n := len(p.shown)
	for _, size := range heights {
		if n == 0 || n*size.rows+size.spare > body.H && size.rows > 1 {
			continue
		}
		l.framed = size.framed
		for i := range n {
			l.boxes = append(l.boxes, layout.Rect{X: body.X, Y: body.Y + i*size.rows, W: body.W, H: size.rows}.Intersect(body))
		}
		break
	}
	used := 0
	if n > 0 && len(l.boxes) > 0 {
		used = min(n*l.boxes[0].H, body.H)
	}
	return layout.Rect{X: body.X, Y: body.Y + used, W: body.W, H: body.H - used}
}

// area is a place where a click selects something.
type area struct {
	rect     layout.Rect
	member   string
	entry    uint64
	election event.Seq
}

// areas lists them, the smallest first.
func (p *figure) areas() []area {
	l := p.plan()
	out := p.tableAreas(l.table)
	for i, seq := range p.electionsIn(l.elections) {
		out = append(out, area{rect: layout.Rect{X: l.elections.X, Y: l.elections.Y + 1 + i, W: l.elections.W, H: 1}, election: seq})
	}
	for i, r := range l.boxes {
		out = append(out, area{rect: r, member: p.shown[i].Name})
	}
	return out
}
