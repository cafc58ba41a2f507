package peer

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// idleHold is how long an append that says nothing new is held back.
const idleHold = 40 * time.Millisecond

// news lets the senders of appends sleep until the leader has something to say.
//
// Raft sends every follower an empty append each CommitTimeout, so that it hears of commits. A short timeout wakes the processor hundreds of times
// a second for nothing, a long one makes followers slow. So the timeout is short, and the transport holds an append back as long as it
// has no entries and a commit index the follower has confirmed already: until the log or the commit index moves, or idleHold is over.
type news struct {
	mu sync.Mutex
	c  chan struct{} // closed at the next news; nil when nobody waits
}

// wait returns a channel that is closed at the next news.
func (n *news) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c == nil {
		n.c = make(chan struct{})
	}
	return n.c
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c != nil {
		close(n.c)
		n.c = nil
	}
}

// confirmed is what a follower has last confirmed.
type confirmed struct{ term, prev, commit uint64 }

// holdIdle delays an append with nothing to say, and then brings its commit index up to date.
func (t *Transport) holdIdle(id string, a *raft.AppendEntriesRequest) {
	have, _ := t.confirmed.Load(id)
	if len(a.Entries) > 0 || have != (confirmed{a.Term, a.PrevLogEntry, a.LeaderCommitIndex}) {
		return
	}
	c := t.news.wait()
	if last, commit := t.position(); last == a.PrevLogEntry && commit == a.LeaderCommitIndex {
		timer := time.NewTimer(idleHold)
		defer timer.Stop()
		select {
		case <-c:
		case <-timer.C:
		case <-t.closed:
		}
	}
	// Not beyond the entry this append asks the follower to match: what follows there may be another leader's.
	_, commit := t.position()
	a.LeaderCommitIndex = max(a.LeaderCommitIndex, min(commit, a.PrevLogEntry))
}
