package reconcile

import (
	"time"

	"example.com/kubeviz/components/kubeapi"
)

// ExpectationsTimeout is when a controller stops waiting for its own writes to come back (k/k pkg/controller: ExpectationsTimeout).
const ExpectationsTimeout = 5 * time.Minute

// Expectations remember creations and deletions that a controller made and has not seen in its informer yet, per key, so that it does not act twice on a stale picture.
type Expectations struct{ by map[kubeapi.Key]*expectation }

type expectation struct {
	creations int
	deletions map[kubeapi.Key]bool
	since     time.Time
}

// NewExpectations makes an empty set.
func NewExpectations() *Expectations { return &Expectations{by: map[kubeapi.Key]*expectation{}} }

// Satisfied reports that everything expected for key was seen, or that waiting for it has timed out.
func (e *Expectations) Satisfied(key kubeapi.Key, now time.Time) bool {
	x := e.by[key]
	return x == nil || (x.creations <= 0 && len(x.deletions) == 0) || now.Sub(x.since) > ExpectationsTimeout
}

// Expect starts waiting for creations and for the deletion of the named objects.
func (e *Expectations) Expect(key kubeapi.Key, now time.Time, creations int, deletions ...kubeapi.Key) {
	x := &expectation{creations: creations, deletions: map[kubeapi.Key]bool{}, since: now}
	for _, d := range deletions {
		x.deletions[d] = true
	}
	e.by[key] = x
}

// Created says that one creation was seen, or will not come.
func (e *Expectations) Created(key kubeapi.Key) {
	if x := e.by[key]; x != nil {
		x.creations--
	}
}

// Deleted says that a deletion was seen, or will not come.
func (e *Expectations) Deleted(key, object kubeapi.Key) {
	if x := e.by[key]; x != nil {
		delete(x.deletions, object)
	}
}

// Forget drops what is expected for key.
func (e *Expectations) Forget(key kubeapi.Key) { delete(e.by, key) }
