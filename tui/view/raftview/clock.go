package raftview

import (
	"time"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/words"
)

// clock is the instant that is shown, by the wall as the records have it. In journals without wall times simulated time stands for it, divided by the rate.
type clock struct {
	wall, sim time.Time
	rate      float64
}

func clockOf(f view.Frame) clock {
	w := f.World
	c := clock{wall: w.Wall, sim: f.Now, rate: w.Rate}
	if c.rate <= 0 {
		c.rate = 1
	}
	if w.Wall.IsZero() {
		return c
	}
	if !f.RecordedWall.IsZero() {
		c.wall = f.RecordedWall
		return c
	}
	ahead := max(f.Now.Sub(w.At), 0)
	if f.Live {
		if f.Wall.After(w.Wall) && f.Wall.Sub(w.Wall) < time.Minute {
			c.wall = f.Wall
		}
		return c
	}
	c.wall = w.Wall.Add(time.Duration(float64(ahead) / c.rate))
	if f.Journal == nil {
		return c
	}
	if next, ok := f.Journal.Get(w.Seq + 1); ok && !next.Wall.IsZero() { // only how far time has come towards it
		if span := next.At.Sub(w.At); span > 0 {
			share := min(float64(ahead)/float64(span), 1)
			c.wall = w.Wall.Add(time.Duration(share * float64(next.Wall.Sub(w.Wall))))
		} else {
			c.wall = w.Wall
		}
	}
	return c
}

// since is the wall time that has passed since an instant, given by the wall and, for journals without, in simulated time.
func (c clock) since(wall, sim time.Time) time.Duration {
	if !wall.IsZero() && !c.wall.IsZero() {
		return max(c.wall.Sub(wall), 0)
	}
	if sim.IsZero() {
		return 0
	}
	return max(time.Duration(float64(c.sim.Sub(sim))/c.rate), 0)
}

// real marks a span of real time. All times of the screen are simulated; where those are others than real ones, each line of raft's own timers says once that it is
// real. A clock that stands, or runs as fast as it can, keeps no step with real time either.
func (p *figure) real(text string) string {
	if p.f.World.Rate == 1 && !p.f.World.Unpaced {
		return text
	}
	return p.say("raft.real", "text", text)
}

// gap is how long there was no leader, simulated, and by the wall where that is something else.
func (p *figure) gap(e world.Election) string {
	sim, wall := short(e.Virtual), short(p.wallGap(e))
	if sim == wall || (e.Virtual-p.wallGap(e)).Abs() < e.Virtual/20 {
		return sim
	}
	return p.say("raft.gap", "sim", sim, "real", p.say("raft.real", "text", wall))
}

// short writes a span of wall time: 40ms, 1.3s.
func short(d time.Duration) string { return words.Short(d) }

// runs writes a span that is running, in tenths of a second, so that it does not flicker: 0.4s, 12s.
func runs(d time.Duration) string {
	d = max(d, 0).Truncate(100 * time.Millisecond)
	if d < time.Second {
		return "0." + string(rune('0'+int(d/(100*time.Millisecond)))) + "s"
	}
	return words.Short(d)
}
