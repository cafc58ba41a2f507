package chainview

import (
	"cmp"
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/view"
)

// Bounds of what is followed. What lies beyond is counted or said to be left out.
const (
	hopsMax    = 1500 // hops that are followed on their own
	openMax    = 300  // more hops for each one that the user opens, and for what hangs on the path
	effectsMax = 512  // of one record
	pathMax    = 600  // hops back to the root
)

// hop is one step of a chain: a record, or a request or command with its answer and what it wrote.
type hop struct {
	rec  event.Record
	done event.Record   // the answer; Seq 0: none yet
	raft []event.Record // what the store's logs said of it
	// writes are the revisions that a request made.
	writes []event.Record
	parent *hop
	from   event.Record // the record of the parent that it follows from
	kids   []*hop       // by number, those of them that are followed
	asked  bool         // its kids are followed
	next   []event.Record
	more   bool // it has more effects than are read
	onPath bool

	// What the subtree comes to, as far as it is followed.
	best  int  // weight of the fact that matters most
	goal  *hop // the last hop of that weight
	count int  // hops below
	end   *hop // the hop that ends last
}

func (h *hop) seq() event.Seq { return h.rec.Seq }

// last is the record with which the hop ends.
func (h *hop) last() event.Record {
	out := h.rec
	if n := len(h.writes); n > 0 {
		out = h.writes[n-1]
	}
	if h.done.Seq != 0 && (h.isRequest() || !out.At.After(h.done.At)) {
		out = h.done
	}
	return out
}

// result is the record that others follow from: the revision of a request, else the record itself.
func (h *hop) result() event.Record {
	if n := len(h.writes); n > 0 {
		return h.writes[n-1]
	}
	return h.rec
}

func (h *hop) isRequest() bool { _, ok := h.rec.Event.(event.RequestReceived); return ok }

// tree is the causes and effects of one record up to an instant.
type tree struct {
	root, focus *hop
	upTo        event.Seq
	cut         bool // the root is only the oldest record that is looked at
	lost        bool // what came before the root is not in memory
	future      bool // the record asked for has not happened yet
	all         []*hop
	member      map[event.Seq]*hop // every record in a hop
}

// builder makes a tree.
type builder struct {
	f   view.Frame
	t   *tree
	buf []event.Seq
}

// grow makes the tree around a record. path are the records from the one asked for back to its root, as far as they could be read when the page was opened. opened are
// hops that the user wants to see below.
func grow(f view.Frame, path []event.Seq, opened []event.Seq) *tree {
	b := &builder{f: f, t: &tree{upTo: f.World.Seq, member: map[event.Seq]*hop{}}}
	t := b.t
	var known []event.Record // from the record back to the root
	for _, seq := range path {
		if seq > f.World.Seq {
			t.future = true
			continue
		}
		r, ok := f.Record(seq)
		if !ok {
			t.lost = true
			break
		}
		known = append(known, r)
	}
	if len(known) == 0 {
		return t
	}
	oldest := known[len(known)-1]
	t.cut = len(path) >= pathMax && oldest.Cause != 0
	t.lost = t.lost || !t.cut && oldest.Cause != 0
	b.path(known)
	b.follow([]*hop{t.focus}, hopsMax)
	var beside []*hop // what hangs on the path, the nearest to the focus first
	for h := t.focus; h != nil; h = h.parent {
		for _, k := range h.kids {
			if !k.onPath {
				beside = append(beside, k)
			}
		}
	}
	b.follow(beside, openMax)
	for _, seq := range opened {
		if h := t.member[seq]; h != nil {
			b.follow([]*hop{h}, openMax)
			b.replicas(h)
		}
	}
	t.weigh()
	return t
}

// path makes the hops from the root to the focus, and their other effects as hops that are not followed yet.
func (b *builder) path(known []event.Record) {
	var h *hop
	for i := len(known) - 1; i >= 0; i-- {
		r := known[i]
		if in := b.t.member[r.Seq]; in != nil { // part of a hop: an answer, a revision
			h = in
			continue
		}
		k := b.kidOf(h, r)
		k.onPath = true
		h = k
	}
	b.t.focus = h
}

// kidOf finds or makes the hop of a record that follows from a hop on the path.
func (b *builder) kidOf(h *hop, r event.Record) *hop {
	if h == nil {
		h = b.hop(r, nil, event.Record{})
		b.t.root = h
		return h
	}
	b.ask(h)
	if k := b.t.member[r.Seq]; k != nil {
		return k
	}
	k := b.hop(r, h, b.in(h, r.Cause)) // beyond the effects that are read
	h.kids = append(h.kids, k)
	return k
}

