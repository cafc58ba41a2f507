package sentence

import (
	"fmt"

	"example.com/kubeviz/engine/event"
)

// raftLog tells what happened to a member's log. Entries come and go all the time and stay hidden; what was given up, and whom a member no longer hears, is worth a word.
func (t *Teller) raftLog(e event.Event) Sentence {
	s := Sentence{Who: "raft", Tone: Quiet}
	switch e := e.(type) {
	case event.RaftTiming:
		s.One = t.words.Say("story.raft-timing", "least", e.Heartbeat.String(), "most", (2 * e.Heartbeat).String())
	case event.RaftContact:
		key := "story.raft-heard"
		if e.Lost {
			key, s.Weight, s.Tone = "story.raft-silent", Routine, Warn
		}
		s.One, s.Fold = t.words.Say(key, "member", e.Member, "leader", e.Leader), key+e.Member
	case event.RaftAppended:
		key := "story.raft-stored"
		if e.Opened {
			key = "story.raft-opened"
		}
		s.One = t.words.Say(key, "member", e.Member, "range", span(e.From, e.To), "term", e.Term)
	case event.RaftTruncated:
		s.Weight, s.Tone = Notable, Warn
		s.One = t.words.Say("story.raft-cut", "member", e.Member, "range", span(e.From, e.To))
		if e.Wiped {
			s.Weight, s.One = Routine, t.words.Say("story.raft-wiped", "member", e.Member)
		}
	case event.RaftSnapshot:
		key := "story.raft-snapshot"
		if e.Installed {
			key, s.Weight, s.Tone = "story.raft-installed", Routine, Plain
		}
		s.One = t.words.Say(key, "member", e.Member, "index", e.Index)
	}
	return s
}

// span writes a range of the log: 861 or 861-863.
func span(from, to uint64) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}
