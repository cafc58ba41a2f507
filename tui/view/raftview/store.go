package raftview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// refuses: the member is one of those that say NOSPACE.
func (p *figure) refuses(m *member) bool { return p.f.World.Store.Raised(world.NoSpace, m.Name) }

// learning says how far a learner is, and whether it can get a vote.
func (p *figure) learning(m *member) []string {
	if !m.Learns() || !m.runs {
		return nil
	}
	percent, behind, ok := p.f.World.CaughtUp(m.Member)
	if !ok {
		return nil
	}
	key := "raft.learner-not-yet"
	if p.f.World.Promotable(m.Member) {
		key = "raft.learner-ready"
	}
	return []string{p.say(key, "n", int(behind), "percent", percent)}
}

// badges are what is wrong with a member's disk, database or state, and an identity that is not its first.
func (p *figure) badges(m *member) []string {
	var out []string
	if p.refuses(m) {
		out = append(out, string(grid.Failing)+" "+world.NoSpace)
	}
	if !m.Disk.Sound() {
		sign, _ := diskSign(m.Disk)
		out = append(out, fmt.Sprintf("%c %s", sign, p.say("raft.disk-state", "state", scene.DiskWord(p.f.Words, m.Disk))))
	}
	if m.ID != "" && m.ID != m.Name {
		out = append(out, p.say("raft.member-id", "id", m.ID))
	}
	return out
}

// removed says since when a master is no member, where it was one.
func (p *figure) removed(m *member) []string {
	if m.JoinedSeq == 0 {
		return nil
	}
	return []string{p.say("raft.removed", "since", p.f.Now.Sub(m.Joined))}
}

// diskSign marks a disk that is not sound.
func diskSign(d world.Disk) (rune, grid.Style) {
	if d.Hinders() {
		return grid.Starting, theme.Waiting
	}
	return grid.Failing, theme.Failing
}

// diskSpans are the state of a member's disk, where it is not sound.
func (p *figure) diskSpans(m *member) widget.Line {
	d := m.Disk
	if d.Sound() {
		return nil
	}
	sign, style := diskSign(d)
	text := fmt.Sprintf("%c %s", sign, scene.DiskWord(p.f.Words, d))
	if d.Text != "" {
		text += ": " + sanitize.Text(d.Text)
	}
	return widget.Line{widget.S(text, style), widget.S("   ", 0)}
}

// databaseSpans are the size of a member's database beside its quota, as a bar where there is room.
func (p *figure) databaseSpans(m *member, room int) widget.Line {
	if m.DBSize == 0 {
		return nil
	}
	quota := p.f.World.QuotaOf(m.Member)
	style := p.spaceStyle(m.Member)
	line := widget.Line{widget.S("   "+p.say("raft.db")+" ", theme.Dim)}
	if quota > 0 && room > 100 {
		line = append(line, widget.S(widget.Bar(min(m.DBSize, quota), quota, barCells)+" ", style))
	}
	return append(line, widget.S(scene.DatabaseOf(p.f.World, m.Member, p.f.Words), style))
}

func (p *figure) spaceStyle(m *world.Member) grid.Style {
	return [...]grid.Style{scene.Ample: theme.Dim, scene.Scarce: theme.Waiting, scene.Over: theme.Failing}[scene.SpaceOf(p.f.World, m)]
}

// trapSpans are the failpoints that wait for a member.
func (p *figure) trapSpans(m *member) widget.Line {
	if len(m.Traps) == 0 {
		return nil
	}
	t := m.Traps[0]
	text := p.say("raft.trap", "point", t.Point, "action", t.Action)
	if n := len(m.Traps) - 1; n > 0 {
		text += fmt.Sprintf(" +%d", n)
	}
	return widget.Line{widget.S("   "+text, theme.Fault)}
}

