// Package journal is the append-only list of records of one cluster: bounded in memory, complete in a file if one is asked for.
//
// Promises: records are numbered from 1 without gaps and never change; readers see them in order; a reader that is slower than the memory bound is told how
// many records it lost; the file loses nothing.
//
// Imports of ours: engine/event, engine/kinds. Goroutines: Emit on the loop only; reading from any goroutine. Time: stamps what the clocks
// given to New say.
package journal

import (
	"sync"
	"time"

	"example.com/kubeviz/engine/event"
)

// DefaultCapacity is how many records stay in memory.
const DefaultCapacity = 1 << 18

// Options for a journal.
type Options struct {
	// Capacity of records kept in memory; 0: DefaultCapacity.
	Capacity int
	// Now is simulated time.
	Now func() time.Time
	// Wall is real time; nil leaves Record.Wall zero, so that equal runs make equal journals.
	Wall func() time.Time
}

// Writer gets every record in order, on the loop's goroutine. The JSONL file is one.
type Writer interface {
	Write(event.Record) error
}

// Journal of one cluster.
type Journal struct {
	opts Options

	mu      sync.RWMutex
	chunks  [][]event.Record // full but the last
	first   event.Seq        // of chunks[0][0]
	last    event.Seq
	writers []Writer
	err     error // first error of a writer
}

// chunkSize records are dropped at once when the bound is passed.
const chunkSize = 4096

var _ event.Sink = (*Journal)(nil)

// New makes an empty journal.
func New(o Options) *Journal {
	if o.Capacity <= 0 {
		o.Capacity = DefaultCapacity
	}
	return &Journal{opts: o, first: 1}
}

// AddWriter makes w hear of every record from now on. A writer that fails is dropped; Err tells.
func (j *Journal) AddWriter(w Writer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writers = append(j.writers, w)
}

// Err is the first error of a writer.
func (j *Journal) Err() error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.err
}

// Emit appends a fact and returns its number.
func (j *Journal) Emit(actor event.Actor, cause event.Seq, e event.Event) event.Seq {
	r := event.Record{At: j.opts.Now(), Actor: actor, Cause: cause, Event: e}
	if j.opts.Wall != nil {
		r.Wall = j.opts.Wall()
	}
	return j.Append(r)
}

// Append adds a record that has its times already (a replay); its number is set here.
func (j *Journal) Append(r event.Record) event.Seq {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	r.Seq = j.last
	n := len(j.chunks)
	if n == 0 || len(j.chunks[n-1]) == chunkSize {
		if n*chunkSize >= j.opts.Capacity {
			j.first += event.Seq(len(j.chunks[0]))
			j.chunks = append([][]event.Record(nil), j.chunks[1:]...)
		}
		j.chunks = append(j.chunks, make([]event.Record, 0, chunkSize))
		n = len(j.chunks)
	}
	j.chunks[n-1] = append(j.chunks[n-1], r)
	for i := 0; i < len(j.writers); i++ {
		if err := j.writers[i].Write(r); err != nil {
			if j.err == nil {
				j.err = err
			}
			j.writers = append(j.writers[:i], j.writers[i+1:]...)
			i--
		}
	}
	return r.Seq
}

// Last is the number of the newest record; 0 when there is none.
func (j *Journal) Last() event.Seq {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.last
}

// First is the number of the oldest record still in memory.
func (j *Journal) First() event.Seq {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.first
}

// Read appends to buf up to max records numbered from and above. lost counts records from from on that are no longer in memory.
func (j *Journal) Read(buf []event.Record, from event.Seq, max int) (recs []event.Record, lost int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if from < 1 {
		from = 1
	}
	if from < j.first {
		lost = int(j.first - from)
		from = j.first
	}
	for max > 0 && from <= j.last {
		c := j.chunks[(from-j.first)/chunkSize]
		i := int(from-j.first) % chunkSize
		n := min(max, len(c)-i)
		buf = append(buf, c[i:i+n]...)
		from += event.Seq(n)
		max -= n
	}
	return buf, lost
}

// Get returns the record of that number, if it is in memory.
func (j *Journal) Get(seq event.Seq) (event.Record, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if seq < j.first || seq > j.last {
		return event.Record{}, false
	}
	return j.chunks[(seq-j.first)/chunkSize][(seq-j.first)%chunkSize], true
}
