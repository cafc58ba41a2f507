package check

import (
	"bytes"
	"fmt"
	"strings"

	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// How records are compared, and how they are told to a reader.

func sameKV(a, b mvcc.KV) bool {
	return a.Key == b.Key && bytes.Equal(a.Value, b.Value) && a.CreateRevision == b.CreateRevision && a.ModRevision == b.ModRevision && a.Version == b.Version && a.Lease == b.Lease
}

func sameEvent(a, b mvcc.Event) bool {
	return a.Deleted == b.Deleted && sameKV(a.KV, b.KV) && (a.Prev == nil) == (b.Prev == nil) && (a.Prev == nil || sameKV(*a.Prev, *b.Prev))
}

func sameEvents(a, b []mvcc.Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameEvent(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameSet compares without order.
func sameSet(a, b []mvcc.Event) bool {
	if len(a) != len(b) {
		return false
	}
	byKey := make(map[string]mvcc.Event, len(a))
	for _, e := range a {
		byKey[e.KV.Key] = e
	}
	for _, e := range b {
		if x, ok := byKey[e.KV.Key]; !ok || !sameEvent(x, e) {
			return false
		}
	}
	return true
}

func sameKVs(a, b []mvcc.KV) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameKV(a[i], b[i]) {
			return false
		}
	}
	return true
}

func kv(x mvcc.KV) string {
	if x.ModRevision == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s=%q (created %d, changed %d, version %d, lease %d)", x.Key, x.Value, x.CreateRevision, x.ModRevision, x.Version, x.Lease)
}

func kvs(xs []mvcc.KV) string {
	all := make([]string, len(xs))
	for i, x := range xs {
		all[i] = kv(x)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func prevOf(e mvcc.Event) string {
	if e.Prev == nil {
		return "nothing"
	}
	return kv(*e.Prev)
}

func describe(events []mvcc.Event) string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = "put " + kv(e.KV)
		if e.Deleted {
			all[i] = fmt.Sprintf("delete %s at %d", e.KV.Key, e.KV.ModRevision)
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func call(o *history.Op) string {
	what := string(o.Kind)
	switch {
	case o.Txn != nil:
		what = fmt.Sprintf("txn if %d then %s else %s", len(o.Txn.If), ops(o.Txn.Then), ops(o.Txn.Else))
	case o.Range != nil:
		what = fmt.Sprintf("range %s..%s at %d", o.Range.Key, o.Range.End, o.Range.Revision)
		if o.Serializable {
			what = "serializable " + what
		}
	case o.Revision != 0:
		what = fmt.Sprintf("compact %d", o.Revision)
	}
	return fmt.Sprintf("call %d of client %d on %s (%s; instants %d to %d, %v)", o.ID, o.Client, o.Member, what, o.Call, o.Return, o.At)
}

func ops(list []mvcc.Op) string {
	all := make([]string, len(list))
	for i, op := range list {
		all[i] = "put " + op.Key
		if op.Delete {
			all[i] = "delete " + op.Key
			if op.End != "" {
				all[i] += ".." + op.End
			}
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func watchOf(w *history.Watch) string {
	return fmt.Sprintf("watch %d on %s (%q exact %v from %d, instant %d)", w.ID, w.Member, w.Request.Prefix, w.Request.Exact, w.Request.From, w.Call)
}
