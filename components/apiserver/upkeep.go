package apiserver

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
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

// ensureNamespace creates a namespace unless it exists, trying until it works.
func (s *Server) ensureNamespace(p *sim.Proc, name string) {
	for {
		res, err := s.door.read(p, mvcc.Range{Key: kinds.Namespaces.Key("", name), KeysOnly: true}, p.Now().Add(requestTimeout))
		if err == nil && res.Count > 0 {
			return
		}
		if err == nil {
			resp := s.Serve(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Namespaces, Name: name, User: loopback, Manager: "kube-apiserver", From: s.proc.Addr,
				Cause: s.proc.Cause, Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}})
			if resp.Err == nil || apierrors.IsAlreadyExists(resp.Err) {
				return
			}
		}
		p.Sleep(time.Second)
	}
}

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

// Life of Event objects (STO-21) and how often expired ones are cleared away.
const (
	eventTTL     = time.Hour
	expiryPeriod = 10 * time.Second
	expiryBatch  = 100
)

// expiryQueue holds Events by the time they expire. An Event that was written again has a later entry; the earlier one is skipped.
type expiryQueue struct{ due []expiringEvent }

type expiringEvent struct {
	key      string
	revision string
	at       time.Time
}

// add takes an Event written now.
func (q *expiryQueue) add(key string, obj kinds.Object, now time.Time) {
	q.due = append(q.due, expiringEvent{key, obj.GetResourceVersion(), now.Add(eventTTL)})
}

// reset takes all Events found at a start, whose last write is only known from what they say.
func (q *expiryQueue) reset(c *kindCache) {
	q.due = q.due[:0]
	c.items.Scan(func(key string, obj kinds.Object) bool {
		e := obj.(*corev1.Event)
		at := e.CreationTimestamp.Time
		if e.LastTimestamp.After(at) {
			at = e.LastTimestamp.Time
		}
		q.due = append(q.due, expiringEvent{key, obj.GetResourceVersion(), at.Add(eventTTL)})
		return true
	})
	slices.SortStableFunc(q.due, func(a, b expiringEvent) int { return a.at.Compare(b.at) })
}

// expireEvents deletes Events whose time is up, straight in the store, as a lease of etcd does. Every server does it; the transaction lets one win.
func (s *Server) expireEvents(p *sim.Proc) {
	p.Sleep(time.Duration(p.Rand().Int64N(int64(expiryPeriod))))
	for {
		p.Sleep(expiryPeriod)
		q := &s.expiry
		for n := 0; n < expiryBatch && len(q.due) > 0 && !q.due[0].at.After(p.Now()); n++ {
			e := q.due[0]
			q.due = q.due[1:]
			obj, ok := s.cache.kinds[kinds.Events].items.Get(e.key)
			if !ok || obj.GetResourceVersion() != e.revision {
				continue
			}
			rev := revisionOf(obj)
			_, err := s.door.txn(p, mvcc.Txn{If: []mvcc.Compare{{Key: e.key, Target: mvcc.ModRevision, Value: rev}}, Then: []mvcc.Op{{Delete: true, Key: e.key}}},
				p.Now().Add(requestTimeout))
			if err != nil {
				q.due = append([]expiringEvent{e}, q.due...)
				break
			}
		}
	}
}

// compactPeriod is how often history is dropped, and how old it must be (API-15).
const compactPeriod = 5 * time.Minute

// compact drops what was history one period ago, unless another server did so meanwhile.
func (s *Server) compact(p *sim.Proc) {
	var revision, compacted int64
	for {
		p.Sleep(compactPeriod)
		st := s.cfg.Store.Status()
		if st.Compacted == compacted && revision > compacted {
			ctx, cancel := context.WithCancel(context.Background())
			var f sim.Future[raftstore.Written]
			s.cfg.Store.Compact(ctx, revision, sim.Resolver(p.Loop(), &f))
			f.AwaitFor(p, writeTimeout) // a failure is tried again, with a newer revision, next time
			cancel()
			st = s.cfg.Store.Status()
		}
		revision, compacted = s.cache.revision, st.Compacted
	}
}