// ask makes the hops of a hop's effects.
func (b *builder) ask(h *hop) {
	if h.asked {
		return
	}
	h.asked = true
	slices.SortFunc(h.next, func(x, y event.Record) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, r := range h.next {
		h.kids = append(h.kids, b.hop(r, h, b.in(h, r.Cause)))
	}
	h.next = nil
}

// in is the record of a hop with that number.
func (b *builder) in(h *hop, seq event.Seq) event.Record {
	for _, w := range h.writes {
		if w.Seq == seq {
			return w
		}
	}
	if h.done.Seq == seq {
		return h.done
	}
	return h.rec
}

// follow asks the hops, and theirs in turn, level by level, until so many were made.
func (b *builder) follow(queue []*hop, budget int) {
	for len(queue) > 0 && budget > 0 {
		h := queue[0]
		queue = queue[1:]
		if !h.asked {
			b.ask(h)
			budget -= len(h.kids)
		}
		queue = append(queue, h.kids...)
	}
}

// hop makes the hop of a record and reads its direct effects.
func (b *builder) hop(r event.Record, parent *hop, from event.Record) *hop {
	h := &hop{rec: r, parent: parent, from: from}
	b.t.member[r.Seq] = h
	b.t.all = append(b.t.all, h)
	for _, e := range b.effects(h, r.Seq) {
		switch ev := e.Event.(type) {
		case event.RequestDone:
			if h.isRequest() {
				h.done = e
				b.t.member[e.Seq] = h
				continue
			}
		case event.CommandDone:
			if _, ok := r.Event.(event.CommandGiven); ok {
				h.done = e
				b.t.member[e.Seq] = h
				continue
			}
		case event.ObjectChanged, event.LeaseRenewed:
			if h.isRequest() {
				h.writes = append(h.writes, e)
				b.t.member[e.Seq] = h
				continue
			}
		default:
			if h.isRequest() && strings.HasPrefix(ev.Name(), "Raft") {
				h.raft = append(h.raft, e)
				b.t.member[e.Seq] = h
				continue
			}
			if bookkeeping(ev) {
				continue
			}
		}
		h.next = append(h.next, e)
	}
	inside := append([]event.Record(nil), h.writes...)
	if h.done.Seq != 0 {
		inside = append(inside, h.done)
	}
	for _, w := range inside {
		h.next = append(h.next, b.effects(h, w.Seq)...)
	}
	return h
}

// bookkeeping are facts of the store's logs that no more than happen after a fault; what they say about a request, its hop says.
func bookkeeping(e event.Event) bool {
	switch e := e.(type) {
	case event.RaftProgress, event.RaftAppended, event.RaftTiming, event.RequestTally, event.QueueChanged:
		return true
	case event.RaftMessage:
		return e.Kind != "vote" && e.Kind != "pre-vote"
	}
	return false
}

// replicasMax is how many records after a request are looked at for logs that hold its entry too.
const replicasMax = 400

// replicas adds to a request where else its entry is. Only the first log that has an entry names the request.
func (b *builder) replicas(h *hop) {
	index, _ := entry(h)
	if index == 0 {
		return
	}
	have := map[string]bool{}
	for _, r := range h.raft {
		if a, ok := r.Event.(event.RaftAppended); ok {
			have[a.Member] = true
		}
	}
	for seq := h.seq() + 1; seq <= min(h.last().Seq+replicasMax, b.t.upTo); seq++ {
		r, ok := b.f.Journal.Get(seq)
		if !ok {
			return
		}
		if a, is := r.Event.(event.RaftAppended); is && !a.Opened && a.From <= index && index <= a.To && !have[a.Member] {
			have[a.Member] = true
			h.raft = append(h.raft, r)
		}
	}
}

func (b *builder) effects(h *hop, of event.Seq) []event.Record {
	if b.f.Trace == nil {
		return nil
	}
	b.buf = b.f.Trace.AppendEffects(b.buf[:0], of, b.t.upTo, effectsMax+1)
	if len(b.buf) > effectsMax {
		b.buf, h.more = b.buf[:effectsMax], true
	}
	out := make([]event.Record, 0, len(b.buf))
	for _, seq := range b.buf {
		if r, ok := b.f.Journal.Get(seq); ok {
			out = append(out, r)
		}
	}
	return out
}

// weigh sums up every subtree. Hops come after the hops they follow from.
func (t *tree) weigh() {
	for i := len(t.all) - 1; i >= 0; i-- {
		h := t.all[i]
		h.best, h.goal, h.end, h.count = weight(h), h, h, len(h.next)
		for _, k := range h.kids {
			h.count += 1 + k.count
			switch {
			case k.best > h.best:
				h.best, h.goal = k.best, k.goal
			case k.best == h.best && !k.goal.last().At.Before(h.goal.last().At):
				h.goal = k.goal
			}
			if k.end.last().At.After(h.end.last().At) {
				h.end = k.end
			}
		}
	}
}

// stale reports whether records that came after the tree was made belong to it. A gap that is too wide to look through counts as such.
func (t *tree) stale(f view.Frame) bool {
	switch {
	case f.World.Seq == t.upTo:
		return false
	case f.World.Seq < t.upTo, f.World.Seq-t.upTo > 4096, t.root == nil:
		return true
	}
	for seq := t.upTo + 1; seq <= f.World.Seq; seq++ {
		r, ok := f.Journal.Get(seq)
		if !ok || t.member[r.Cause] != nil {
			return true
		}
	}
	t.upTo = f.World.Seq
	return false
}
