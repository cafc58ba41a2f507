package peer

import (
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// aheadMax is how many appends may be on their way to a follower ahead of the leader's own disk.
const aheadMax = 4

// ahead sends the entries that a leader is about to force to its disk to the followers at the same time (Ongaro's thesis, 10.2.1). Raft here sends them only
// when its own disk has answered, which makes every write wait for two disks, one after the other. Raft still sends them then, and takes only that
// answer into account; the follower has the entries by now and answers at once. So nothing about commitment changes: a message is sent earlier that a
// leader may send at any time. Raft counts a follower from its own appends alone, which begin when its disk has answered, so what is committed is on the leader's disk as well. And a leader
// that loses what it sent ahead, because its power or its disk fails, never gives the same index of the same term to other entries: it does not lead in that term again.
//
// It is worth its messages only where disks are slow, that is, where they are synced. A follower is sent something ahead only as long as it follows
// without a gap; one that did not take it waits for raft to find out where it is.
//
// Goroutines: raft's own calls store and confirm; the messages have one each.
type ahead struct {
	mu sync.Mutex
	// lastIndex and lastTerm are of the newest entry stored.
	lastIndex, lastTerm uint64
	followers           map[raft.ServerID]*aheadOf
	// most is how many entries a follower may be ahead of what raft here knows of it: as many as raft itself sends at once.
	most uint64
}

// aheadOf is how far one follower is.
type aheadOf struct {
	address raft.ServerAddress
	header  raft.RPCHeader
	term    uint64
	// known is the index up to which raft knows that it has everything, sent up to which it has it or is being sent it; 0: not known.
	known, sent uint64
	flying      int
}

// confirm takes notice of an append that a follower has taken from raft itself.
func (a *ahead) confirm(id raft.ServerID, address raft.ServerAddress, args *raft.AppendEntriesRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.followers[id]
	if f == nil || f.term != args.Term || f.address != address {
		if a.followers == nil {
			a.followers = make(map[raft.ServerID]*aheadOf)
		}
		f = &aheadOf{address: address, header: args.RPCHeader, term: args.Term}
		a.followers[id] = f
	}
	f.known = max(f.known, args.PrevLogEntry+uint64(len(args.Entries)))
	f.sent = max(f.sent, f.known)
}

// refused takes notice that a follower did not take what it was sent.
func (a *ahead) refused(f *aheadOf) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f.sent = 0
}

// next tells which followers can take the entries, which this member is about to store, and what to send them. The entries count as sent.
func (a *ahead) next(logs []*raft.Log, leads bool) (to map[raft.ServerID]*aheadOf, prevTerm uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, last := logs[0], logs[len(logs)-1]
	prevIndex, prevTerm := a.lastIndex, a.lastTerm
	a.lastIndex, a.lastTerm = last.Index, last.Term
	if !leads || prevIndex == 0 || first.Index != prevIndex+1 || first.Term != last.Term {
		return nil, 0
	}
	for id, f := range a.followers {
		if f.term != last.Term || f.sent != prevIndex || f.flying == aheadMax || last.Index-f.known > a.most {
			continue
		}
		if to == nil {
			to = make(map[raft.ServerID]*aheadOf)
		}
		f.sent = last.Index
		f.flying++
		to[id] = f
	}
	return to, prevTerm
}

// sendAhead is called before entries are stored. It does not wait.
func (t *Transport) sendAhead(logs []*raft.Log) {
	select {
	case <-t.ready:
	default:
		return
	}
	if len(logs) == 0 {
		return
	}
	to, prevTerm := t.ahead.next(logs, t.leads(logs[0].Term))
	if len(to) == 0 {
		return
	}
	_, commit := t.position()
	args := &raft.AppendEntriesRequest{Term: logs[0].Term, PrevLogEntry: logs[0].Index - 1, PrevLogTerm: prevTerm, Entries: logs, LeaderCommitIndex: commit}
	args = copyAppend(args) // raft goes on with its own
	for id, f := range to {
		go t.sendOneAhead(id, f, args)
	}
}

func (t *Transport) sendOneAhead(id raft.ServerID, f *aheadOf, args *raft.AppendEntriesRequest) {
	if t.recover != nil {
		defer t.recover("send ahead")
	}
	now := *args
	now.RPCHeader = f.header
	last := args.Entries[len(args.Entries)-1]
	c := call{kind: "append", id: id, to: string(f.address), term: args.Term, entries: len(args.Entries), commit: args.LeaderCommitIndex, lastIndex: last.Index, lastTerm: last.Term}
	taken := false
	err := t.do(&c, nil, func() any { return copyAppend(&now) }, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.AppendEntriesResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		taken = r.Success
		return r.Term, r.Success, nil
	})
	if err != nil || !taken {
		t.ahead.refused(f)
	}
	t.ahead.mu.Lock()
	f.flying--
	t.ahead.mu.Unlock()
}
