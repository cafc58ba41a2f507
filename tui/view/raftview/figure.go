package raftview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
)

// figure is what a frame shows of the group, with what the view has selected. It is made for one frame.
type figure struct {
	f     view.Frame
	v     View
	clock clock
	// all members of the group in order, those that are none (any more), and those shown: Trouble folds members that are well, and who is no member is shown only for a
	// while after it was removed, or selected.
	all, out, shown []*member
	// without: how many of those shown have no row left.
	without int
	// voters: how many of all have a vote. committed is the newest entry that any of them says is committed.
	voters    int
	committed uint64
	leader    *world.Member
	sent      []message
}

// member with what the world around it says.
type member struct {
	*world.Member
	info *scene.MasterInfo
	// runs: its program is up. leads: the group follows it; claims: it only thinks so.
	runs, leads, claims, muted bool
	// differs is the first entry that the leader's log has not, or no majority where nobody leads; 0: none.
	differs uint64
}

func (v View) figure(f view.Frame) *figure {
	p := &figure{f: f, v: v, clock: clockOf(f)}
	p.leader, _ = f.World.Leader()
	for i := range f.Scene.Masters {
		p.join(&f.Scene.Masters[i])
	}
	f.World.Members.Scan(func(name string, m *world.Member) bool {
		if p.member(name) == nil && !m.Out { // on no machine of ours
			p.join(&scene.MasterInfo{Machine: scene.Machine{Name: name, Up: true}, Member: m})
		}
		return true
	})
	for _, m := range p.all {
		p.complete(m)
		if m.Votes() {
			p.committed = max(p.committed, m.CommitIndex)
		}
	}
	for _, m := range p.all {
		m.differs = p.differs(m)
		if !v.trouble || !p.well(m) || m.Name == v.member {
			p.shown = append(p.shown, m)
		}
	}
	for _, m := range p.out {
		if m.Name == v.member || m.JoinedSeq != 0 && f.Now.Sub(m.Joined) < news {
			p.shown = append(p.shown, m)
		}
	}
	p.sent = p.messages()
	return p
}

// join takes in the member on a master.
func (p *figure) join(info *scene.MasterInfo) {
	if info.Member == nil {
		return
	}
	seen := *info.Member
	m := &member{Member: &seen, info: info, runs: p.f.World.MemberUp(info.Member), leads: info.Leads, muted: info.Muted()}
	m.claims = m.runs && m.Role == "leader" && !m.leads
	if m.Out {
		p.out = append(p.out, m)
		return
	}
	p.all = append(p.all, m)
	if m.Votes() {
		p.voters++
	}
}

// news is for how long, simulated, a change of members is told of as what has just been.
const news = time.Minute

func (p *figure) say(key string, args ...any) string { return p.f.Words.Say(key, args...) }

func (p *figure) member(name string) *member {
	for _, list := range [2][]*member{p.all, p.out} {
		for _, m := range list {
			if m.Name == name {
				return m
			}
		}
	}
	return nil
}

// complete adds what a member has told to be committed but not yet to be stored: a committed entry is the same in every log.
func (p *figure) complete(m *member) {
	next := m.LastIndex + 1
	if n := len(m.Runs); n > 0 {
		next = m.Runs[n-1].To + 1
	}
	own := true // the runs are the World's
	for i := max(next, m.LastIndex-min(m.LastIndex, reach)); i <= m.LastIndex && i <= m.CommitIndex; i++ {
		term := uint64(0)
		for _, o := range p.all {
			if t := o.TermAt(i); t != 0 && i <= o.CommitIndex && o.Role != "learner" {
				term = t
			}
		}
		if term == 0 {
			return
		}
		if own {
			m.Runs, own = slices.Clone(m.Runs), false
		}
		if n := len(m.Runs); n > 0 && m.Runs[n-1].To+1 == i && m.Runs[n-1].Term == term {
			m.Runs[n-1].To = i
		} else {
			m.Runs = append(m.Runs, world.Run{From: i, To: i, Term: term})
		}
	}
}

// holders counts the members with a vote whose log has the entry of that index and term.
func (p *figure) holders(index, term uint64) int {
	n := 0
	for _, m := range p.all {
		if term != 0 && m.TermAt(index) == term && m.Votes() {
			n++
		}
	}
	return n
}

// untold: a member may have the entry although that is not told yet. Committed entries are held by a majority; when fewer are known to hold one, others do too, and
// until it is told which, it can be each that runs and is reached; where those are too few, each of them all.
func (p *figure) untold(m *member, index uint64) bool {
	if index > p.committed || index <= m.LastIndex || !m.Votes() {
		return false
	}
	near := func(m *member) bool { return m.runs && (p.leader == nil || p.f.World.Reaches(p.leader.Name, m.Name)) }
	holders, can, need := 0, 0, p.f.Scene.Quorum.Need
	for _, o := range p.all {
		switch {
		case !o.Votes():
		case o.TermAt(index) != 0 && index <= o.CommitIndex:
			holders = p.holders(index, o.TermAt(index))
		case near(o) && index > o.LastIndex:
			can++
		}
	}
	return holders > 0 && holders < need && (near(m) || holders+can < need)
}

