package raftview

import (
	"fmt"
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// refuses: the member is one of those that say NOSPACE.
func (p *figure) refuses(m *member) bool {
	for _, a := range p.f.World.Store.Alarms {
		if a.Kind == world.NoSpace && a.Member == m.Name {
			return true
		}
	}
	return false
}

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
	switch d := m.Disk; {
	case d.Sound():
	case d.State == "slow", d.State == "flaky":
		out = append(out, fmt.Sprintf("%c %s", grid.Starting, p.say("raft.disk-state", "state", scene.DiskWord(p.f.Words, d))))
	default:
		out = append(out, fmt.Sprintf("%c %s", grid.Failing, p.say("raft.disk-state", "state", scene.DiskWord(p.f.Words, d))))
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

// diskSpans are the state of a member's disk, where it is not sound.
func (p *figure) diskSpans(m *member) widget.Line {
	d := m.Disk
	if d.Sound() {
		return nil
	}
	sign, style := grid.Failing, theme.Failing
	if d.State == "slow" || d.State == "flaky" {
		sign, style = grid.Starting, theme.Waiting
	}
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
	style := theme.Dim
	switch {
	case quota > 0 && m.DBSize > quota:
		style = theme.Failing
	case quota > 0 && m.DBSize > quota*8/10:
		style = theme.Waiting
	}
	line := widget.Line{widget.S("   "+p.say("raft.db")+" ", theme.Dim)}
	if quota > 0 && room > 100 {
		line = append(line, widget.S(widget.Bar(min(m.DBSize, quota), quota, barCells)+" ", style))
	}
	return append(line, widget.S(scene.DatabaseOf(p.f.World, m.Member, p.f.Words), style))
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

// storeFacts are what concerns all members alike: votes, database, history, alarms. Empty in journals that tell of none of it.
func (p *figure) storeFacts() widget.Line {
	s := &p.f.World.Store
	var line widget.Line
	add := func(style grid.Style, text string) {
		if len(line) > 0 {
			line = append(line, widget.S("   ", 0))
		}
		line = append(line, widget.S(text, style))
	}
	if s.Group.Known() {
		text := scene.Arithmetic(p.f.Words, p.f.World.Arithmetic())
		if n := len(p.all) - p.voters; n > 0 {
			text += ", " + p.say("raft.and-learners", "n", n)
		}
		add(theme.Dim, text)
	}
	for i, a := range s.Alarms { // one word for each kind, whoever raised it
		var by []string
		for k, b := range s.Alarms {
			if b.Kind == a.Kind && k < i {
				by = nil
				break
			}
			if b.Kind == a.Kind {
				by = append(by, shortName(b.Member))
			}
		}
		if len(by) > 0 {
			add(theme.Failing, string(grid.Failing)+" "+p.say("raft.alarm", "kind", a.Kind, "member", strings.Join(by, " ")))
		}
	}
	if m, quota, ok := p.f.World.Fullest(); ok {
		style := theme.Dim
		if quota > 0 && m.DBSize > quota {
			style = theme.Failing
		}
		add(style, p.say("raft.db")+" "+scene.DatabaseOf(p.f.World, m, p.f.Words))
	}
	if s.Compacted.Seq != 0 {
		add(theme.Dim, p.say("raft.compacted", "revision", s.Compacted.Revision))
	}
	if n := len(p.out); n > 0 && s.Group.Known() {
		var names []string
		for _, m := range p.out {
			names = append(names, shortName(m.Name))
		}
		add(theme.Dim, p.say("raft.not-members", "members", strings.Join(names, " ")))
	}
	return line
}

// changed says what the last change of members did to the quorum, while that is news.
func (p *figure) changed() []said {
	s := &p.f.World.Store
	step, ok := s.Step()
	if !ok || p.f.Now.Sub(s.Group.At) > news {
		return nil
	}
	names := func(key string, before, after world.Arithmetic) []said {
		list := step.Added
		switch key {
		case "raft.now-promoted":
			list = step.Promoted
		case "raft.now-removed":
			list = step.Removed
		}
		var all []string
		for _, m := range list {
			all = append(all, m.Name)
		}
		text := p.say(key, "member", strings.Join(all, ", "), "step", scene.Step(p.f.Words, world.Step{Before: before, After: after}))
		return []said{{text, theme.Text}}
	}
	switch {
	case len(step.Replaced) > 0:
		m := step.Replaced[0]
		return []said{{p.say("raft.now-replaced", "member", m.Name, "id", m.ID), theme.Text}}
	case len(step.Removed) > 0:
		return names("raft.now-removed", step.Before, step.After)
	case len(step.Promoted) > 0:
		return names("raft.now-promoted", step.Before, step.After)
	case len(step.Added) > 0 && step.After != step.Before:
		return names("raft.now-joined", step.Before, step.After)
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
	args := []any{"member", a.Member, "db", scene.Database(p.f.World, p.f.Words), "command", scene.RemedyOf(p.f.World).Command(p.f.World)}
	key := "raft.now-full-"
	switch scene.RemedyOf(p.f.World) {
	case scene.Compact:
		key += "compact"
	case scene.Defrag:
		key += "defrag"
	case scene.Disarm:
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
		if q := p.f.Scene.Quorum; q.Alive >= q.Need {
			text += " " + p.say("raft.now-anew", "member", a.Subject)
		}
		out = append(out, said{text, theme.Failing})
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
		out = append(out, said{p.say(key, "leader", p.leader.Name, "member", m.Name, "n", n, "gone", runs(p.clock.since(last.wall, last.sim)), "lacks", lacks), theme.Waiting})
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
	line := p.storeFacts()
	if p.f.H >= factsFrom || len(line) == 0 {
		return nil
	}
	text := ""
	for _, s := range line {
		text += s.Text
	}
	return []said{{text, theme.Dim}}
}
