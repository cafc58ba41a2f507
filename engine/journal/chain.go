package journal

import "example.com/kubeviz/engine/event"

// Getter finds a record by its number. A *Journal is one.
type Getter interface {
	Get(event.Seq) (event.Record, bool)
}

// Chain walks the causes of a record: the record itself first, then what led to it, and so on to its root (a command of the user, the start of the
// cluster) or to where the records are no longer in memory. It is empty when the record itself is not there.
func Chain(j Getter, seq event.Seq) []event.Record {
	var chain []event.Record
	for seq != 0 {
		r, ok := j.Get(seq)
		if !ok {
			break
		}
		chain = append(chain, r)
		if r.Cause >= seq { // a cause comes before its effect; anything else would never end
			break
		}
		seq = r.Cause
	}
	return chain
}
