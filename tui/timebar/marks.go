package timebar

import (
	"sort"
	"time"

	"example.com/kubeviz/engine/event"
)

// Kind of a mark.
type Kind uint8

// The kinds, by weight: where two fall into one cell, the later of this list is drawn.
const (
	Order   Kind = iota // the user's
	Trouble             // a node that is not heard, pods that will be evicted
	Break               // a fault, a loss of power
	Elect               // a new leader of the store
)

// Mark is an instant worth going back to.
type Mark struct {
	Seq  event.Seq
	At   time.Time
	Kind Kind
	// Word is what it is about, short: a command's first word, a machine.
	Word string
}

// marksMax bounds what is remembered; when more come, every second of the older half goes.
const marksMax = 2000

// Marks of a journal, in order.
type Marks struct {
	list []Mark
	last event.Seq
	// by is who led the store last, so that a victory is marked once.
	leader string
	term   uint64
	judged map[string]string
}

// Last is the number of the last record read.
func (m *Marks) Last() event.Seq { return m.last }

// Read takes in the next record.
func (m *Marks) Read(r event.Record) {
	m.last = r.Seq
	switch e := r.Event.(type) {
	case event.CommandGiven:
		if word := firstWord(e.Text); !pace[word] && word != "apply" { // what a preset brings is not the user's
			m.add(Mark{r.Seq, r.At, Order, e.Text})
		}
	case event.MachineDown:
		m.add(Mark{r.Seq, r.At, Break, e.Host})
	case event.FaultAdded:
		m.add(Mark{r.Seq, r.At, Break, e.Fault.String()})
	case event.ProcessStopped:
		if e.Reason == "exited" || e.Reason == "crashed" {
			m.add(Mark{r.Seq, r.At, Trouble, e.Process + " " + e.Host})
		}
	case event.RaftRole:
		if e.Role == "leader" && (e.Member != m.leader || e.Term > m.term) {
			m.leader, m.term = e.Member, e.Term
			m.add(Mark{r.Seq, r.At, Elect, e.Member})
		}
	case event.NodeJudged:
		if m.judged == nil {
			m.judged = map[string]string{}
		}
		before, known := m.judged[e.Node]
		m.judged[e.Node] = e.Ready
		if e.Ready != "True" && (!known || before != e.Ready) {
			m.add(Mark{r.Seq, r.At, Trouble, e.Node})
		}
	case event.StoreAlarm:
		if e.Raised {
			m.add(Mark{r.Seq, r.At, Trouble, e.Kind})
		}
	case event.StoreDiverged:
		m.add(Mark{r.Seq, r.At, Trouble, e.Member})
	case event.TrapSprung:
		m.add(Mark{r.Seq, r.At, Break, e.Point})
	case event.DiskChanged:
		if e.State != "ok" {
			m.add(Mark{r.Seq, r.At, Break, "disk " + e.Member})
		}
	case event.StoreRestored:
		m.add(Mark{r.Seq, r.At, Break, "restore"})
	case event.Crashed:
		m.add(Mark{r.Seq, r.At, Trouble, e.Who})
	}
}

// pace are words of command that change only how time runs; they are no marks.
var pace = map[string]bool{"speed": true, "pause": true, "resume": true, "step": true, "until": true}

func firstWord(text string) string {
	for i, c := range text {
		if c == ' ' {
			return text[:i]
		}
	}
	return text
}

func (m *Marks) add(k Mark) {
	if len(m.list) >= marksMax {
		kept := m.list[:0]
		for i, old := range m.list {
			if i >= marksMax/2 || i%2 == 0 {
				kept = append(kept, old)
			}
		}
		m.list = kept
	}
	m.list = append(m.list, k)
}

// All marks, oldest first. Read only.
func (m *Marks) All() []Mark { return m.list }

// Near finds the mark after (1) or before (-1) a record.
func (m *Marks) Near(seq event.Seq, by int) (Mark, bool) {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].Seq > seq })
	if by < 0 {
		i = sort.Search(len(m.list), func(i int) bool { return m.list[i].Seq >= seq }) - 1
	}
	if i < 0 || i >= len(m.list) {
		return Mark{}, false
	}
	return m.list[i], true
}
