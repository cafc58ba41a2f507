package kubelet

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Back-off of restarts and pulls (k/k pkg/kubelet/kubelet.go: MaxCrashLoopBackOff, initial back-off).
const (
	backoffMin = 10 * time.Second
	backoffMax = 5 * time.Minute
)

// backoffs are delays that double per pod and subject (a container, an image), as client-go's flowcontrol.Backoff keeps them.
type backoffs struct {
	by map[types.UID]map[string]*backoffEntry
}

type backoffEntry struct {
	delay   time.Duration
	updated time.Time
}

func newBackoffs() backoffs { return backoffs{by: map[types.UID]map[string]*backoffEntry{}} }

// left is how long of the delay remains when it counts from since; 0: none. A delay not touched for twice the maximum before since is void: that is why a
// container that ran for 10 minutes starts afresh.
func (b backoffs) left(pod types.UID, subject string, since, now time.Time) (remaining, delay time.Duration) {
	e := b.by[pod][subject]
	if e == nil || e.expired(since) {
		return 0, 0
	}
	return max(0, since.Add(e.delay).Sub(now)), e.delay
}

// update is when the delay was set last.
func (b backoffs) update(pod types.UID, subject string) time.Time {
	if e := b.by[pod][subject]; e != nil {
		return e.updated
	}
	return time.Time{}
}

// next sets or doubles the delay after something that happened at the instant at.
func (b backoffs) next(pod types.UID, subject string, at, now time.Time) {
	m := b.by[pod]
	if m == nil {
		m = map[string]*backoffEntry{}
		b.by[pod] = m
	}
	e := m[subject]
	if e == nil || e.expired(at) {
		m[subject] = &backoffEntry{delay: backoffMin, updated: now}
		return
	}
	e.delay, e.updated = min(2*e.delay, backoffMax), now
}

func (b backoffs) forget(pod types.UID) { delete(b.by, pod) }

func (e *backoffEntry) expired(at time.Time) bool { return at.Sub(e.updated) > 2*backoffMax }
