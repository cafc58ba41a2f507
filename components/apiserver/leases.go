package apiserver

import (
	"context"
	"time"

	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// A write of a kind that lives for a time hangs on a lease of the store. Leases cost the store something, so writes share one whose end is near enough (k/k staging/src/k8s.io/apiserver/
// pkg/storage/etcd3/lease_manager.go): at most leaseReuse, or that part of the life, too late. With an hour of life an object lives for an hour and up to one minute.
const (
	leaseReuse        = 60 * time.Second
	leaseReusePercent = 5
	// leaseObjects is how many writes share a lease at most, whether they succeeded or not.
	leaseObjects = 1000
)

// leaseManager keeps the newest lease of one server. Loop only.
type leaseManager struct {
	door    *door
	id      mvcc.LeaseID
	ends    time.Time
	objects int
	// asking: somebody is getting a new one, and others wait for that.
	asking bool
	got    sim.Cond
}

// lease gives a lease that ends ttl from now or a little later; 0 when ttl is.
func (l *leaseManager) lease(p *sim.Proc, ttl time.Duration, deadline time.Time) (mvcc.LeaseID, error) {
	if ttl == 0 {
		return 0, nil
	}
	for l.asking {
		if !l.got.WaitFor(p, max(deadline.Sub(p.Now()), 0)) && l.asking {
			return 0, deadlineError()
		}
	}
	late := min(ttl*leaseReusePercent/100, leaseReuse).Truncate(time.Second)
	end := p.Now().Add(ttl)
	l.objects++
	if l.id != 0 && end.Before(l.ends) && !end.Add(late).Before(l.ends) && l.objects <= leaseObjects {
		return l.id, nil
	}
	l.asking = true
	defer func() { l.asking = false; l.got.Broadcast() }()
	granted, err := l.door.grant(p, ttl+late, deadline)
	if err != nil {
		return 0, err
	}
	l.id, l.ends, l.objects = granted, end.Add(late), 1
	return l.id, nil
}

// grant asks the store for a lease. The error is an answer for the client.
func (d *door) grant(p *sim.Proc, ttl time.Duration, deadline time.Time) (mvcc.LeaseID, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var f sim.Future[raftstore.Lease]
	d.store.GrantLease(ctx, ttl, sim.Resolver(d.loop, &f))
	l, err := answer(p, &f, deadline)
	if err == nil && l.Err != nil {
		err = storeError(l.Err)
	}
	if err != nil {
		return 0, err
	}
	return l.ID, nil
}