// installSpans are a snapshot on its way to a member, with how far it is.
func (p *figure) installSpans(m *member) widget.Line {
	in := m.Install
	if in.Seq == 0 || in.Done || !m.runs {
		return nil
	}
	style, key := theme.Busy, "raft.install-n"
	if in.Of > 0 {
		key = "raft.install"
	}
	line := widget.Line{widget.S(string(grid.LeftTo)+" "+p.say(key, "from", shortName(in.From), "index", in.Index, "n", in.Pieces, "of", in.Of), style)}
	if in.Of > 0 {
		line = append(line, widget.S(" "+widget.Bar(int64(in.Pieces), int64(in.Of), barCells), style))
	}
	if in.Stalled {
		line = append(line, widget.S(" "+string(grid.Times)+" "+p.say("raft.install-stalled"), theme.Failing))
	}
	return line
}

// storeFacts are what concerns all members alike: who learns, alarms, database, history. Empty in journals that tell of none of it. What the votes come to is in the
// line above.
func (p *figure) storeFacts() []widget.Span {
	s := &p.f.World.Store
	var facts []widget.Span
	add := func(style grid.Style, text string) { facts = append(facts, widget.S(text, style)) }
	if n := len(p.all) - p.voters; n > 0 && s.Group.Known() {
		add(theme.Waiting, p.say("raft.and-learners", "n", n))
	}
	by := map[string][]string{}
	for _, a := range s.Alarms {
		by[a.Kind] = append(by[a.Kind], shortName(a.Member))
	}
	for _, kind := range slices.Sorted(maps.Keys(by)) { // one word for each, whoever raised it
		slices.Sort(by[kind])
		add(theme.Failing, string(grid.Failing)+" "+p.say("raft.alarm", "kind", kind, "member", strings.Join(by[kind], " ")))
	}
	if m, _, ok := p.f.World.Fullest(); ok {
		add(p.spaceStyle(m), p.say("raft.db")+" "+scene.DatabaseOf(p.f.World, m, p.f.Words))
	}
	if s.Compacted.Seq != 0 {
		add(theme.Dim, p.say("raft.compacted", "revision", s.Compacted.Revision))
	}
	if s.Group.Known() {
		var left, never []string
		for _, m := range p.out {
			if m.JoinedSeq != 0 {
				left = append(left, shortName(m.Name))
			} else {
				never = append(never, shortName(m.Name))
			}
		}
		if len(left) > 0 {
			add(theme.Dim, p.say("raft.removed-ones", "members", strings.Join(left, " ")))
		}
		if len(never) > 0 {
			add(theme.Dim, p.say("raft.not-members", "members", strings.Join(never, " ")))
		}
	}
	return facts
}

// factsLine puts as many of the facts as have room into a line.
func (p *figure) factsLine(width int) widget.Line {
	var line widget.Line
	gap := " "
	for _, f := range p.storeFacts() {
		if line.Width()+len(gap)+grid.Width(f.Text) > width {
			break
		}
		line = append(line, widget.S(gap, 0), f)
		gap = "   "
	}
	return line
}

// changed says what the last change of members did to the quorum, while that is news.
func (p *figure) changed() []said {
	s := &p.f.World.Store
	if b := s.Restored; b.Seq != 0 && p.f.Now.Sub(b.At) < news {
		return []said{{p.say("raft.now-restored", "file", b.File, "revision", b.Revision, "restored", b.Restored), theme.Waiting}}
	}
	step, ok := s.Step()
	if !ok || p.f.Now.Sub(s.Group.At) > news {
		return nil
	}
	tell := func(key string, list []event.StoreMember) []said {
		var names []string
		for _, m := range list {
			names = append(names, m.Name)
		}
		return []said{{p.say(key, "member", strings.Join(names, ", "), "step", scene.Step(p.f.Words, step)), theme.Text}}
	}
	switch {
	case len(step.Replaced) > 0:
		m := step.Replaced[0]
		return []said{{p.say("raft.now-replaced", "member", m.Name, "id", m.ID), theme.Text}}
	case len(step.Removed) > 0:
		return tell("raft.now-removed", step.Removed)
	case len(step.Promoted) > 0:
		return tell("raft.now-promoted", step.Promoted)
	case len(step.Added) > 0 && step.After != step.Before:
		return tell("raft.now-joined", step.Added)
	}
	return nil
}

