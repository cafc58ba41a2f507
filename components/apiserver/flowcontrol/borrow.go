package flowcontrol

import (
	"math"
	"time"
)

// adjustEvery is how often seats are lent anew, and decay what is left in one such time of how far a former demand stood above the present one (as the real controller's
// borrowingAdjustmentPeriod and seatDemandSmoothingCoefficient).
const (
	adjustEvery = 10 * time.Second
	decay       = 0.977
)

// demand for seats in a period: its average, deviation and peak, weighted with time.
type demand struct {
	since, last time.Time
	now         float64
	sum, square float64
	peak        float64
	smooth      float64
}

func newDemand(now time.Time) demand { return demand{since: now, last: now} }

// change notes that so many seats are wanted or taken from now on.
func (d *demand) change(now time.Time, seats int) {
	d.flow(now)
	d.now = float64(seats)
	d.peak = max(d.peak, d.now)
}

func (d *demand) flow(now time.Time) {
	passed := now.Sub(d.last).Seconds()
	d.last = now
	d.sum += d.now * passed
	d.square += d.now * d.now * passed
}

// settle ends a period: the demand to reckon with rises at once and falls slowly.
func (d *demand) settle(now time.Time) (peak float64) {
	d.flow(now)
	long := now.Sub(d.since).Seconds()
	average, deviation := d.now, 0.0
	if long > 0 {
		average = d.sum / long
		deviation = math.Sqrt(max(0, d.square/long-average*average))
	}
	envelope := min(average+deviation, d.peak)
	periods := max(1, long/adjustEvery.Seconds())
	left := math.Pow(decay, periods)
	d.smooth = max(envelope, left*d.smooth+(1-left)*envelope)
	peak = d.peak
	d.since, d.sum, d.square, d.peak = now, 0, 0, d.now
	return peak
}

// borrow shares the seats out anew when it is time: each level keeps what it must not lend and, of the rest, what it needed at its peak up to its nominal seats; what is left goes to
// all in proportion to their demand.
func (c *Controller) borrow(now time.Time) {
	if now.Before(c.adjust) {
		return
	}
	c.adjust = now.Add(adjustEvery)
	all := 0
	least, target := make([]float64, len(c.order)), make([]float64, len(c.order))
	for i, s := range c.order {
		all += s.nominal
		peak := s.demand.settle(now)
		keeps := float64(s.nominal - s.nominal*s.level.lendable/100)
		least[i] = max(keeps, min(float64(s.nominal), peak))
		target[i] = max(keeps, s.demand.smooth, 1)
	}
	share := fairShare(float64(all), least, target)
	for i, s := range c.order {
		s.advance(now)
		s.limit = int(math.Round(max(least[i], share*target[i])))
		s.dispatch(now)
	}
}

// fairShare is the factor of the targets at which they, but no less than least, sum up to all.
func fairShare(all float64, least, target []float64) float64 {
	low, high := 0.0, all
	for range 60 {
		mid := (low + high) / 2
		sum := 0.0
		for i := range target {
			sum += max(least[i], mid*target[i])
		}
		if sum > all {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}
