package tui

import (
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/timebar"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/words"
)

// rates on offer, simulated seconds per second.
var rates = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60}

// pace acts on time: on that of the cluster when live, else on the reader's place.
func (m *model) pace(i intent.Intent, f view.Frame) {
	switch i := i.(type) {
	case intent.TogglePause, intent.Faster:
		if m.reader.Live() {
			m.paceCluster(i, f)
		} else {
			m.paceReader(i)
		}
	case intent.Step:
		m.step(i.By, f)
	case intent.Scrub:
		bar := m.timebar()
		step := max(bar.Step(m.w), time.Second)
		m.seek(m.reader.Now().Add(time.Duration(i.By) * step))
	case intent.Mark:
		m.toMark(i.By)
	case intent.At:
		m.seek(i.Time)
	case intent.ToSeq:
		if r, ok := f.Journal.Get(i.Seq); !ok {
			m.say(m.words.Say("not.forgotten", "seq", uint64(i.Seq)), theme.Waiting)
			return
		} else if m.reader.Live() && r.Seq >= m.reader.Head().Seq {
			return
		}
		m.reader.SeekSeq(i.Seq)
	case intent.Live:
		m.reader.GoLive()
	case intent.Until:
		m.overlay = m.until()
	case intent.Await:
		m.await(i.What)
	case intent.Slow:
		m.slow(i)
	}
	m.pump(true)
}

// await lets the cluster's time run until something happens, or goes there in the past.
func (m *model) await(what string) {
	if m.reader.Live() {
		m.do(command.Until{What: what})
		return
	}
	wait := event.NewAwait(what, m.reader.Now())
	if !m.reader.Await(func(r event.Record) bool { return wait.Heard(r) || wait.Calm(r.At) }) {
		m.say(m.words.Say("not.never", "what", what), theme.Waiting)
	}
}

// paceCluster holds the cluster's time, lets it run, or changes its speed.
func (m *model) paceCluster(i intent.Intent, f view.Frame) {
	paused := f.Rate == 0 && !f.Unpaced
	by, speed := i.(intent.Faster)
	switch {
	case !speed && paused:
		m.do(command.Resume{})
	case !speed:
		m.do(command.Pause{})
	case paused:
		m.say(m.words.Say("not.speed-paused"), theme.Waiting)
	default:
		now := f.Rate
		if m.orders.rate != 0 && m.orders.rate != now { // keys come faster than answers
			now = m.orders.rate
		}
		m.orders.rate = ladder(now, by.By)
		m.do(command.Speed{Rate: m.orders.rate})
	}
}

// paceReader plays the place, holds it still, or changes how fast it goes.
func (m *model) paceReader(i intent.Intent) {
	by, speed := i.(intent.Faster)
	switch {
	case !speed:
		m.reader.Toggle()
	case m.reader.Slow() > 0:
		factor := m.reader.Slow()
		if by.By > 0 {
			factor /= 10
		} else {
			factor *= 10
		}
		if factor < 1 {
			m.reader.Play(1)
			return
		}
		m.reader.SetSlow(min(factor, 1000))
	case m.reader.Rate() == 0:
		m.say(m.words.Say("not.speed-paused"), theme.Waiting)
	default:
		m.reader.Play(ladder(m.reader.Rate(), by.By))
	}
}

// step goes on to the next thing that happens, or back to the one before.
func (m *model) step(by int, f view.Frame) {
	if m.reader.Live() && by > 0 {
		if f.Rate != 0 || f.Unpaced {
			m.say(m.words.Say("not.step-running"), theme.Waiting)
			return
		}
		m.do(command.Step{Count: 1})
		return
	}
	if !m.reader.Step(by) {
		if by > 0 && m.cluster != nil {
			m.reader.GoLive()
			return
		}
		m.say(m.words.Say("not.no-step"), theme.Waiting)
	}
}

// seek goes to an instant.
func (m *model) seek(at time.Time) { m.reader.Seek(at) }

// toMark goes to the next or previous mark; beyond the last one is the present.
func (m *model) toMark(by int) {
	k, ok := m.sources.marks.Near(m.reader.World().Seq, by)
	switch {
	case ok:
		m.reader.SeekSeq(k.Seq)
		m.say(m.words.Say("toast.mark", "word", k.Word, "at", words.Span(k.At.Sub(m.reader.World().Start))), theme.Accent)
	case by > 0 && !m.reader.Live():
		m.reader.GoLive()
	default:
		m.say(m.words.Say("not.no-mark"), theme.Waiting)
	}
}

// slow plays a stretch again by its wall time; asked for again, slower, and at last as fast as at first.
func (m *model) slow(i intent.Slow) {
	factor := i.Factor
	if factor <= 0 {
		factor = 10
	}
	if !m.reader.Crawl(i.From, i.To, min(max(factor, 1), 1000)) {
		m.say(m.words.Say("not.no-election"), theme.Waiting)
	}
}

// ladder is the next rate up or down.
func ladder(now float64, by int) float64 {
	if by > 0 {
		for _, r := range rates {
			if r > now+1e-9 {
				return r
			}
		}
		return rates[len(rates)-1]
	}
	for i := len(rates) - 1; i >= 0; i-- {
		if rates[i] < now-1e-9 {
			return rates[i]
		}
	}
	return rates[0]
}

// timebar is the line of time as it is now.
func (m *model) timebar() *timebar.Bar {
	first, last := m.reader.Bounds()
	w := m.reader.World()
	return &timebar.Bar{First: first, Last: last, At: m.reader.Now(), Start: w.Start, Live: m.reader.Live(), Recording: m.cluster == nil, Marks: m.sources.marks.All(), Words: m.words}
}
