package scheduler

import (
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// callsMax bounds the API calls in flight.
const callsMax = 256

// calls makes API calls beside the scheduling cycle: many at a time, one at a time for each pod, in order. A status patch that waits gives way to a newer call for
// the same pod, so that an old refusal never overwrites a binding (k/k pkg/scheduler/backend/api_dispatcher).
type calls struct {
	proc    *kubeapi.Process
	running map[kubeapi.Key]bool
	next    map[kubeapi.Key]call // waits for the running call of the same pod
	waiting []call
	count   int
}

type call struct {
	key   kubeapi.Key
	what  string
	cause event.Seq
	do    func(p *sim.Proc)
}

func newCalls(pr *kubeapi.Process) *calls {
	return &calls{proc: pr, running: map[kubeapi.Key]bool{}, next: map[kubeapi.Key]call{}}
}

// add makes a call with p's cause as soon as it can. do parks.
func (c *calls) add(p *sim.Proc, key kubeapi.Key, what string, do func(p *sim.Proc)) {
	k := call{key: key, what: what, cause: p.Cause, do: do}
	switch {
	case c.running[key]:
		c.next[key] = k
	case c.count >= callsMax:
		for i := range c.waiting {
			if c.waiting[i].key == key {
				c.waiting[i] = k
				return
			}
		}
		c.waiting = append(c.waiting, k)
	default:
		c.start(k)
	}
}

func (c *calls) start(k call) {
	c.running[k.key] = true
	c.count++
	p := c.proc.Go(k.what, func(p *sim.Proc) {
		for {
			p.Cause = k.cause
			k.do(p)
			delete(c.running, k.key)
			var ok bool
			if k, ok = c.following(k.key); !ok {
				c.count--
				return
			}
			c.running[k.key] = true
		}
	})
	p.Cause = k.cause
}

// following is the call to make after one of key: the next of the same pod, else the one that waits longest.
func (c *calls) following(key kubeapi.Key) (call, bool) {
	if k, ok := c.next[key]; ok {
		delete(c.next, key)
		return k, true
	}
	if len(c.waiting) == 0 {
		return call{}, false
	}
	k := c.waiting[0]
	c.waiting = c.waiting[1:]
	return k, true
}
