package apiserver

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore"
)

// recordsKept bounds how many announced changes are remembered. A watch that lags further behind delivers without a cause.
const recordsKept = 1 << 16

// StoreActor is who announces committed changes.
const StoreActor event.Actor = "etcd"

// Announcer tells the journal what the store committed, once in the cluster, and remembers under which record. Loop only.
type Announcer struct {
	codec   *Codec
	sink    event.Sink
	records map[version]event.Seq
	ring    []version
	next    int
	// present is what has been announced and not been deleted since, by key; touched are the keys of changes since Recount began to read.
	present map[string]announced
	touched map[string]bool
}

// NewAnnouncer makes one; hand its Applied to the store's observer.
func NewAnnouncer(codec *Codec, sink event.Sink) *Announcer {
	return &Announcer{codec: codec, sink: sink, records: map[version]event.Seq{}, ring: make([]version, recordsKept), present: map[string]announced{}}
}

// Applied journals the changes of one revision. Call it on the loop, once per revision, before any watch delivers it.
func (a *Announcer) Applied(ap raftstore.Applied) {
	for i := range ap.Events {
		e := &ap.Events[i]
		obj, before, err := a.codec.DecodeEvent(e)
		if err != nil {
			// Keys of no known kind are other programs' business in the same store; they have no objects to announce.
			continue
		}
		a.remember(e.KV.Key, ap.Revision, a.sink.Emit(StoreActor, event.Seq(ap.Tag), fact(ap, e.Deleted, obj, before)))
		if a.touched != nil {
			a.touched[e.KV.Key] = true
		}
		if e.Deleted {
			delete(a.present, e.KV.Key)
		} else {
			a.present[e.KV.Key] = announced{obj, ap.Revision}
		}
	}
}

func (a *Announcer) remember(key string, revision int64, seq event.Seq) {
	v := version{key, revision}
	delete(a.records, a.ring[a.next])
	a.ring[a.next] = v
	a.next = (a.next + 1) % len(a.ring)
	a.records[v] = seq
}

// RecordOf is the record that announced the change of key at revision; 0 when it is not (or no longer) known.
func (a *Announcer) RecordOf(key string, revision int64) event.Seq {
	return a.records[version{key, revision}]
}

func fact(ap raftstore.Applied, deleted bool, obj, before kinds.Object) event.Event {
	changed := event.ObjectChanged{Type: event.Modified, Revision: ap.Revision, Index: ap.Index, Term: ap.Term, Object: obj}
	switch {
	case deleted:
		changed.Type = event.Deleted
	case before == nil:
		changed.Type = event.Added
	default:
		if l, ok := obj.(*coordinationv1.Lease); ok && onlyRenewed(l, before.(*coordinationv1.Lease)) {
			holder := ""
			if l.Spec.HolderIdentity != nil {
				holder = *l.Spec.HolderIdentity
			}
			return event.LeaseRenewed{Namespace: l.Namespace, Lease: l.Name, Holder: holder, Revision: ap.Revision}
		}
	}
	return changed
}

// onlyRenewed reports that two versions of a Lease differ in nothing but renewTime, and in when who manages that was last there.
func onlyRenewed(now, before *coordinationv1.Lease) bool {
	spec := now.Spec
	spec.RenewTime = before.Spec.RenewTime
	meta := now.ObjectMeta
	meta.ResourceVersion = before.ResourceVersion
	if managed.Same(now.ManagedFields, before.ManagedFields) {
		meta.ManagedFields = before.ManagedFields
	}
	return apiequality.Semantic.DeepEqual(spec, before.Spec) && apiequality.Semantic.DeepEqual(meta, before.ObjectMeta)
}
