package chainview

import (
	"sort"

	"example.com/kubeviz/engine/event"
)

// rowKind is what a line of the list shows.
type rowKind uint8

const (
	hopRow   rowKind = iota
	stageRow         // of a request
	raftRow          // what the logs of the store hold of it
	writeRow         // a revision it made
	noteRow          // that something is left out
)

// rowID names a line, whatever happens around it.
type rowID struct {
	seq  event.Seq
	kind rowKind
	i    int
}

// row is a line of the list.
type row struct {
	id     rowID
	h      *hop
	depth  int
	branch bool // the first of a branch
	level  int
	opens  bool // it holds more than is shown
	same   int  // hops like it that are folded into it
	hidden int  // other hops below that are folded
	raft   event.Record
}

// Levels of a hop: closed; with what follows from it; with its stages, its lesser effects and those like it as well.
const (
	closed = 0
	goesOn = 1
	whole  = 2
)

// rowsMax bounds the list.
const rowsMax = 3000

// folding is what the user opened and closed, and what is shown at all.
type folding struct {
	levels map[event.Seq]int // of hops, where the user has changed it
	all    bool
	only   bool // the path alone
}

// group is effects of one hop that say the same; the first speaks for them.
type group struct {
	speaker *hop
	same    []*hop
	best    int
}

func groups(kids []*hop) []group {
	var out []group
	at := map[string]int{}
	for _, k := range kids {
		s := shape(k)
		i, known := at[s]
		if !known {
			at[s] = len(out)
			out = append(out, group{speaker: k, best: k.best})
			continue
		}
		g := &out[i]
		g.best = max(g.best, k.best)
		if better(k, g.speaker) {
			k, g.speaker = g.speaker, k
		}
		g.same = append(g.same, k)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].speaker.seq() < out[j].speaker.seq() })
	for _, g := range out {
		sort.Slice(g.same, func(i, j int) bool { return g.same[i].seq() < g.same[j].seq() })
	}
	return out
}

// better reports whether a is to speak for a group rather than b: on the path, heavier, or the one whose end is waited for longest.
func better(a, b *hop) bool {
	switch {
	case a.onPath != b.onPath:
		return a.onPath
	case a.best != b.best:
		return a.best > b.best
	}
	return a.goal.last().At.After(b.goal.last().At)
}

// mainsMax is how many branches of the same weight are open from the start.
const mainsMax = 4

// parted sorts the effects of a hop: the chain goes on with mains; branches are worth a closed line; lessers are only counted.
func parted(h *hop) (mains, branches, lessers []group) {
	all := groups(h.kids)
	top, path := 0, false
	for _, g := range all {
		top = max(top, g.best)
		path = path || g.speaker.onPath
	}
	var late *group // of the heaviest, the one that ends last
	for i := range all {
		if g := &all[i]; g.best == top && (late == nil || better(g.speaker, late.speaker)) {
			late = g
		}
	}
	for i := range all {
		g := all[i]
		switch {
		case path && g.speaker.onPath, !path && g.best == top && top >= step && len(mains) < mainsMax, !path && top >= lesser && top < step && late == &all[i]:
			mains = append(mains, g)
		case g.best >= step:
			branches = append(branches, g)
		default:
			lessers = append(lessers, g)
		}
	}
	return mains, branches, lessers
}

// lister makes the rows of a tree.
type lister struct {
	fold folding
	rows []row
	full bool
}

func list(t *tree, fold folding) []row {
	l := lister{fold: fold}
	if t.root == nil {
		return nil
	}
	l.hop(t.root, 0, false, nil, goesOn)
	if l.full {
		l.rows = append(l.rows, row{id: rowID{kind: noteRow}, h: t.root})
	}
	return l.rows
}

func (l *lister) level(h *hop, otherwise int) int {
	if n, ok := l.fold.levels[h.seq()]; ok {
		return n
	}
	if l.fold.all {
		return whole
	}
	return otherwise
}

func (l *lister) hop(h *hop, depth int, branch bool, same []*hop, level int) {
	if len(l.rows) >= rowsMax {
		l.full = true
		return
	}
	level = l.level(h, level)
	mains, branches, lessers := parted(h)
	details := parts(h) + len(lessers) + len(same)
	if l.fold.only {
		branches = nil
	}
	at := len(l.rows)
	l.rows = append(l.rows, row{id: rowID{seq: h.seq()}, h: h, depth: depth, branch: branch, level: level})
	r := &l.rows[at]
	if level < whole {
		r.same = len(same)
	}
	if level == closed {
		r.hidden = h.count
		r.opens = h.count > 0 || details > 0
		return
	}
	if level == goesOn {
		for _, g := range lessers {
			for _, k := range append([]*hop{g.speaker}, g.same...) {
				r.hidden += 1 + k.count
			}
		}
		r.opens = details > 0
	} else {
		l.details(h, depth+1, lessers, same)
	}
	for _, g := range branches {
		l.hop(g.speaker, depth+1, true, g.same, closed)
	}
	for _, g := range mains {
		if len(mains) == 1 {
			l.hop(g.speaker, depth, false, g.same, goesOn)
		} else {
			l.hop(g.speaker, depth+1, true, g.same, goesOn)
		}
	}
}

// details are the lines that a hop opens to.
func (l *lister) details(h *hop, depth int, lessers []group, same []*hop) {
	for i := range stages(h) {
		l.rows = append(l.rows, row{id: rowID{h.seq(), stageRow, i}, h: h, depth: depth})
	}
	for i, r := range h.raft {
		l.rows = append(l.rows, row{id: rowID{h.seq(), raftRow, i}, h: h, depth: depth, raft: r})
	}
	if h.isRequest() {
		for i := range h.writes {
			l.rows = append(l.rows, row{id: rowID{h.seq(), writeRow, i}, h: h, depth: depth})
		}
	}
	for _, g := range lessers {
		l.hop(g.speaker, depth, true, g.same, closed)
	}
	for _, k := range same {
		l.hop(k, depth, true, nil, closed)
	}
}

// parts counts the lines about a request itself.
func parts(h *hop) int {
	if !h.isRequest() {
		return 0
	}
	return stages(h) + len(h.raft) + len(h.writes)
}

// stages counts those of a request.
func stages(h *hop) int {
	if d, ok := h.done.Event.(event.RequestDone); ok {
		return len(d.Stages)
	}
	return 0
}
