package apiserver

import (
	"context"
	"strconv"
	"time"

	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// compactPeriod is how often history is dropped, and how old it is then at least (API-15). compactRevKey holds the newest revision that was, and its version counts how often: it is the clock by
// which servers know that another was faster (k/k staging/src/k8s.io/apiserver/pkg/storage/etcd3/compact.go).
const (
	compactPeriod = 5 * time.Minute
	compactRevKey = "compact_rev_key"
)

// compactor is what one server knows of the compactions of all: how many there were, and the revision of the store when it looked.
type compactor struct {
	times    int64
	revision int64
}

// compact drops, once a period, what was history one period ago, unless another server was faster. When that one ends the next takes over, after five to ten minutes.
func (s *Server) compact(p *sim.Proc) {
	var c compactor
	for {
		p.Sleep(compactPeriod)
		c = s.compactOnce(p, c)
	}
}

// compactOnce looks whether the clock stands where c last saw it. If so it moves the clock on and compacts to the revision it saw then; else it notes where the clock and the store are now.
// What fails is tried in the next period.
func (s *Server) compactOnce(p *sim.Proc, c compactor) compactor {
	r, err := s.door.txn(p, mvcc.Txn{
		If:   []mvcc.Compare{{Key: compactRevKey, Target: mvcc.Version, Value: c.times}},
		Then: []mvcc.Op{{Key: compactRevKey, Value: strconv.AppendInt(nil, c.revision, 10)}},
		Read: []string{compactRevKey},
	}, p.Now().Add(requestTimeout))
	if err != nil {
		return c
	}
	to := c.revision
	c.revision = r.Revision
	if !r.Succeeded {
		c.times = 0
		if len(r.Read) > 0 { // none: the store forgot everything
			c.times = r.Read[0].Version
		}
		return c
	}
	c.times++
	if to == 0 {
		return c // at its start a server does not know how old anything is
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var f sim.Future[raftstore.Written]
	s.cfg.Store.Compact(ctx, to, sim.Resolver(p.Loop(), &f))
	f.AwaitFor(p, writeTimeout)
	return c
}
