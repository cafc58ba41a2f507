package sentence

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/words"
)

// members tells what a configuration of the store changed: beside the one before, which the World has, or the Teller remembers.
func (t *Teller) members(r event.Record, e event.MembersChanged, w *world.World) Sentence {
	before, step := t.step(r, e, w)
	s := Sentence{Who: "store", Weight: Headline, Tone: Lead, Mark: Order, MarkWord: "members", TouchesStore: w != nil}
	arith := scene.Arithmetic(t.words, step.After)
	switch {
	case !before.Known():
		s.Weight, s.Tone, s.Mark = Routine, Quiet, NoMark
		s.One = t.words.Say("story.members-first", "members", memberNames(e.Members), "arith", arith)
	case len(step.Replaced) > 1: // a store that begins anew
		s.One = t.words.Say("story.members-replaced", "member", memberNames(step.Replaced), "arith", arith)
	case len(step.Replaced) > 0:
		m := step.Replaced[0]
		s.One = t.words.Say("story.member-replaced", "member", m.Name, "id", m.ID)
	case len(step.Removed) > 0:
		s.One, s.Tone = t.words.Say("story.member-removed", "member", memberNames(step.Removed), "arith", arith), Warn
	case len(step.Promoted) > 0:
		s.One, s.Tone = t.words.Say("story.member-promoted", "member", memberNames(step.Promoted), "arith", arith), Good
	case len(step.Added) > 0 && step.Added[0].Learner:
		s.One = t.words.Say("story.member-learns", "member", memberNames(step.Added))
	case len(step.Added) > 0:
		s.One = t.words.Say("story.member-joins", "member", memberNames(step.Added), "arith", arith)
	default: // the same as before
		s.Weight, s.Tone, s.Mark, s.TouchesStore = Hidden, Quiet, NoMark, false
		s.One = t.words.Say("story.members-first", "members", memberNames(e.Members), "arith", arith)
	}
	return s
}

// step is what a configuration changed in the one before.
func (t *Teller) step(r event.Record, e event.MembersChanged, w *world.World) (before world.Group, step world.Step) {
	if before = t.group; w != nil && w.Store.Group.Seq == r.Seq {
		before = w.Store.Before
	}
	return before, world.StepOf(before, world.Group{Members: e.Members, Seq: r.Seq})
}

// reconfigured is the member that a configuration is about; empty: it is about several, or none.
func (t *Teller) reconfigured(r event.Record, e event.MembersChanged, w *world.World) string {
	before, step := t.step(r, e, w)
	list := slices.Concat(step.Removed, step.Promoted, step.Replaced, step.Added)
	if !before.Known() || len(list) != 1 {
		return ""
	}
	return list[0].Name
}

func memberNames(list []event.StoreMember) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// store tells of the store as a whole: space, alarms, history, backups.
func (t *Teller) store(e event.Event) Sentence {
	say := t.words.Say
	s := Sentence{Who: "store", Weight: Notable, Tone: Plain}
	switch e := e.(type) {
	case event.StoreCompacted:
		s.Weight, s.Tone, s.Fold = Routine, Quiet, "compacted"
		s.One = say("story.store-compacted", "revision", e.Revision)
	case event.StoreDefragmented:
		s.Tone, s.One = Good, say("story.store-defragmented", "member", e.Member, "freed", words.Size(e.Before-e.After), "after", words.Size(e.After))
	case event.StoreAlarm:
		return t.alarm(e)
	case event.StoreLease:
		s.Weight, s.Tone = Hidden, Quiet
		switch e.Change {
		case "granted":
			s.One = say("story.store-lease", "id", e.ID, "ttl", words.Span(e.TTL))
		case "expired":
			s.One = say("story.store-lease-expired", "id", e.ID, "n", e.Keys)
		default:
			s.One = say("story.store-lease-revoked", "id", e.ID, "n", e.Keys)
		}
	case event.StoreQuota:
		s.One = say("story.store-quota", "size", words.Size(e.Bytes))
	case event.StoreBackedUp:
		s.Tone, s.One = Good, say("story.store-backed-up", "member", e.Member, "revision", e.Revision, "file", e.File, "n", e.Keys, "size", words.Size(e.Bytes))
	case event.StoreRestored:
		s.Weight, s.Tone, s.Mark, s.MarkWord = Headline, Warn, Break, "restore"
		s.One = say("story.store-restored", "file", e.File, "revision", e.Revision, "restored", e.Restored, "n", e.Keys)
	case event.StoreDiverged:
		s.Weight, s.Tone, s.Mark, s.MarkWord, s.TouchesStore = Headline, Bad, Trouble, e.Member, true
		s.One = say("story.store-diverged", "member", e.Member, "index", e.Index)
	}
	return s
}

func (t *Teller) alarm(e event.StoreAlarm) Sentence {
	s := Sentence{Who: "store", Weight: Headline, Tone: Bad, Mark: Trouble, MarkWord: e.Kind}
	key := "story.store-alarm"
	switch e.Kind {
	case world.NoSpace:
		key = "story.store-nospace"
	case world.Corrupt:
		key = "story.store-corrupt"
	}
	if !e.Raised {
		key, s.Tone, s.Mark = "story.store-alarm-off", Good, NoMark
		if e.Kind == world.NoSpace {
			key = "story.store-nospace-off"
		}
	}
	s.One = t.words.Say(key, "kind", e.Kind, "member", e.Member)
	return s
}

// disk tells of a member's disk and of failpoints.
func (t *Teller) disk(e event.Event) Sentence {
	say := t.words.Say
	s := Sentence{Who: "disk", Weight: Headline, Tone: Warn}
	switch e := e.(type) {
	case event.DiskChanged:
		d := world.Disk{State: e.State, Delay: e.Delay}
		s.Mark, s.MarkWord = Break, e.Member
		switch {
		case e.State == "ok" || e.State == "":
			s.Tone, s.Mark, s.One = Good, NoMark, say("story.disk-ok", "member", e.Member)
		case d.Damaged():
			s.Tone, s.One = Bad, say("story.disk-bad", "member", e.Member, "what", scene.DiskWord(t.words, d), "text", after(e.Text))
		default:
			s.One = say("story.disk-bad", "member", e.Member, "what", scene.DiskWord(t.words, d), "text", after(e.Text))
		}
	case event.DiskSetAside:
		s.Weight = Notable
		s.One = say("story.disk-aside", "member", e.Member, "text", after(e.Text))
	case event.TrapSet:
		s.Who, s.Weight, s.Tone = "failpoint", Notable, Plain
		switch {
		case e.Point != "":
			s.One = say("story.trap-set", "member", e.Member, "point", e.Point, "action", e.Action)
		case e.Member != "":
			s.One = say("story.trap-clear", "member", e.Member)
		default:
			s.One = say("story.trap-clear-all")
		}
	case event.TrapSprung:
		s.Who, s.Tone, s.Mark, s.MarkWord = "failpoint", Bad, Break, e.Member
		s.One = say("story.trap-sprung", "member", e.Member, "point", e.Point, "action", e.Action)
	}
	return s
}

// after puts what was found behind a sentence, where something is told.
func after(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}
