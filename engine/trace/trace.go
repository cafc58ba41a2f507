// Package trace is an index over a journal: which records are about a thing, and which records followed from a record.
//
// An Index reads each record once, in order, at the head of the journal, whatever instant a reader looks at; queries take the last record that the reader
// knows of. What the journal no longer has in memory is forgotten here too. A record costs 12 bytes for its place among effects and 8 for each thing it is about;
// names are kept once.
//
// Imports of ours: engine/event, engine/kinds. Goroutines: one owner, not the loop's. Time: none.
package trace

import (
	"sort"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Subject is a thing that records are about: made by Host, Process, Object, Queue.
type Subject string

// Host is a machine.
func Host(name string) Subject { return Subject(hostPrefix + name) }

// Process is a program on a machine.
func Process(host, process string) Subject { return Subject(processPrefix + host + "/" + process) }

// Object is an object of the API, as World.Objects keys it.
func Object(k *kinds.Kind, namespace, name string) Subject {
	return Subject(k.String() + " " + kinds.ObjectRef{Namespace: namespace, Name: name}.String())
}

// Queue is a work queue of a component.
func Queue(actor event.Actor, queue string) Subject {
	return Subject(queuePrefix + string(actor) + " " + queue)
}

// What subjects begin with; those of objects begin with their type.
const (
	hostPrefix    = "host "
	processPrefix = "process "
	queuePrefix   = "queue "
)

// Source is the journal behind an index.
type Source interface {
	First() event.Seq
	Last() event.Seq
	Read(buf []event.Record, from event.Seq, max int) (recs []event.Record, lost int)
}

// Index of a journal.
type Index struct {
	src     Source
	last    event.Seq
	names   map[string]int // of a subject, to its place in about
	about   [][]event.Seq
	free    []int // places whose subjects were forgotten
	effects effects
	buf     []event.Record
	finder  finder
	dropped event.Seq // what is below was forgotten
}

// New makes an empty index of a journal.
func New(src Source) *Index {
	x := &Index{src: src, names: map[string]int{}}
	x.finder.found = x.file
	return x
}

// Last is the number of the last record read.
func (x *Index) Last() event.Seq { return x.last }

// Advance reads at most budget new records and returns how many there were.
func (x *Index) Advance(budget int) int {
	n := 0
	for n < budget {
		recs, _ := x.src.Read(x.buf[:0], x.last+1, min(512, budget-n))
		if len(recs) == 0 {
			break
		}
		for i := range recs {
			x.add(&recs[i])
		}
		n += len(recs)
		clear(recs)
		x.buf = recs[:0]
	}
	x.forget()
	return n
}

func (x *Index) add(r *event.Record) {
	x.last = r.Seq
	x.finder.find(r)
	x.effects.add(r.Seq, r.Cause)
}

// file puts the record that is being read under a subject.
func (x *Index) file(subject []byte) {
	i, known := x.names[string(subject)]
	if !known {
		if n := len(x.free); n > 0 {
			i, x.free = x.free[n-1], x.free[:n-1]
		} else {
			i = len(x.about)
			x.about = append(x.about, nil)
		}
		x.names[string(subject)] = i
	}
	all := x.about[i]
	if n := len(all); n > 0 && all[n-1] == x.last {
		return
	}
	x.about[i] = append(all, x.last)
}

// About lists the records about a thing up to and including a record, oldest first. Read only.
func (x *Index) About(s Subject, upTo event.Seq) []event.Seq {
	i, known := x.names[string(s)]
	if !known {
		return nil
	}
	all := x.about[i]
	return all[:sort.Search(len(all), func(i int) bool { return all[i] > upTo })]
}

// Effects lists the records that a record was the direct cause of, up to and including a record, oldest first.
func (x *Index) Effects(of, upTo event.Seq) []event.Seq {
	return x.AppendEffects(nil, of, upTo, int(^uint(0)>>1))
}

// AppendEffects adds to buf at most max of the records that Effects lists, the oldest, and returns it.
func (x *Index) AppendEffects(buf []event.Seq, of, upTo event.Seq, max int) []event.Seq {
	for e := x.effects.first(of); e != 0 && e <= upTo && max > 0; e = x.effects.next(e) {
		buf = append(buf, e)
		max--
	}
	return buf
}

// forget drops what the journal has dropped, once that is a good part of it.
func (x *Index) forget() {
	first := x.src.First()
	if first < x.dropped+(1<<15) {
		return
	}
	x.dropped = first
	for s, at := range x.names {
		all := x.about[at]
		i := sort.Search(len(all), func(i int) bool { return all[i] >= first })
		switch {
		case i == len(all):
			delete(x.names, s)
			x.about[at] = nil
			x.free = append(x.free, at)
		case i > 0:
			x.about[at] = append(all[:0:0], all[i:]...)
		}
	}
	x.effects.forget(first)
}
