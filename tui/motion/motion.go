// Package motion holds the messages that travel on the screen: each mark is one real message of the journal, shown for a while along its lane; where there are too
// many of them, the lane has a rate instead.
//
// It reads each record once, as it is folded. What it remembers is bounded: a few marks a lane, some hundred lanes.
//
// Imports of ours: engine/event. Goroutines: the screen's one. Time: wall time decides how long a mark is seen, simulated time what a rate is.
package motion

import (
	"time"

	"example.com/kubeviz/engine/event"
)

// Figures of what is seen.
const (
	// Shown is how long a mark travels; wall.
	Shown = 450 * time.Millisecond
	// Crowd is how many marks a lane shows at once; with more of them it shows its rate.
	Crowd = 3
	// Glow is how long a container that has just started is brighter; wall.
	Glow = 900 * time.Millisecond

	lanesMax  = 768
	glowsMax  = 256
	peopleMax = 32 // clients with a name of their own; the others are one
	rateSpan  = 10 // seconds, simulated, that a rate looks back

	// What was read at one instant of wall time, but happened longer before the last of it than this (simulated), is history and does not travel.
	historyAfter = 5 * time.Second
)

// batch is what was read at one instant of wall time: its last simulated instant.
type batch struct{ wall, end time.Time }

// Kind of a lane.
type Kind uint8

// The kinds, with what From and To are.
const (
	// Ask: a client's request on its way to the balancer; From is the client ("you", "kubelet", "scheduler" …).
	Ask Kind = iota
	// Serve: the balancer hands a request to an API server; To is its host.
	Serve
	// Call: a component's request; From is "scheduler", "controller-manager" or the host of a kubelet.
	Call
	// Watch: the API tells of a change; To is as From of Call.
	Watch
	// Raft: a message between members of the store. From is empty for entries that To has taken into its log: they come from the leader.
	Raft
)

// Lane between two ends. An empty end stands for all.
type Lane struct {
	Kind     Kind
	From, To string
}

// Sign of a mark.
type Sign uint8

// The signs.
const (
	Request Sign = iota // →
	Answer              // ←
	Change              // ▶
	Append              // •
	Vote                // ◇
	Granted             // ◆
	Refused             // × also failed and lost
)

// Mark is one message on its way.
type Mark struct {
	Lane Lane
	Sign Sign
	// Back: it travels from To to From.
	Back bool
	// Verb and Name say what it is: "bind" and a pod, "append" and "i861". Name comes from the cluster.
	Verb, Name string
	Seq        event.Seq
	Wall       time.Time // when it set out
	Sim        time.Time // the record's instant
}

// At is how far the mark has come at an instant of wall time, 0 to 1.
func (m Mark) At(wall time.Time) float64 {
	return min(max(float64(wall.Sub(m.Wall))/float64(Shown), 0), 1)
}

// lane holds the last marks and the messages of the last seconds.
type lane struct {
	marks  [Crowd + 1]Mark // a ring
	next   int
	second [rateSpan + 1]int64 // simulated second, and how many then
	count  [rateSpan + 1]uint32
	last   time.Time // simulated
}

// Lanes hold what travels now. The zero value is empty.
type Lanes struct {
	lanes   map[Lane]*lane
	moved   time.Time // wall, of the newest mark
	batches [40]batch // the last instants of reading, a ring: more than a mark is seen for, at 60 frames a second
	at      int
	glows   map[string]time.Time
	// asked are the last requests taken in, as causes of what follows.
	asked [64]request
	total map[string]int // requests by client
	// outside are the clients from outside that are connected, by their ClientConnected.
	outside map[event.Seq]guest
}

type request struct {
	seq  event.Seq
	from string
	sub  string
	// direct: it did not come through the balancer.
	direct bool
}

// guest is a client from outside: its lane, and whether it came in at a master's own door.
type guest struct {
	lane   string
	direct bool
}

// Clear forgets everything: the reader has jumped to another instant.
func (l *Lanes) Clear() { *l = Lanes{} }

// Moving reports whether anything is to be seen moving at an instant of wall time.
func (l *Lanes) Moving(wall time.Time) bool {
	return l != nil && !l.moved.IsZero() && wall.Sub(l.moved) < Glow
}

