package peer

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
)

// Each command is applied once, however often its bytes get into the log. A question that hands writes to the leader can arrive twice (the network made a copy), or be asked
// again by a member that could not know that it had arrived. So the id of a command is an origin, drawn at random by each life of a member, and a number that
// counts up, and the state machine remembers which numbers of each origin it has met.
//
// What it remembers is bounded, and yet nothing is applied twice: a number so far behind the highest of its origin that nobody knows any more is turned down, so that its
// asker hears Refused. And it need not be remembered beyond a term, because an entry is valid only in the term it was proposed in.

const (
	// numberBits of an id count; the rest are the origin. A life that counts further goes over into the next origin by itself.
	numberBits = 36
	// windowWords × 64 numbers behind the highest are remembered per origin. Numbers of one origin overtake one another by as many as travel to the leader at once.
	windowWords = 2048
	// originsKept is how many origins are; beyond it the one not heard for longest goes. A cluster has at most as many as members, and one more for each start.
	originsKept = 64
)

// NewOrigin is the id before the first of a life; each command's is the last one's plus one.
func NewOrigin() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) &^ (1<<numberBits - 1)
}

// met is what a state machine knows of the commands it has met in a term. It is part of the state that members agree on.
type met struct {
	term    uint64
	origins []*window // the one heard last at the end
}

type window struct {
	origin uint64
	top    uint64              // the highest number met, divided by 64
	seen   [windowWords]uint64 // bits of numbers; word i holds those whose 64th part is i modulo windowWords
}

type meeting uint8

const (
	fresh    meeting = iota
	repeated         // it was applied
	late             // it may have been
)

// begin forgets what belongs to earlier terms.
func (m *met) begin(term uint64) {
	if term != m.term {
		m.term, m.origins = term, nil
	}
}

// meet notes an id and tells whether it was met before.
func (m *met) meet(id uint64) meeting {
	w := m.window(id >> numberBits)
	number := id & (1<<numberBits - 1)
	word, bit := number/64, uint64(1)<<(number%64)
	switch {
	case word+windowWords <= w.top:
		return late
	case word > w.top:
		for i := max(w.top+1, word-min(word, windowWords-1)); i <= word; i++ {
			w.seen[i%windowWords] = 0
		}
		w.top = word
	}
	slot := &w.seen[word%windowWords]
	if *slot&bit != 0 {
		return repeated
	}
	*slot |= bit
	return fresh
}

func (m *met) window(origin uint64) *window {
	last := len(m.origins) - 1
	for i := last; i >= 0; i-- {
		if w := m.origins[i]; w.origin == origin {
			if i != last {
				copy(m.origins[i:], m.origins[i+1:])
				m.origins[last] = w
			}
			return w
		}
	}
	if len(m.origins) == originsKept {
		m.origins = slices.Delete(m.origins, 0, 1)
	}
	w := &window{origin: origin}
	m.origins = append(m.origins, w)
	return w
}

func (m *met) clone() *met {
	c := &met{term: m.term}
	for _, w := range m.origins {
		cp := *w
		c.origins = append(c.origins, &cp)
	}
	return c
}

// append encodes m.
func (m *met) append(b []byte) []byte {
	b = binary.AppendUvarint(b, m.term)
	b = binary.AppendUvarint(b, uint64(len(m.origins)))
	for _, w := range m.origins {
		b = binary.AppendUvarint(b, w.origin)
		b = binary.AppendUvarint(b, w.top)
		words := 0
		for _, bits := range w.seen {
			if bits != 0 {
				words++
			}
		}
		b = binary.AppendUvarint(b, uint64(words))
		for i, bits := range w.seen {
			if bits != 0 {
				b = binary.AppendUvarint(b, uint64(i))
				b = binary.AppendUvarint(b, bits)
			}
		}
	}
	return b
}

// readMet reads what append wrote.
func readMet(r *reader) *met {
	m := &met{term: r.uvarint()}
	for n := r.number(0, originsKept); n > 0 && !r.bad; n-- {
		w := &window{origin: r.uvarint(), top: r.uvarint()}
		for words := r.number(0, windowWords); words > 0 && !r.bad; words-- {
			i := r.number(0, windowWords-1)
			w.seen[i] = r.uvarint()
		}
		m.origins = append(m.origins, w)
	}
	return m
}
