package why

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
)

// voter is a member of the store for the counting of a quorum.
type voter struct {
	name      string
	up, muted bool
	spoiled   bool // a start is no help: what it acknowledged is gone
}

// council is what a quorum is counted from; mends are made on copies.
type council struct {
	voters []voter
	faults []world.Fault
}

func councilOf(w *world.World) council {
	var c council
	w.Members.Scan(func(name string, m *world.Member) bool {
		if !m.Votes() {
			return true
		}
		v := voter{name: name, muted: m.Role != "down" && m.Err != "", spoiled: w.Spoiled(name)}
		if h, ok := w.Hosts.Get(name); ok {
			p, known := h.Processes["etcd"]
			v.up = h.Up && (!known || p.Up)
		} else {
			v.up = m.Role != "down"
		}
		c.voters = append(c.voters, v)
		return true
	})
	w.Faults.Scan(func(_ event.Seq, f world.Fault) bool { c.faults = append(c.faults, f); return true })
	return c
}

func (c council) need() int { return world.ArithmeticOf(len(c.voters)).Quorum }

// reach is the size of the largest set that one voting member can talk to both ways, itself included.
func (c council) reach() int {
	active := make([]fault.Active, len(c.faults))
	for i, f := range c.faults {
		active[i] = fault.Active{ID: uint64(f.Seq), Fault: f.Fault}
	}
	cut := func(a, b string) bool {
		return fault.Between(active, a+"/etcd", b+"/etcd").Cut || fault.Between(active, b+"/etcd", a+"/etcd").Cut
	}
	best := 0
	for _, a := range c.voters {
		if !a.up || a.muted {
			continue
		}
		n := 1
		for _, b := range c.voters {
			if a.name != b.name && b.up && !b.muted && !cut(a.name, b.name) {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

// mend is one thing that can be done for a quorum.
type mend struct {
	start string // member whose machine or etcd is started
	heal  int    // number of a fault in council.faults, or -1
}

func (c council) with(ms ...mend) council {
	out := council{voters: slices.Clone(c.voters)}
	drop := map[int]bool{}
	for _, m := range ms {
		if m.heal >= 0 {
			drop[m.heal] = true
		}
		for i := range out.voters {
			if out.voters[i].name == m.start {
				out.voters[i].up = true
			}
		}
	}
	for i, f := range c.faults {
		if !drop[i] {
			out.faults = append(out.faults, f)
		}
	}
	return out
}

// restores lists the fewest things that bring a quorum back: all single ones that do; if there are none, all pairs, and so on up to three together.
func (c council) restores() [][]mend {
	var single []mend
	for _, v := range c.voters {
		if !v.up && !v.spoiled {
			single = append(single, mend{start: v.name, heal: -1})
		}
	}
	for i, f := range c.faults {
		if f.Fault.Kind == fault.Cut {
			single = append(single, mend{heal: i})
		}
	}
	if len(single) > 12 { // enough to find a way
		single = single[:12]
	}
	good := func(ms ...mend) bool { after := c.with(ms...); return after.reach() >= after.need() }
	var out [][]mend
	for size := 1; size <= 3 && len(out) == 0; size++ {
		var pick func(from int, have []mend)
		pick = func(from int, have []mend) {
			if len(have) == size {
				if good(have...) {
					out = append(out, slices.Clone(have))
				}
				return
			}
			for i := from; i < len(single) && len(out) < 4; i++ {
				pick(i+1, append(have, single[i]))
			}
		}
		pick(0, nil)
	}
	return out
}

// restore adds what would bring the quorum back.
func (q *inquiry) restore(d *draft) {
	c := councilOf(q.World)
	if len(c.voters) == 0 || c.reach() >= c.need() {
		return
	}
	if q.rescue(d) {
		return
	}
	for _, ms := range c.restores() {
		var texts []string
		command := ""
		for _, m := range ms {
			if m.start != "" {
				what := m.start
				if h, ok := q.World.Hosts.Get(m.start); ok && h.Up {
					if what = starts(h, "etcd"); what == "" {
						texts = append(texts, q.say("why.change-kubelet-starts", "process", "etcd", "host", h.Name))
						continue
					}
				}
				texts = append(texts, q.say("why.change-start", "what", what))
				command = "start " + what
				continue
			}
			f := c.faults[m.heal].Fault
			texts = append(texts, q.say("why.change-heal-link", "fault", f.String()))
			command = "heal " + strings.TrimSuffix(scene.End(f), "/etcd")
		}
		if len(ms) > 1 {
			command = ""
		}
		d.Changes = append(d.Changes, Change{Text: strings.Join(texts, " "+q.say("why.and")+" "), Command: command})
	}
}

// quorum answers why the store takes no writes, or why it has no leader; false: it has one.
func (q *inquiry) quorum() bool {
	qu := q.Scene.Quorum
	if !qu.Raft {
		return false
	}
	c := councilOf(q.World)
	lost := c.reach() < c.need()
	if !lost && qu.Leader != "" {
		return false
	}
	if !lost {
		d := q.ask("no-leader", "why.q-no-leader", Waits)
		from, since, by, seq, vacant := q.World.Vacancy()
		d.on(seq)
		if vacant {
			d.line("why.leader-lost", "member", from, "by", q.by(by), "since", q.since(since))
		} else {
			d.line("why.leader-never")
		}
		d.line("why.leader-wait", "reach", c.reach(), "need", c.need())
		if m, ok := q.candidate(); ok {
			d.line("why.leader-candidate", "member", m.Name, "term", m.Term)
			d.on(m.Seq)
		}
		d.Next = q.say("why.next-election")
		d.root(q.causes(seq))
		q.add(d)
		return true
	}
	d := q.ask("no-quorum", "why.q-no-quorum", Broken)
	d.line("why.quorum-count", "reach", c.reach(), "members", len(c.voters), "need", c.need())
	for _, v := range c.voters {
		h, ok := q.World.Hosts.Get(v.name)
		switch {
		case !ok:
		case !h.Up:
			d.on(h.Seq)
			d.line("why.quorum-off", "member", v.name, "by", q.by(h.By), "since", q.since(h.Since))
		case !v.up:
			p := h.Processes["etcd"]
			d.on(p.Seq)
			if m, ok := q.World.Members.Get(v.name); ok && m.Disk.Damaged() { // the reason is long, and advises for a store that has a majority
				d.line("why.disk-damaged", "member", v.name, "what", scene.DiskWord(q.Words, m.Disk))
				continue
			}
			d.line("why.quorum-stopped", "member", v.name, "reason", p.Reason, "since", q.since(p.Since))
		case v.muted:
			d.line("why.quorum-muted", "member", v.name)
		}
	}
	for _, f := range c.faults {
		if f.Fault.Kind == fault.Cut && len(d.Lines) < 5 {
			d.on(f.Seq)
			d.line("why.fault", "fault", f.Fault.String(), "by", q.by(f.By), "since", q.since(f.At))
		}
	}
	d.line("why.quorum-effect")
	q.restore(d)
	q.add(d)
	return true
}

func (q *inquiry) candidate() (*world.Member, bool) {
	var best *world.Member
	q.World.Members.Scan(func(_ string, m *world.Member) bool {
		if m.Role == "candidate" && (best == nil || m.Term > best.Term) {
			best = m
		}
		return true
	})
	return best, best != nil
}