// On lists the marks that travel on a lane, oldest first. crowded: there are more than can be told apart, and the rate should be shown.
func (l *Lanes) On(at Lane, wall time.Time) (marks []Mark, crowded bool) {
	if l == nil {
		return nil, false
	}
	n, ok := l.lanes[at]
	if !ok {
		return nil, false
	}
	for i := range n.marks {
		m := n.marks[(n.next+i)%len(n.marks)]
		if !m.Wall.IsZero() && wall.Sub(m.Wall) < Shown && !l.history(m) {
			marks = append(marks, m)
		}
	}
	if len(marks) > Crowd {
		return nil, true
	}
	return marks, false
}

// Last is the newest mark of a lane, whether it still travels or not, for what is said beside it; false: there is none younger than the span of wall time.
func (l *Lanes) Last(at Lane, wall time.Time, within time.Duration) (Mark, bool) {
	if l == nil {
		return Mark{}, false
	}
	n, ok := l.lanes[at]
	if !ok {
		return Mark{}, false
	}
	m := n.marks[(n.next+len(n.marks)-1)%len(n.marks)]
	return m, !m.Wall.IsZero() && wall.Sub(m.Wall) < within && !l.history(m)
}

// history: the mark was read together with records from long after it.
func (l *Lanes) history(m Mark) bool {
	for _, b := range l.batches {
		if b.wall.Equal(m.Wall) && !b.wall.IsZero() {
			return b.end.Sub(m.Sim) > historyAfter
		}
	}
	return false
}

// note remembers up to where was read at an instant of wall time.
func (l *Lanes) note(sim, wall time.Time) {
	if !l.batches[l.at].wall.Equal(wall) {
		l.at = (l.at + 1) % len(l.batches)
		l.batches[l.at].wall = wall
	}
	l.batches[l.at].end = sim
}

// Rate of messages on a lane, per simulated second over the last ten.
func (l *Lanes) Rate(at Lane, now time.Time) float64 {
	if l == nil {
		return 0
	}
	n, ok := l.lanes[at]
	if !ok {
		return 0
	}
	sum, s := 0, now.Unix()
	for i, sec := range n.second {
		if sec > s-rateSpan && sec <= s {
			sum += int(n.count[i])
		}
	}
	return float64(sum) / rateSpan
}

// Total requests of a client since the lanes were cleared.
func (l *Lanes) Total(client string) int {
	if l == nil {
		return 0
	}
	return l.total[client]
}

// Glows reports whether a container of a pod ("namespace/name") has just started.
func (l *Lanes) Glows(pod string, wall time.Time) bool {
	if l == nil || len(l.glows) == 0 {
		return false
	}
	at, ok := l.glows[pod]
	return ok && wall.Sub(at) < Glow
}

// put counts a message and makes a mark of it.
func (l *Lanes) put(at Lane, m Mark, now, wall time.Time) {
	l.count(at, 1, now)
	l.back(at, m, now, wall)
}

// back makes a mark of an answer: seen, but not counted again.
func (l *Lanes) back(at Lane, m Mark, now, wall time.Time) {
	n, ok := l.lanes[at]
	if !ok {
		return
	}
	m.Lane, m.Wall, m.Sim = at, wall, now
	n.marks[n.next] = m
	n.next = (n.next + 1) % len(n.marks)
	l.moved = wall
}

// count counts messages on a lane.
func (l *Lanes) count(at Lane, messages int, now time.Time) {
	n, ok := l.lanes[at]
	if !ok {
		if l.lanes == nil {
			l.lanes = map[Lane]*lane{}
		}
		if len(l.lanes) >= lanesMax {
			l.forget(now)
		}
		n = &lane{}
		l.lanes[at] = n
	}
	n.last = now
	s := now.Unix()
	i := int(s % int64(len(n.second)))
	if i < 0 {
		i += len(n.second)
	}
	if n.second[i] != s {
		n.second[i], n.count[i] = s, 0
	}
	n.count[i] += uint32(messages)
}

// forget drops the lanes on which nothing has been for a while; all, if that is not enough.
func (l *Lanes) forget(now time.Time) {
	for at, n := range l.lanes {
		if now.Sub(n.last) > rateSpan*time.Second {
			delete(l.lanes, at)
		}
	}
	if len(l.lanes) >= lanesMax*3/4 {
		clear(l.lanes)
	}
}

func (l *Lanes) glow(pod string, wall time.Time) {
	if l.glows == nil || len(l.glows) >= glowsMax {
		l.glows = map[string]time.Time{}
	}
	l.glows[pod], l.moved = wall, wall
}