// differs is where the member's log parts from the leader's; without a leader, where it goes on alone.
func (p *figure) differs(m *member) uint64 {
	if p.leader != nil {
		at := p.f.World.Divergence(m.Member)
		if at != 0 && at <= m.CommitIndex { // what is committed is the same in every log: where it is not known, it does not differ
			return p.beyond(m)
		}
		return at
	}
	need := p.f.Scene.Quorum.Need
	last := m.LastIndex
	for n := 0; n < reach && last > m.CommitIndex && last > 0; n, last = n+1, last-1 {
		t := m.TermAt(last)
		if t == 0 || p.holders(last, t) >= need {
			break
		}
	}
	if last < m.LastIndex {
		return last + 1
	}
	return 0
}

// beyond is the first entry after what a member has committed that the leader is known to have in another term.
func (p *figure) beyond(m *member) uint64 {
	for i := m.CommitIndex + 1; i <= m.LastIndex && i <= m.CommitIndex+reach; i++ {
		if t, l := m.TermAt(i), p.leader.TermAt(i); t != 0 && l != 0 && t != l {
			return i
		}
	}
	return 0
}

func (p *figure) well(m *member) bool {
	if m.Out {
		return true
	}
	return m.runs && m.Disk.Sound() && m.Diverged.Seq == 0 && !p.refuses(m) && !m.muted && !m.claims && m.Role != "candidate" && !m.Silent && m.Leader != "" && m.differs == 0 && len(m.info.CutFrom) == 0
}

// state is a member's sign, what it is, and how that is drawn.
func (p *figure) state(m *member) (sign rune, word string, style grid.Style) {
	switch {
	case m.Out:
		return grid.Waiting, p.say("raft.outside"), theme.Dim
	case m.Diverged.Seq != 0:
		return grid.Failing, p.say("raft.diverged"), theme.Failing
	case !m.runs && m.Disk.Damaged():
		return grid.Failing, p.say("raft.down-damaged"), theme.Failing
	case !m.runs:
		return grid.Failing, p.say("raft.down"), theme.Failing
	case m.Learns() && p.f.World.Promotable(m.Member):
		return grid.Starting, p.say("raft.learner"), theme.OK
	case m.Learns():
		return grid.Starting, p.say("raft.learner"), theme.Waiting
	case m.leads:
		return grid.Leader, p.say("raft.leader"), theme.Leader
	case m.muted:
		return grid.Starting, p.say("raft.muted"), theme.Waiting
	case m.claims:
		return grid.Unknown, p.say("raft.claims"), theme.Unknown
	case m.stands() && m.Round.Kind == "vote":
		return grid.Ballot, p.say("raft.candidate"), theme.Waiting
	case m.stands():
		return grid.Ballot, p.say("raft.pre-candidate"), theme.Waiting
	case m.Silent || m.Leader == "":
		return grid.Starting, p.say("raft.follower-alone"), theme.Waiting
	}
	return grid.Running, p.say("raft.follower"), theme.OK
}

// stands: it is a candidate, and has not voted for another since.
func (m *member) stands() bool {
	return m.Role == "candidate" && (m.VotedFor == m.Name || m.VoteTerm <= m.Term || m.VoteTerm < m.Round.Term)
}

// term is the newest that it is known to be in.
func (m *member) term() uint64 { return max(m.Term, m.VoteTerm) }

// vote is whom it voted for in its term.
func (p *figure) vote(m *member) string {
	switch {
	case m.VotedFor == "" || m.VoteTerm < m.Term:
		return ""
	case m.VotedFor == m.Name:
		return p.say("raft.voted-itself")
	}
	return p.say("raft.voted", "for", m.VotedFor)
}

// role is the member's line in words, without its name.
func (p *figure) role(m *member) string {
	_, word, _ := p.state(m)
	parts := []string{word, "t" + fmt.Sprint(m.term())}
	if v := p.vote(m); v != "" {
		parts = append(parts, v)
	}
	parts = append(parts, p.learning(m)...)
	parts = append(parts, p.badges(m)...)
	if m.runs && !m.leads && m.Leader != "" && m.Role == "follower" && !m.Silent {
		parts = append(parts, p.say("raft.follows", "leader", m.Leader))
	}
	if m.Out {
		return strings.Join(append(parts[:1], p.removed(m)...), "   ")
	}
	if !m.runs {
		parts = append(parts, p.fallen(m))
	} else if c := m.info.CutFrom; len(c) > 0 {
		parts = append(parts, fmt.Sprintf("%c %s", grid.CutMark, p.say("raft.cut", "from", strings.Join(c, " "))))
	}
	return strings.Join(parts, "   ")
}

