package timeline

import (
	"sort"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// Spacing of checkpoints in records. 8,192 records fold in about 20 ms.
const (
	everyMin = 256
	everyMax = 8192
)

// memoryBudget is what all checkpoints together may hold that would not be held without them, in bytes, by the estimate of cost.
const memoryBudget = 64 << 20

// What a checkpoint holds by itself: tree nodes on the way to what changed, and an entry for each thing that changed. Measured on made-up journals.
const (
	costFixed = 24 << 10
	costEntry = 250
)

// checkpoint is the World at a record.
type checkpoint struct {
	world world.World
	cost  int
}

// checkpoints in order of their records.
type checkpoints struct {
	list  []*checkpoint
	every int
	cost  int
}

// due reports whether a checkpoint is to be made at seq.
func (c *checkpoints) due(seq event.Seq) bool {
	if len(c.list) == 0 {
		return true
	}
	return seq-c.list[len(c.list)-1].world.Seq >= event.Seq(max(c.every, everyMin))
}

// add puts a clone of w at the end. first is the oldest record that is still in memory.
func (c *checkpoints) add(w *world.World, first event.Seq) {
	c.every = max(c.every, everyMin)
	c.list = append(c.list, &checkpoint{world: w.Clone()})
	c.price(len(c.list) - 1)
	for c.cost > memoryBudget && c.thin(first) {
	}
}

// price estimates what checkpoint i holds that its forerunner does not.
func (c *checkpoints) price(i int) {
	m := c.list[i]
	changed := int(m.world.Seq)
	if i > 0 {
		changed = int(m.world.Seq - c.list[i-1].world.Seq)
	}
	entries := m.world.Objects.Len() + m.world.Running.Len() + m.world.Leases.Len() + m.world.Queues.Len()
	c.cost -= m.cost
	m.cost = costFixed + costEntry*min(changed, entries)
	c.cost += m.cost
}

// thin drops every second checkpoint: first among those older than the records in memory, then among all, which doubles the spacing. It reports false when
// nothing may be dropped.
func (c *checkpoints) thin(first event.Seq) bool {
	old := sort.Search(len(c.list), func(i int) bool { return c.list[i].world.Seq >= first })
	switch {
	case old > 2:
		c.halve(old)
	case c.every < everyMax:
		c.every *= 2
		c.halve(len(c.list))
	case old > 1:
		c.drop(0)
	default:
		return false
	}
	return true
}

// halve drops every second of the first n; the last of them stays.
func (c *checkpoints) halve(n int) {
	kept := c.list[:0]
	for i, m := range c.list {
		if i < n-1 && i%2 == 1 {
			continue
		}
		kept = append(kept, m)
	}
	clear(c.list[len(kept):])
	c.list = kept
	c.cost = 0
	for i, m := range c.list {
		m.cost = 0
		c.price(i)
	}
}

func (c *checkpoints) drop(i int) {
	c.cost -= c.list[i].cost
	c.list = append(c.list[:i], c.list[i+1:]...)
}

// before is the last checkpoint at or before a record.
func (c *checkpoints) before(seq event.Seq) (*checkpoint, bool) {
	i := sort.Search(len(c.list), func(i int) bool { return c.list[i].world.Seq > seq })
	if i == 0 {
		return nil, false
	}
	return c.list[i-1], true
}

// near is before, or the oldest.
func (c *checkpoints) near(seq event.Seq) (*checkpoint, bool) {
	if m, ok := c.before(seq); ok {
		return m, true
	}
	return c.oldest()
}

// atTime is the last checkpoint at or before an instant.
func (c *checkpoints) atTime(at time.Time) (*checkpoint, bool) {
	i := sort.Search(len(c.list), func(i int) bool { return c.list[i].world.At.After(at) })
	if i == 0 {
		return nil, false
	}
	return c.list[i-1], true
}

func (c *checkpoints) oldest() (*checkpoint, bool) {
	if len(c.list) == 0 {
		return nil, false
	}
	return c.list[0], true
}
