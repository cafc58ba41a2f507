package peer

import (
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/planted"
)

// gapless keeps the log one unbroken run. A snapshot that a leader sends may reach beyond the end of the log; raft then leaves the old entries where they are (TrailingLogs of them) and
// goes on behind the snapshot. What is left may never have been committed, and a later leader would send it to others; and it makes a hole, which looks like damage. So where entries do
// not follow on the log, what it holds goes first: the snapshot stands for it.
type gapless struct {
	raft.LogStore
	// last index stored; touched by raft's main loop only.
	last  uint64
	known bool
}

func (g *gapless) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	if !g.known {
		last, err := g.LastIndex()
		if err != nil {
			return err
		}
		g.last, g.known = last, true
	}
	if g.last > 0 && logs[0].Index > g.last+1 && !planted.Is(planted.DirtyGap) {
		first, err := g.FirstIndex()
		if err != nil {
			return err
		}
		last, err := g.LastIndex()
		if err != nil {
			return err
		}
		if last > 0 {
			if err := g.DeleteRange(first, last); err != nil {
				return err
			}
		}
	}
	if err := g.LogStore.StoreLogs(logs); err != nil {
		return err
	}
	g.last = logs[len(logs)-1].Index
	return nil
}

func (g *gapless) StoreLog(l *raft.Log) error { return g.StoreLogs([]*raft.Log{l}) }
