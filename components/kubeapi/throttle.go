package kubeapi

import (
	"time"

	"example.com/kubeviz/engine/sim"
)

// Throttle lets requests of clients through at a rate, first come first served, as client-go's flow control does (cg util/flowcontrol). It is what bounds a controller that works on a picture
// that is out of date: what it does is undone at once and done again, as fast as it may ask. Loop only.
type Throttle struct {
	perSecond, burst float64
	// tokens at the instant at; below zero: promised to those that wait.
	tokens float64
	at     time.Time
}

// NewThrottle lets through perSecond requests in the long run, simulated, and burst at once after a rest.
func NewThrottle(perSecond, burst int) *Throttle {
	return &Throttle{perSecond: float64(perSecond), burst: float64(burst), tokens: float64(burst)}
}

// wait parks p until its turn.
func (t *Throttle) wait(p *sim.Proc) {
	if t == nil {
		return
	}
	now := p.Now()
	if !t.at.IsZero() {
		t.tokens = min(t.burst, t.tokens+now.Sub(t.at).Seconds()*t.perSecond)
	}
	t.at = now
	t.tokens--
	if t.tokens < 0 {
		p.Sleep(time.Duration(-t.tokens / t.perSecond * float64(time.Second)))
	}
}
