package leaderelect

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// tryAcquireOrRenew makes one attempt, which ends by deadline, and reports that the lease is ours now (cg leaderelection.go, the function of that name).
func (c *candidate) tryAcquireOrRenew(p *sim.Proc, deadline time.Time) bool {
	now := p.Now()
	// A leader with a valid lease assumes that nobody touched it and saves the read.
	if c.leads() && c.valid(now) {
		if c.update(p, c.within(p, deadline), c.claim(now)) {
			return true
		}
	}
	lease, err := kubeapi.Fetch[*coordinationv1.Lease](p, c.within(p, deadline), kinds.Leases, c.Namespace, c.Name)
	if apierrors.IsNotFound(err) {
		spec := c.claim(now)
		spec.AcquireTime, spec.LeaseTransitions = microTime(now), ptr[int32](0)
		return c.create(p, c.within(p, deadline), spec)
	}
	if err != nil {
		return false
	}
	c.lease = lease
	if !equality.Semantic.DeepEqual(c.seen, lease.Spec) {
		c.observe(p, lease.Spec)
	}
	holder := holderOf(lease.Spec)
	if holder != "" && c.valid(now) && !c.leads() {
		return false
	}
	spec := c.claim(now)
	if !c.leads() {
		spec.AcquireTime = microTime(now)
		spec.LeaseTransitions = ptr(deref(lease.Spec.LeaseTransitions) + 1)
	}
	if !c.update(p, c.within(p, deadline), spec) {
		return false
	}
	c.displaced = holder
	return true
}

// claim is the record with us as holder, renewed now; when we hold it already it keeps when that began.
func (c *candidate) claim(now time.Time) coordinationv1.LeaseSpec {
	return coordinationv1.LeaseSpec{
		HolderIdentity: &c.identity, LeaseDurationSeconds: ptr(int32(c.LeaseDuration / time.Second)),
		AcquireTime: c.seen.AcquireTime, RenewTime: microTime(now), LeaseTransitions: ptr(deref(c.seen.LeaseTransitions)),
	}
}

// release empties the holder. It reports that the API server took it.
func (c *candidate) release(p *sim.Proc) bool {
	if !c.leads() {
		return false
	}
	now := p.Now()
	none := ""
	return c.update(p, c.client, coordinationv1.LeaseSpec{HolderIdentity: &none, LeaseDurationSeconds: ptr[int32](1),
		AcquireTime: microTime(now), RenewTime: microTime(now), LeaseTransitions: c.seen.LeaseTransitions})
}

func (c *candidate) create(p *sim.Proc, client *kubeapi.Client, spec coordinationv1.LeaseSpec) bool {
	lease, err := kubeapi.Make(p, client, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}, Spec: spec})
	if err != nil {
		return false
	}
	c.lease = lease
	c.observe(p, lease.Spec)
	return true
}

// update replaces the record, on the condition that the lease is as we read it.
func (c *candidate) update(p *sim.Proc, client *kubeapi.Client, spec coordinationv1.LeaseSpec) bool {
	next := c.lease.DeepCopy()
	next.Spec = spec
	lease, err := kubeapi.Replace(p, client, next)
	if err != nil {
		return false
	}
	c.lease = lease
	c.observe(p, lease.Spec)
	return true
}

// observe notes a changed record and when we saw it.
func (c *candidate) observe(p *sim.Proc, spec coordinationv1.LeaseSpec) {
	c.seen, c.observed = spec, p.Now()
	if holder := holderOf(spec); holder != "" && holder != c.identity {
		c.previous = holder
	}
}

func (c *candidate) leads() bool { return holderOf(c.seen) == c.identity }

// valid reports that the record we observed has not run out by our clock.
func (c *candidate) valid(now time.Time) bool {
	return c.observed.Add(time.Duration(deref(c.seen.LeaseDurationSeconds)) * time.Second).After(now)
}

func holderOf(spec coordinationv1.LeaseSpec) string { return deref(spec.HolderIdentity) }

func microTime(t time.Time) *metav1.MicroTime {
	m := metav1.NewMicroTime(t.Truncate(time.Microsecond))
	return &m
}

func ptr[T any](v T) *T { return &v }

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
