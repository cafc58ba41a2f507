package apiserver

import (
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Health check of the store (fidelity API-25): a quorum read, 2 s at most.
const (
	healthKey     = "/registry/health"
	healthTimeout = 2 * time.Second
	healthPeriod  = time.Second
)

func (s *Server) checkStore(p *sim.Proc) {
	for {
		res, ok := s.door.once(p, raftstore.RangeRequest{Range: mvcc.Range{Key: healthKey}}, healthTimeout)
		s.storeOK = ok && res.Err == nil
		p.Sleep(healthPeriod)
	}
}

// systemNamespaces exist in every cluster (k/k pkg/controlplane/controller/systemnamespaces).
var systemNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", "default"}

// loopback is the server's own identity.
var loopback = kubeapi.User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}

// tally counts answered requests between two reports.
type tally struct {
	total  int
	byCode map[int]int
}

const tallyPeriod = time.Second

func (s *Server) reportTally(p *sim.Proc) {
	for {
		p.Sleep(tallyPeriod)
		s.reportStalled(p.Now())
		if s.tally.total == 0 {
			continue
		}
		s.emit(s.proc.Cause, event.RequestTally{Server: s.proc.Addr.Host, Total: s.tally.total, ByCode: s.tally.byCode, Watches: s.cache.open()})
		s.tally = tally{byCode: map[int]int{}}
	}
}