// learners say how far each is, and what its vote would change.
func (p *figure) learners() []said {
	var out []said
	now := p.f.World.Arithmetic()
	for _, m := range p.all {
		if !m.Learns() {
			continue
		}
		percent, behind, ok := p.f.World.CaughtUp(m.Member)
		args := []any{"member", m.Name, "n", int(behind), "percent", percent, "least", world.PromotableAt, "step", scene.Step(p.f.Words, world.Step{Before: now, After: world.ArithmeticOf(now.Voters + 1)})}
		switch {
		case !m.runs:
			out = append(out, said{p.say("raft.now-learner-down", args...), theme.Waiting})
		case !ok:
		case p.leader != nil && !p.f.World.Reaches(p.leader.Name, m.Name):
			out = append(out, said{p.say("raft.now-learner-cut", append(args, "leader", p.leader.Name)...), theme.Waiting})
		case p.f.World.Promotable(m.Member):
			out = append(out, said{p.say("raft.now-learner-ready", args...), theme.Text})
		default:
			out = append(out, said{p.say("raft.now-learner", args...), theme.Waiting})
		}
	}
	return out
}

// full says why writes are refused and what mends it, the next step first.
func (p *figure) full() []said {
	a, on := p.f.World.Store.Alarm(world.NoSpace)
	if !on {
		return nil
	}
	args := []any{"member", a.Member, "db", scene.Database(p.f.World, p.f.Words), "command", p.f.World.Remedy().Command(p.f.World)}
	key := "raft.now-full-"
	switch p.f.World.Remedy() {
	case world.Compact:
		key += "compact"
	case world.Defrag:
		key += "defrag"
	case world.Disarm:
		key += "disarm"
	default:
		key += "raise"
	}
	text := p.say("raft.now-refused", args...)
	if scene.Database(p.f.World, p.f.Words) != "" {
		text = p.say("raft.now-refused-sizes", args...)
	}
	return []said{{text + " " + p.say(key, args...), theme.Failing}}
}

// stopped tells of members that do not start as they are.
func (p *figure) stopped() []said {
	var out []said
	list, _ := p.f.World.AnomaliesAt(p.f.Now, 64)
	rescue, lost := p.f.World.Rescue()
	for _, a := range list {
		key := ""
		switch a.Kind {
		case world.DiskDamaged:
			key = "raft.now-damaged"
		case world.StateDiverged:
			key = "raft.now-diverged"
		default:
			continue
		}
		what := sanitize.Text(a.Detail)
		if m := p.member(a.Subject); m != nil && m.Disk.Damaged() {
			what = scene.DiskWord(p.f.Words, m.Disk)
		}
		text := p.say(key, "member", a.Subject, "what", what, "index", a.Count)
		if q := p.f.Scene.Quorum; q.Alive >= q.Need && !lost {
			text += " " + p.say("raft.now-anew", "member", a.Subject)
		}
		out = append(out, said{text, theme.Failing})
	}
	if lost { // before them: it is what is to be done
		out = slices.Insert(out, 0, said{scene.Rescue(p.f.Words, rescue), theme.Failing})
	}
	return out
}

// disks tell of disks that fail their members without damage.
func (p *figure) disks() []said {
	var out []said
	for _, m := range p.all {
		d := m.Disk
		if d.Sound() || d.Damaged() {
			continue
		}
		key, style := "raft.now-disk-"+d.State, theme.Waiting
		if !m.runs && d.State != "slow" {
			key, style = "raft.now-disk-stopped", theme.Failing
		}
		if !p.f.Words.Has(key) {
			key = "raft.now-disk-stopped"
		}
		out = append(out, said{p.say(key, "member", m.Name, "state", scene.DiskWord(p.f.Words, d), "delay", words.Short(d.Delay)), style})
	}
	return out
}

