package why

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/words"
)

// space answers why the store refuses writes, with the next step that mends it; false: it does not refuse them.
func (q *inquiry) space() bool {
	alarm, on := q.World.Store.Alarm(world.NoSpace)
	if !on {
		return false
	}
	d := q.ask("no-space", "why.q-no-space", Broken)
	d.on(alarm.Seq)
	d.line("why.space-alarm", "member", alarm.Member, "since", q.since(alarm.At))
	if m, quota, ok := q.World.Fullest(); ok && quota > 0 {
		d.line("why.space-sizes", "member", m.Name, "db", scene.DatabaseOf(q.World, m, q.Words), "use", words.Size(m.DBInUse))
	}
	d.line("why.space-effect")
	d.Steps = true
	list := q.World.Remedies()
	if m, quota, ok := q.World.Fullest(); ok && list[0] == world.Raise {
		live, known := q.World.Live()
		if compacted := q.World.Store.Compacted.Seq > alarm.Seq; !known || compacted {
			live = m.DBInUse
		}
		d.line("why.space-still", "use", words.Size(live), "quota", words.Size(quota))
		d.line("why.space-delete")
	}
	for _, r := range list {
		q.remedy(d, r)
	}
	d.Next = q.say("why.space-next")
	d.root(q.causes(alarm.Seq))
	q.add(d)
	return true
}

func (q *inquiry) remedy(d *draft, r world.Remedy) {
	command := r.Command(q.World)
	switch r {
	case world.Compact:
		d.change(command, "why.change-compact")
	case world.Defrag:
		d.change(command, "why.change-defrag")
	case world.Disarm:
		d.change(command, "why.change-disarm")
	default:
		d.change(command, "why.change-quota", "command", command)
	}
}

// member answers about a member's place in the group, its state and its disk.
func (q *inquiry) member(m *world.Member) {
	switch {
	case m.Out:
		q.outside(m)
	case m.Diverged.Seq != 0:
		d := q.ask("diverged", "why.q-diverged", Broken, "host", m.Name)
		d.on(m.Diverged.Seq)
		d.line("why.diverged", "member", m.Name, "index", m.Diverged.Index)
		d.line("why.diverged-how")
		q.anew(d, m)
		q.add(d)
	case m.Learns():
		q.learner(m)
	case m.Muted() && q.World.MemberUp(m):
		d := q.ask("vote", "why.q-no-vote", Waits, "host", m.Name)
		d.on(m.Seq)
		d.line("why.muted", "host", m.Name)
		d.line("why.muted-why")
		d.Next = q.say("why.muted-next")
		q.add(d)
	}
	q.diskOf(m)
}

// outside answers about a master that is no member of the store.
func (q *inquiry) outside(m *world.Member) {
	d := q.ask("vote", "why.q-no-vote", Plain, "host", m.Name)
	if m.JoinedSeq != 0 {
		d.on(m.JoinedSeq)
		d.line("why.member-removed", "member", m.Name, "since", q.since(m.Joined))
		d.root(q.causes(m.JoinedSeq))
	} else {
		d.line("why.member-never", "member", m.Name)
	}
	d.line("why.member-out")
	d.change("member add "+m.Name, "why.change-add", "member", m.Name)
	q.add(d)
}

// learner answers why a member has no vote yet.
func (q *inquiry) learner(m *world.Member) {
	d := q.ask("vote", "why.q-no-vote", Waits, "host", m.Name)
	d.on(m.JoinedSeq)
	d.line("why.learner", "member", m.Name, "since", q.since(m.Joined))
	percent, behind, known := q.World.CaughtUp(m)
	leader, led := q.World.Leader()
	switch {
	case !q.World.MemberUp(m):
		d.line("why.learner-is-down")
		d.change("start "+m.Name, "why.change-start", "what", m.Name)
	case led && !q.World.Reaches(leader.Name, m.Name):
		d.line("why.learner-is-cut", "leader", leader.Name)
		d.change("heal "+m.Name, "why.change-heal", "node", m.Name)
	case known:
		d.line("why.learner-has", "percent", percent, "n", int(behind), "least", world.PromotableAt)
	}
	step := world.Step{Before: q.World.Arithmetic(), After: world.ArithmeticOf(q.World.Arithmetic().Voters + 1)}
	d.line("why.learner-step", "step", scene.Step(q.Words, step))
	if q.World.Promotable(m) {
		d.change("member promote "+m.Name, "why.change-promote", "member", m.Name)
	}
	q.add(d)
}

// rescue adds the way out of a store that can have no majority again; false: it still can.
func (q *inquiry) rescue(d *draft) bool {
	r, lost := q.World.Rescue()
	if !lost {
		return false
	}
	d.line("why.rescue", "members", strings.Join(r.Lost, ", "), "n", len(r.Lost))
	d.Steps = true
	for _, c := range r.Commands {
		act, what, _ := strings.Cut(c, " ")
		switch {
		case act == "backup":
			d.change(c, "why.change-backup", "member", r.From)
		case act == "restore":
			d.change(c, "why.change-restore", "file", what)
		default:
			d.change(c, "why.change-forget-"+act, "member", what)
		}
	}
	return true
}

// anew adds how a member is replaced by one that begins with nothing.
func (q *inquiry) anew(d *draft, m *world.Member) {
	qu := q.Scene.Quorum
	if q.rescue(d) {
		return
	}
	if qu.Raft && qu.Alive < qu.Need { // nobody could agree to it
		d.line("why.anew-later")
		return
	}
	d.change("member replace "+m.Name, "why.change-replace", "member", m.Name)
}

// diskOf answers about the disk of a member that is not sound.
func (q *inquiry) diskOf(m *world.Member) {
	disk := m.Disk
	if disk.Sound() {
		return
	}
	d := q.ask("disk", "why.q-disk", Broken, "host", m.Name)
	d.on(disk.Seq)
	d.line("why.disk-is", "member", m.Name, "state", scene.DiskWord(q.Words, disk), "by", q.by(disk.By), "since", q.since(disk.At))
	if disk.Text != "" {
		d.line("why.disk-found", "text", disk.Text)
	}
	switch {
	case disk.Damaged():
		d.line("why.disk-no-start")
		q.anew(d, m)
	case disk.State == "slow":
		d.Mood = Waits
		d.line("why.disk-slow")
	case disk.State == "flaky":
		d.Mood = Waits
		d.line("why.disk-flaky")
	case q.World.MemberUp(m):
		d.line("why.disk-next-write")
	default:
		d.line("why.disk-no-room")
	}
	if !disk.Damaged() {
		d.change("disk "+m.Name+" ok", "why.change-disk", "member", m.Name)
	}
	d.root(q.causes(disk.Seq))
	q.add(d)
}

// damagedEnd reports that a program of etcd ended because its disk is damaged or its state diverged, so that a start is no help.
func (q *inquiry) damagedEnd(host string) (*world.Member, bool) {
	m, ok := q.World.Members.Get(host)
	if !ok {
		return nil, false
	}
	list, _ := q.World.AnomaliesAt(q.Now, 64)
	for _, a := range list {
		if a.Subject == host && (a.Kind == world.DiskDamaged || a.Kind == world.StateDiverged) {
			return m, true
		}
	}
	return m, false
}

// sprung tells of a failpoint that took a program down.
func (q *inquiry) sprung(d *draft, m *world.Member, stopped event.Seq) {
	if s := m.Sprung; s.Seq != 0 && stopped >= s.Seq && stopped-s.Seq < 64 {
		d.on(s.Seq)
		d.line("why.down-trap", "point", s.Point, "action", s.Action)
	}
}
