package scene

import (
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/words"
)

// Database is how full the fullest database is: "8.1 MiB of 8.0 MiB"; empty where sizes are not told.
func Database(w *world.World, c *words.Catalogue) string {
	m, _, ok := w.Fullest()
	if !ok {
		return ""
	}
	return DatabaseOf(w, m, c)
}

// DatabaseOf a member. One that is so little over its quota that both read the same says by how much.
func DatabaseOf(w *world.World, m *world.Member, c *words.Catalogue) string {
	size, quota := words.Size(m.DBSize), w.QuotaOf(m)
	switch {
	case quota == 0:
		return c.Say("store.db", "size", size)
	case m.DBSize > quota && size == words.Size(quota):
		return c.Say("store.db-over", "over", words.Size(m.DBSize-quota), "quota", words.Size(quota))
	}
	return c.Say("store.db-of", "size", size, "quota", words.Size(quota))
}

// RescueOrders are the commands of a rescue, as a reader gives them.
func RescueOrders(c *words.Catalogue, r world.Rescue) string {
	if r.From == "" && r.File == "" {
		return c.Say("store.rescue-forget")
	}
	return strings.Join(r.Commands, ", ")
}

// Rescue says that no majority can come back, and the way out.
func Rescue(c *words.Catalogue, r world.Rescue) string {
	args := []any{"members", strings.Join(r.Lost, ", "), "member", r.From, "file", r.File, "commands", RescueOrders(c, r)}
	switch {
	case r.From != "":
		return c.Say("store.rescue", args...)
	case r.File != "":
		return c.Say("store.rescue-file", args...)
	}
	return c.Say("store.rescue-nothing", args...)
}

// Space is how a database stands beside its quota.
type Space int

// The kinds of space. Scarce: more than four fifths are taken.
const (
	Ample Space = iota
	Scarce
	Over
)

// SpaceOf the database of a member.
func SpaceOf(w *world.World, m *world.Member) Space {
	switch quota := w.QuotaOf(m); {
	case quota > 0 && m.DBSize > quota:
		return Over
	case quota > 0 && m.DBSize > quota/5*4:
		return Scarce
	}
	return Ample
}

// DiskWord is the state of a disk in a word or two.
func DiskWord(c *words.Catalogue, d world.Disk) string {
	switch d.State {
	case "":
		return c.Say("store.disk-ok")
	case "slow":
		if d.Delay > 0 {
			return c.Say("store.disk-slow-by", "delay", words.Short(d.Delay))
		}
	}
	if key := "store.disk-" + d.State; c.Has(key) {
		return c.Say(key)
	}
	return c.Say("store.disk-other", "state", d.State)
}

// Arithmetic says what a number of voters comes to.
func Arithmetic(c *words.Catalogue, a world.Arithmetic) string {
	return c.Say("store.arith", "n", a.Voters, "quorum", a.Quorum, "lose", a.MayLose)
}

// Step says what a change of voters does to the quorum: before, an arrow, after.
func Step(c *words.Catalogue, s world.Step) string {
	say := func(key string) string {
		return c.Say(key, "n", s.After.Voters, "quorum", s.After.Quorum, "lose", s.After.MayLose)
	}
	key := "store.arith"
	switch {
	case s.After == s.Before:
		return say("store.arith-same")
	case s.After.Voters > s.Before.Voters && s.After.MayLose == s.Before.MayLose:
		key = "store.arith-still"
	}
	return c.Say("store.step", "before", Arithmetic(c, s.Before), "after", say(key))
}
