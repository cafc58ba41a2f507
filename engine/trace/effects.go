package trace

import "example.com/kubeviz/engine/event"

// effects knows, for every record, its first and last effect and the next effect of the same cause. An effect comes after its cause, so the distance to it says
// which it is; 0 is none.
type effects struct {
	chunks [][]link
	base   event.Seq // number of the first record of the first chunk
	end    event.Seq // number after the last record
}

type link struct{ first, last, next uint32 }

// linkChunk is how many records lie in a chunk, which is dropped at once.
const linkChunk = 1 << 12

// add makes room for a record and joins it to its cause. Numbers only grow; a gap is as if its records had no effects.
func (f *effects) add(seq, cause event.Seq) {
	if len(f.chunks) == 0 || seq > f.end+linkChunk { // the first, or what lies between is lost
		f.chunks, f.base, f.end = nil, seq, seq
	}
	for f.end <= seq {
		if int(f.end-f.base)/linkChunk == len(f.chunks) {
			f.chunks = append(f.chunks, make([]link, linkChunk))
		}
		f.end++
	}
	if cause >= seq {
		return
	}
	c := f.at(cause)
	if c == nil {
		return
	}
	if c.last != 0 {
		before := cause + event.Seq(c.last)
		f.at(before).next = uint32(seq - before)
	} else {
		c.first = uint32(seq - cause)
	}
	c.last = uint32(seq - cause)
}

func (f *effects) at(seq event.Seq) *link {
	if seq < f.base || seq >= f.end {
		return nil
	}
	i := int(seq - f.base)
	return &f.chunks[i/linkChunk][i%linkChunk]
}

func (f *effects) first(of event.Seq) event.Seq {
	if l := f.at(of); l != nil && l.first != 0 {
		return of + event.Seq(l.first)
	}
	return 0
}

func (f *effects) next(of event.Seq) event.Seq {
	if l := f.at(of); l != nil && l.next != 0 {
		return of + event.Seq(l.next)
	}
	return 0
}

// forget drops the chunks that lie wholly before a record.
func (f *effects) forget(first event.Seq) {
	n := 0
	for n < len(f.chunks)-1 && f.base+linkChunk <= first {
		f.base += linkChunk
		n++
	}
	if n > 0 {
		f.chunks = append(f.chunks[:0:0], f.chunks[n:]...)
	}
}