// installs tell of snapshots on their way.
func (p *figure) installs() []said {
	var out []said
	for _, m := range p.all {
		in := m.Install
		if in.Seq == 0 || in.Done || !m.runs {
			continue
		}
		key := "raft.now-install"
		if in.Stalled {
			key = "raft.now-install-stalled"
		}
		pieces := fmt.Sprint(in.Pieces)
		if in.Of > 0 {
			pieces = fmt.Sprintf("%d/%d", in.Pieces, in.Of)
		}
		out = append(out, said{p.say(key, "member", m.Name, "leader", in.From, "index", in.Index, "pieces", pieces), theme.Busy})
	}
	return out
}

// mutes tell of members that run without a vote.
func (p *figure) mutes() []said {
	var out []said
	for _, m := range p.all {
		if m.muted && m.runs {
			out = append(out, said{p.say("raft.now-muted", "member", m.Name), theme.Waiting})
		}
	}
	return out
}

// retries tell whom the leader asks in vain.
func (p *figure) retries() []said {
	if p.leader == nil {
		return nil
	}
	var out []said
	for _, m := range p.all {
		if m.Name == p.leader.Name || m.Diverged.Seq != 0 || m.Disk.Damaged() {
			continue
		}
		n, last := 0, message{}
		for _, s := range p.sent {
			switch {
			case s.from != p.leader.Name || s.to != m.Name || s.vote:
			case s.lost:
				n, last = n+1, s
			default:
				n = 0
			}
		}
		if n == 0 {
			continue
		}
		lacks := int(p.leader.LastIndex - min(m.LastIndex, p.leader.LastIndex))
		key := "raft.now-retries"
		if lacks > 0 {
			key = "raft.now-retries-lacks"
		}
		out = append(out, said{p.say(key, "leader", p.leader.Name, "member", m.Name, "n", n, "gone", p.real(runs(p.clock.since(last.wall, last.sim))), "lacks", lacks), theme.Waiting})
	}
	return out
}

// hopeless tells, while nobody leads, which members cannot be elected for want of log, and behind whose.
func (p *figure) hopeless() []said {
	if p.leader != nil && p.f.Scene.Quorum.Leader != "" {
		return nil
	}
	need := p.f.Scene.Quorum.Need
	var out []said
	for _, m := range p.all {
		if !m.runs || m.muted || !m.Votes() || m.claims || m.LastIndex == 0 {
			continue
		}
		may, newer := 1, (*member)(nil)
		for _, o := range p.all {
			if o == m || !o.runs || o.muted || !o.Votes() || !p.f.World.Reaches(m.Name, o.Name) {
				continue
			}
			if ahead(o, m) {
				if newer == nil || ahead(o, newer) {
					newer = o
				}
				continue
			}
			may++
		}
		if newer == nil || may >= need {
			continue
		}
		args := []any{"member", m.Name, "other", newer.Name, "n", int(newer.LastIndex - min(m.LastIndex, newer.LastIndex)), "term", m.LastTerm(), "otherterm", newer.LastTerm()}
		key := "raft.now-behind"
		if newer.LastTerm() != m.LastTerm() {
			key = "raft.now-old-term"
		}
		out = append(out, said{p.say(key, args...), theme.Waiting})
	}
	return out
}

// ahead: the log of a is newer than that of b, as voters compare them.
func ahead(a, b *member) bool {
	at, bt := a.LastTerm(), b.LastTerm()
	return at != 0 && bt != 0 && (at > bt || at == bt && a.LastIndex > b.LastIndex)
}

// storeSaid is storeFacts as a sentence, where they have no row of their own.
func (p *figure) storeSaid() []said {
	facts := p.storeFacts()
	if p.f.H >= factsFrom || len(facts) == 0 {
		return nil
	}
	var texts []string
	for _, f := range facts {
		texts = append(texts, f.Text)
	}
	return []said{{strings.Join(texts, "; "), theme.Dim}}
}