// fallen says since when a member is down and by whom.
func (p *figure) fallen(m *member) string {
	since, by := m.Since, event.Actor("")
	if !m.info.Up {
		since, by = m.info.Since, m.info.By
	} else if m.info.Host != nil {
		if pr, ok := m.info.Host.Processes["etcd"]; ok && !pr.Up {
			since, by = pr.Since, pr.By
		}
	}
	age := p.f.Now.Sub(since)
	switch {
	case m.Err != "" && m.Disk.Sound(): // what is wrong with a disk is told beside it
		return p.say("raft.failed", "error", firstLine(m.Err))
	case scene.ByUser(by):
		return p.say("raft.down-by-you", "since", age)
	}
	return p.say("raft.down-since", "since", age)
}

func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }

// holds says what an entry writes, short: "pod/nginx-x +2". An entry without a description gives "".
func (p *figure) holds(e world.Entry) string {
	switch e.Kind {
	case "":
	case "noop":
		return p.say("raft.noop")
	case "configuration":
		return p.say("raft.configuration")
	case "compaction":
		return p.say("raft.compaction")
	default:
		return p.say("raft.mark")
	}
	if len(e.Writes) == 0 {
		return ""
	}
	w := e.Writes[0]
	text := object(w.Object, false)
	if w.Delete {
		text = p.say("raft.delete", "what", text)
	}
	if more := len(e.Writes) - 1 + e.More; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	if e.Refused.Refused > 0 {
		return p.say("raft.refused-short", "what", text)
	}
	return p.say("raft.text", "text", text)
}

// turnedDown says what became of an entry that changed nothing, or not all that it asks for; empty: all of it was done.
func (p *figure) turnedDown(e world.Entry) string {
	r := e.Refused
	key := "raft.refused"
	switch {
	case r.Refused == 0:
		return ""
	case r.Why == "compare":
		key = "raft.refused-compare"
	case r.Why == "unchanged":
		key = "raft.refused-unchanged"
	}
	text := p.say(key, "why", sanitize.Text(r.Why))
	if r.Refused < r.All {
		return p.say("raft.refused-some", "n", r.Refused, "all", r.All, "what", text)
	}
	return text
}

// object names what is written: "pod/nginx-x", in full "pod default/nginx-x".
func object(r kinds.ObjectRef, full bool) string {
	k, ok := kinds.Named(r.Resource)
	switch {
	case !ok:
		return r.Name
	case full:
		return k.Singular + " " + r.String()
	}
	return k.Singular + "/" + r.Name
}

// writes names what an entry writes, with namespaces.
func (p *figure) writes(e world.Entry) []string {
	var all []string
	for _, w := range e.Writes {
		name := object(w.Object, true)
		if w.Delete {
			name = p.say("raft.delete", "what", name)
		}
		all = append(all, name)
	}
	return all
}

// entryLine is an entry in full, for copying and searching.
func (p *figure) entryLine(m *member, index uint64) string {
	e, ok := p.f.World.EntryOf(m.Member, index)
	if !ok {
		return p.say("raft.entry-unknown", "index", index, "term", m.TermAt(index))
	}
	what := p.holds(e)
	if all := p.writes(e); len(all) > 0 {
		if e.More > 0 {
			all = append(all, fmt.Sprintf("+%d", e.More))
		}
		what = strings.Join(all, ", ")
	}
	if why := p.turnedDown(e); why != "" {
		what += "; " + why
	}
	return p.say("raft.entry-line", "index", index, "term", e.Term, "what", what)
}

// memberLine is a member in one line, for copying.
func (p *figure) memberLine(m *member) string {
	return p.say("raft.member-line", "name", m.Name, "role", strings.ReplaceAll(p.role(m), "   ", ", "), "last", m.LastIndex, "commit", m.CommitIndex, "applied", m.Applied)
}

// recordOf is the record that tells what became of an entry: the change of an object that it carried, else the one that said what it holds.
func (p *figure) recordOf(m *member, index uint64) event.Seq {
	if m == nil {
		return 0
	}
	e, ok := p.f.World.EntryOf(m.Member, index)
	if !ok {
		return 0
	}
	for _, w := range e.Writes {
		k, known := kinds.Named(w.Object.Resource)
		if !known {
			continue
		}
		all := p.f.About(target.ForObject(k, w.Object.Namespace, w.Object.Name))
		for n := 0; n < 200 && n < len(all); n++ {
			if r, ok := p.f.Record(all[len(all)-1-n]); ok {
				if c, ok := r.Event.(event.ObjectChanged); ok && c.Index == index && c.Term == e.Term {
					return r.Seq
				}
			}
		}
	}
	return e.Seq
}
