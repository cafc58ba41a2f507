// Package trace is an index over a journal: which records are about a thing, and which records followed from a record.
//
// An Index reads each record once, in order, at the head of the journal, whatever instant a reader looks at; queries take the last record that the reader
// knows of. What the journal no longer has in memory is forgotten here too.
//
// Imports of ours: engine/event, engine/kinds. Goroutines: one owner, not the loop's. Time: none.
package trace

import (
	"sort"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Subject is a thing that records are about: made by Host, Process, Object, Queue.
type Subject string

// Host is a machine.
func Host(name string) Subject { return Subject("host " + name) }

// Process is a program on a machine.
func Process(host, process string) Subject { return Subject("process " + host + "/" + process) }

// Object is an object of the API, as World.Objects keys it.
func Object(k *kinds.Kind, namespace, name string) Subject {
	return Subject(k.String() + " " + kinds.ObjectRef{Namespace: namespace, Name: name}.String())
}

// Queue is a work queue of a component.
func Queue(actor event.Actor, queue string) Subject {
	return Subject("queue " + string(actor) + " " + queue)
}

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
	about   map[Subject][]event.Seq
	effects map[event.Seq][]event.Seq
	buf     []event.Record
	dropped event.Seq // what is below was forgotten
}

// New makes an empty index of a journal.
func New(src Source) *Index {
	return &Index{src: src, about: map[Subject][]event.Seq{}, effects: map[event.Seq][]event.Seq{}}
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
		for _, r := range recs {
			x.add(r)
		}
		n += len(recs)
		clear(recs)
		x.buf = recs[:0]
	}
	x.forget()
	return n
}

func (x *Index) add(r event.Record) {
	x.last = r.Seq
	for _, s := range Subjects(r) {
		x.about[s] = append(x.about[s], r.Seq)
	}
	if r.Cause != 0 {
		x.effects[r.Cause] = append(x.effects[r.Cause], r.Seq)
	}
}

// About lists the records about a thing up to and including a record, oldest first. Read only.
func (x *Index) About(s Subject, upTo event.Seq) []event.Seq {
	return till(x.about[s], upTo)
}

// Effects lists the records that a record was the direct cause of, up to and including a record, oldest first. Read only.
func (x *Index) Effects(of, upTo event.Seq) []event.Seq { return till(x.effects[of], upTo) }

func till(all []event.Seq, upTo event.Seq) []event.Seq {
	return all[:sort.Search(len(all), func(i int) bool { return all[i] > upTo })]
}

// forget drops what the journal has dropped, once that is a good part of it.
func (x *Index) forget() {
	first := x.src.First()
	if first < x.dropped+(1<<15) {
		return
	}
	x.dropped = first
	for s, all := range x.about {
		i := sort.Search(len(all), func(i int) bool { return all[i] >= first })
		switch {
		case i == len(all):
			delete(x.about, s)
		case i > 0:
			x.about[s] = append(all[:0:0], all[i:]...)
		}
	}
	for seq := range x.effects {
		if seq < first {
			delete(x.effects, seq)
		}
	}
}

// Subjects lists what a record is about: machines, processes, objects and queues, without repetition.
func Subjects(r event.Record) []Subject {
	var out []Subject
	host := func(names ...string) {
		for _, n := range names {
			h, p, ok := strings.Cut(n, "/")
			if h == "" || h == "all" {
				continue
			}
			out = append(out, Host(h))
			if ok {
				out = append(out, Process(h, p))
			}
		}
	}
	ref := func(k *kinds.Kind, o kinds.ObjectRef) { out = append(out, Object(k, o.Namespace, o.Name)) }
	switch e := r.Event.(type) {
	case event.MachineUp:
		host(e.Host)
	case event.MachineDown:
		host(e.Host)
	case event.ProcessStarted:
		host(e.Host + "/" + e.Process)
	case event.ProcessStopped:
		host(e.Host + "/" + e.Process)
	case event.FaultAdded:
		host(e.Fault.A, e.Fault.B)
	case event.FaultRemoved:
		host(e.Fault.A, e.Fault.B)
	case event.BackendChanged:
		host(e.Backend + "/apiserver")
	case event.RaftRole:
		host(e.Member + "/etcd")
	case event.Leading:
		host(e.Host)
	case event.ObjectChanged:
		if e.Object != nil {
			if k, err := kinds.Of(e.Object); err == nil {
				out = append(out, Object(k, e.Object.GetNamespace(), e.Object.GetName()))
			}
		}
	case event.RequestDone:
		if e.ObjectName != "" {
			out = append(out, Subject(e.Resource+" "+kinds.ObjectRef{Namespace: e.Namespace, Name: e.ObjectName}.String()))
		}
	case event.QueueChanged:
		out = append(out, Queue(r.Actor, e.Queue))
	case event.SchedulingAttempt:
		ref(kinds.Pods, e.Pod)
	case event.PodQueued:
		ref(kinds.Pods, e.Pod)
	case event.NodeJudged:
		host(e.Node)
	case event.EvictionPlanned:
		ref(kinds.Pods, e.Pod)
		host(e.Node)
	case event.EvictionCancelled:
		ref(kinds.Pods, e.Pod)
		host(e.Node)
	case event.ContainerChanged:
		ref(kinds.Pods, e.Pod)
	}
	return out
}
