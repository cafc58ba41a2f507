package why

import (
	"example.com/kubeviz/engine/event"
)

// causesMax bounds a walk to the first cause.
const causesMax = 200

// causes of a record, itself first, the first cause last, as far as the journal remembers.
func (q *inquiry) causes(seq event.Seq) []event.Record {
	var out []event.Record
	for len(out) < causesMax {
		r, ok := q.Record(seq)
		if !ok {
			break
		}
		out = append(out, r)
		if r.Cause >= seq {
			break
		}
		seq = r.Cause
	}
	return out
}

// find is the nearest of a record's causes (itself included) whose fact is of a type.
func find[E event.Event](chain []event.Record) (r event.Record, e E, ok bool) {
	for _, r := range chain {
		if e, is := r.Event.(E); is {
			return r, e, true
		}
	}
	return r, e, false
}

// last is the newest record about a thing that pick takes, of the newest lookMax.
func (q *inquiry) last(pick func(event.Record) bool) (event.Record, bool) {
	all := q.About(q.t)
	for i := len(all) - 1; i >= 0 && len(all)-i <= lookMax; i-- {
		if r, ok := q.Record(all[i]); ok && pick(r) {
			return r, true
		}
	}
	return event.Record{}, false
}

// lookMax is how many records about a thing are looked through for one that answers.
const lookMax = 400

// root adds the sentence about what the user did that began it all, if that is how it began.
func (d *draft) root(chain []event.Record) {
	if r, text, ok := order(chain); ok {
		d.line("why.began", "text", text, "since", d.q.since(r.At))
		d.on(r.Seq)
	}
}

// order is the command at the root of a chain.
func order(chain []event.Record) (r event.Record, text string, ok bool) {
	if len(chain) == 0 {
		return r, "", false
	}
	r = chain[len(chain)-1]
	e, ok := r.Event.(event.CommandGiven)
	return r, e.Text, ok
}
