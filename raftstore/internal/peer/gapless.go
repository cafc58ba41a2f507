package peer

import (
	"errors"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/planted"
)

// gapless keeps the log one unbroken run. A snapshot that a leader sends may reach beyond the end of the log; raft then leaves the old entries where they are (TrailingLogs of them) and
// goes on behind the snapshot. What is left may never have been committed, and a later leader would send it to others; and it makes a hole, which looks like damage. So where entries do
// not follow on the log, what it holds goes first: the snapshot stands for it.
type gapless struct {
	raft.LogStore
	snapshots raft.SnapshotStore // nil: there are none
	// last index stored; touched by raft's main loop only.
	last  uint64
	known bool
	// first is where the log begins, for the transport, which looks at every request; 0: it is empty, or nobody knows yet.
	first atomic.Uint64
}

// look notes where the log begins.
func (g *gapless) look() {
	first, _ := g.FirstIndex() // an error has failed the member already
	g.first.Store(first)
}

func (g *gapless) DeleteRange(from, to uint64) error {
	defer g.look()
	return g.LogStore.DeleteRange(from, to)
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
	if g.first.Load() == 0 {
		g.look()
	}
	return nil
}

func (g *gapless) StoreLog(l *raft.Log) error { return g.StoreLogs([]*raft.Log{l}) }

// GetLog knows one entry more than the log holds: the last that the newest snapshot stands for. A follower whose log begins right behind its snapshot could otherwise not tell a new leader,
// whose own log ends with that very entry, that the two agree there; it would be sent the snapshot again and again, without a pause. Nobody ever asks for what is in that entry: to send
// it a leader needs the one before.
func (g *gapless) GetLog(index uint64, l *raft.Log) error {
	err := g.LogStore.GetLog(index, l)
	if !errors.Is(err, raft.ErrLogNotFound) || g.snapshots == nil || index < 2 {
		return err
	}
	snaps, listErr := g.snapshots.List()
	if listErr != nil || len(snaps) == 0 || snaps[0].Index != index {
		return err
	}
	*l = raft.Log{Index: index, Term: snaps[0].Term, Type: raft.LogNoop}
	return nil
}

// overtake takes out of a request what this member's snapshot stands for already, where its log does not reach back as far as the request does. All of that is committed, so the leader has
// the same. Raft would turn such a request down, because it cannot look up what comes before its entries; the leader would go back to its own older snapshot, which is nothing new here, and
// go on behind that with the same request: for ever, without a pause. It comes to that when a leader does not know what a member has: answers were lost, or a member has since got more.
func (g *gapless) overtake(a *raft.AppendEntriesRequest) {
	if a.PrevLogEntry == 0 && len(a.Entries) == 0 || g.snapshots == nil {
		return // a heartbeat
	}
	if first := g.first.Load(); first != 0 && a.PrevLogEntry >= first {
		return
	}
	snaps, err := g.snapshots.List()
	if err != nil || len(snaps) == 0 || snaps[0].Index <= a.PrevLogEntry {
		return
	}
	a.PrevLogEntry, a.PrevLogTerm = snaps[0].Index, snaps[0].Term
	for len(a.Entries) > 0 && a.Entries[0].Index <= a.PrevLogEntry {
		a.Entries = a.Entries[1:]
	}
}
