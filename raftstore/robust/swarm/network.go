package swarm

import (
	"math/rand/v2"
	"sync"
	"time"

	"example.com/kubeviz/raftstore"
)

// link is one direction between two members.
type link struct{ from, to string }

// network is the faults between members.
type network struct {
	mu   sync.Mutex
	rand *rand.Rand
	cut  map[link]bool
	// silent members neither send nor hear.
	silent map[string]bool
	// clogged links let no piece of a snapshot through but the first, and no answer to one.
	clogged         map[link]bool
	loss, duplicate float64
	delay, spread   time.Duration
}

func newNetwork(seed uint64) *network {
	n := &network{rand: rand.New(rand.NewPCG(seed, 0x11e7))}
	n.heal()
	return n
}

// heal makes everything pass at once.
func (n *network) heal() {
	n.change(func() {
		n.cut, n.silent, n.clogged = make(map[link]bool), make(map[string]bool), make(map[link]bool)
		n.loss, n.duplicate, n.delay, n.spread = 0, 0, 0, 0
	})
}

func (n *network) change(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

// Verdict makes network a raftstore.Network.
func (n *network) Verdict(p raftstore.Packet) raftstore.Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := link{p.From, p.To}
	if n.silent[p.From] || n.silent[p.To] || n.cut[l] || n.loss > 0 && n.rand.Float64() < n.loss {
		return raftstore.Verdict{Drop: true}
	}
	if p.Kind == "snapshot" && n.clogged[l] && (p.Piece > 0 || p.Reply) {
		return raftstore.Verdict{Drop: true}
	}
	v := raftstore.Verdict{Delay: n.delay}
	if n.spread > 0 {
		v.Delay += time.Duration(n.rand.Int64N(int64(n.spread)))
	}
	if n.duplicate > 0 && n.rand.Float64() < n.duplicate {
		v.Copies = 1 + n.rand.IntN(2)
	}
	return v
}

func (n *network) isSilent(member string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.silent[member]
}
