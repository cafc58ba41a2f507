package apiserver

import (
	"slices"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore/mvcc"
)

// announced is the newest version of an object that the journal knows.
type announced struct {
	object   kinds.Object
	revision int64
}

// BeginRecount must be called before the read whose result Recount gets.
func (a *Announcer) BeginRecount() { a.touched = map[string]bool{} }

// Recount brings the journal to what the store holds where that came to be by no write: the members began from what an earlier run left on their disks, from a backup, or with
// nothing at all. list is everything at revision; cause is the record that brought it about. What was announced while list was on its way stays as it is.
func (a *Announcer) Recount(cause event.Seq, list []mvcc.KV, revision int64) {
	touched := a.touched
	a.touched = nil
	held := make(map[string]bool, len(list))
	for i := range list {
		kv := &list[i]
		held[kv.Key] = true
		old, known := a.present[kv.Key]
		if touched[kv.Key] || known && old.revision == kv.ModRevision {
			continue
		}
		obj, err := a.codec.Decode(kv)
		if err != nil {
			continue // nobody's object, as in Applied
		}
		change := event.ObjectChanged{Type: event.Added, Revision: revision, Object: obj}
		if known {
			change.Type = event.Modified
		}
		a.remember(kv.Key, kv.ModRevision, a.sink.Emit(StoreActor, cause, change))
		a.present[kv.Key] = announced{obj, kv.ModRevision}
	}
	var gone []string
	for key := range a.present {
		if !held[key] && !touched[key] {
			gone = append(gone, key)
		}
	}
	slices.Sort(gone)
	for _, key := range gone {
		a.sink.Emit(StoreActor, cause, event.ObjectChanged{Type: event.Deleted, Revision: revision, Object: a.present[key].object})
		delete(a.present, key)
	}
}
