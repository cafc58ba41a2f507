package describe

import (
	"fmt"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// etcd is a member of the store: its place in the group, its log, its database, its disk, and what concerns all members.
func (r *rows) etcd(f view.Frame, host string) {
	m, ok := f.World.Members.Get(host)
	if !ok {
		return
	}
	r.place(f, m)
	r.raftLog(f, m)
	r.quorum(f)
	r.database(f, m)
	r.memberDisk(f, m)
	r.storeWide(f)
}

// place is what a member is in the group, and what it does there now.
func (r *rows) place(f view.Frame, m *world.Member) {
	say := f.Words.Say
	style, sign := theme.Text, grid.Running
	switch { // the signs of the raft view
	case m.Role == "leader":
		style, sign = theme.Leader, grid.Leader
	case m.Role == "down":
		style, sign = theme.Failing, grid.Failing
	case m.Learns():
		style, sign = theme.Waiting, grid.Starting
	case m.Role == "candidate":
		style, sign = theme.Waiting, grid.Ballot
	}
	r.line("raft", widget.S(string(sign)+" "+sanitize.Text(m.Role), style), widget.S("  "+say("detail.raft-since", "term", m.Term, "since", age(f.Now, m.Since)), theme.Dim)).Seq = m.Seq
	if f.World.Store.Group.Known() {
		text, style := say("detail.voter"), theme.Text
		switch {
		case m.Out:
			text, style = say("detail.no-member"), theme.Waiting
		case m.Learns():
			text, style = say("detail.learner"), theme.Waiting
			if percent, behind, ok := f.World.CaughtUp(m); ok {
				text = say("detail.learner-at", "percent", percent, "n", int(behind))
			}
			if f.World.Promotable(m) {
				text, style = text+", "+say("detail.promotable"), theme.OK
			}
		}
		line := widget.Line{widget.S(text, style)}
		if !m.Out {
			line = append(line, widget.S("  "+say("detail.member-id", "id", m.ID), theme.Dim))
		}
		if !m.Joined.IsZero() {
			line = append(line, widget.S("  "+say("detail.for", "since", age(f.Now, m.Joined)), theme.Dim))
		}
		r.line(say("detail.member"), line...).Seq = m.JoinedSeq
	}
	if m.Leader != "" && m.Leader != m.Name {
		r.field(say("detail.leader"), m.Leader, theme.Title).Target = target.Target{Kind: target.Process, Host: m.Leader, Process: "etcd"}
	}
	if m.Err != "" {
		r.field(say("detail.error"), m.Err, theme.Failing)
	}
	if m.Diverged.Seq != 0 {
		r.line(say("detail.error"), widget.S(string(failing.Symbol)+" "+say("detail.diverged", "index", m.Diverged.Index, "since", age(f.Now, m.Diverged.At)), theme.Failing)).Seq = m.Diverged.Seq
	}
}

func (r *rows) raftLog(f view.Frame, m *world.Member) {
	say := f.Words.Say
	r.line("log", widget.S(say("detail.raft-log", "last", m.LastIndex, "commit", m.CommitIndex, "applied", m.Applied), theme.Text))
	if l, ok := f.World.Leader(); ok && l.LastIndex > m.LastIndex && !m.Out {
		r.line("", widget.S(say("detail.raft-behind", "n", int(l.LastIndex-m.LastIndex)), theme.Waiting))
	}
	if c := m.Cut; c.Seq != 0 {
		text := say("detail.raft-cut", "range", span(c.From, c.To), "since", age(f.Now, c.At))
		if c.By != 0 {
			text = say("detail.raft-overwritten", "range", span(c.From, c.To), "term", c.By, "since", age(f.Now, c.At))
		}
		r.line("", widget.S(text, theme.Waiting)).Seq = c.Seq
	}
	if m.Snapshot > 0 {
		r.line("snapshot", widget.S(say("detail.snapshot", "index", m.Snapshot), theme.Text))
	}
	if in := m.Install; in.Seq != 0 && !in.Done {
		key := "detail.install"
		if in.Of > 0 {
			key = "detail.install-of"
		}
		r.line("", widget.S(say(key, "index", in.Index, "from", in.From, "n", in.Pieces, "of", in.Of), theme.Busy)).Seq = in.Seq
	}
}

// span writes a range of the log: 861 or 861-863.
func span(from, to uint64) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

func (r *rows) quorum(f view.Frame) {
	g := f.World.Majority()
	if g.Total == 0 {
		return
	}
	style := theme.OK
	if len(g.Members) < g.Need {
		style = theme.Failing
	}
	r.line("quorum", widget.S(f.Words.Say("detail.quorum", "have", len(g.Members), "need", g.Need, "total", g.Total, "lose", max(g.CanLose, 0)), style))
}

// database is how much of its quota a member's database takes, and how much of that is in use.
func (r *rows) database(f view.Frame, m *world.Member) {
	say := f.Words.Say
	if m.DBSize == 0 {
		return
	}
	quota := f.World.QuotaOf(m)
	r.title(say("detail.database"))
	style := [...]grid.Style{scene.Ample: theme.OK, scene.Scarce: theme.Waiting, scene.Over: theme.Failing}[scene.SpaceOf(f.World, m)]
	bar := widget.Line{}
	if quota > 0 {
		bar = append(bar, widget.S(widget.Bar(min(m.DBSize, quota), quota, 20)+"  ", style))
	}
	r.line("db", append(bar, widget.S(scene.DatabaseOf(f.World, m, f.Words), theme.Text), widget.S("  "+percent(m.DBSize, quota), theme.Dim))...)
	inUse := widget.Line{widget.S(widget.Bar(m.DBInUse, max(quota, m.DBSize), 20)+"  ", theme.OK), widget.S(words.Size(m.DBInUse), theme.Text)}
	if free := m.DBSize - m.DBInUse; free > 0 {
		inUse = append(inUse, widget.S("  "+say("detail.db-free", "size", words.Size(free)), theme.Dim))
	}
	r.line(say("detail.in-use"), inUse...)
	if m.Size > 0 {
		r.field(say("detail.log-size"), words.Size(m.Size), theme.Text)
	}
}

// memberDisk is the state of a member's disk, and the failpoints that wait for it.
func (r *rows) memberDisk(f view.Frame, m *world.Member) {
	say := f.Words.Say
	r.title(say("detail.disk"))
	switch d := m.Disk; {
	case d.Sound():
		r.line(say("detail.state"), widget.S(string(fine.Symbol)+" "+scene.DiskWord(f.Words, d), theme.OK))
	default:
		st, style := failing, theme.Failing
		if d.Hinders() {
			st, style = starting, theme.Waiting
		}
		r.line(say("detail.state"), widget.S(string(st.Symbol)+" "+scene.DiskWord(f.Words, d), style),
			widget.S("  "+say("detail.fault-by", "who", scene.By(d.By, f.Words), "since", age(f.Now, d.At)), theme.Dim)).Seq = d.Seq
		if d.Text != "" {
			r.field(say("detail.disk-found"), d.Text, theme.Text)
		}
	}
	if m.Aside.Seq != 0 {
		r.line(say("detail.aside"), widget.S(sanitize.Text(m.Aside.Text), theme.Text), widget.S("  "+say("detail.past", "since", age(f.Now, m.Aside.At)), theme.Dim)).Seq = m.Aside.Seq
	}
	for _, t := range m.Traps {
		text := t.Point + ": " + t.Action
		if t.Delay > 0 {
			text += " " + words.Short(t.Delay)
		}
		if t.Skip > 0 {
			text += "  " + say("detail.trap-skip", "n", t.Skip)
		}
		r.field(say("detail.trap"), text, theme.Fault)
	}
	if s := m.Sprung; s.Seq != 0 {
		r.line(say("detail.sprung"), widget.S(sanitize.Text(s.Point+": "+s.Action), theme.Text), widget.S("  "+say("detail.past", "since", age(f.Now, s.At)), theme.Dim)).Seq = s.Seq
	}
}

// storeWide is what concerns all members alike.
func (r *rows) storeWide(f view.Frame) {
	say, s := f.Words.Say, &f.World.Store
	if !s.Group.Known() && s.Compacted.Seq == 0 && len(s.Alarms) == 0 && s.Backup.Seq == 0 && s.Restored.Seq == 0 {
		return
	}
	r.title(say("detail.store"))
	for _, a := range s.Alarms {
		r.line(say("detail.alarm"), widget.S(string(failing.Symbol)+" "+sanitize.Text(a.Kind), theme.Failing),
			widget.S("  "+say("detail.alarm-by", "member", a.Member, "since", age(f.Now, a.At)), theme.Dim)).Seq = a.Seq
	}
	if s.Group.Known() {
		row := r.line(say("detail.members"), widget.S(scene.Arithmetic(f.Words, f.World.Arithmetic()), theme.Text))
		row.Seq = s.Group.Seq
		if n := len(f.World.Learners()); n > 0 {
			row.Line = append(row.Line, widget.S("  "+say("detail.learners", "n", n), theme.Waiting))
		}
	}
	if c := s.Compacted; c.Seq != 0 {
		r.line(say("detail.compacted"), widget.S(say("detail.compacted-to", "revision", c.Revision, "since", age(f.Now, c.At)), theme.Text)).Seq = c.Seq
	}
	if s.Leases > 0 {
		r.field(say("detail.store-leases"), fmt.Sprint(s.Leases), theme.Text)
	}
	if b := s.Backup; b.Seq != 0 {
		r.line(say("detail.backup"), widget.S(say("detail.backup-is", "file", b.File, "revision", b.Revision, "since", age(f.Now, b.At)), theme.Text)).Seq = b.Seq
	}
	if b := s.Restored; b.Seq != 0 {
		r.line(say("detail.restored"), widget.S(say("detail.backup-is", "file", b.File, "revision", b.Revision, "since", age(f.Now, b.At)), theme.Waiting)).Seq = b.Seq
	}
}
