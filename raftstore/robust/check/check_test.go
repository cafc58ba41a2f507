package check

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
	"example.com/kubeviz/raftstore/robust/swarm"
)

// real is the history of a short run with a few kills, as a file.
func realHistory(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := swarm.Draw(3, nil)
		p.Members, p.Clients, p.Groups, p.Keys, p.Watchers, p.ThinkMax = 3, 4, 2, 3, 3, 30*time.Millisecond
		p.Compactions, p.Leases, p.Retries, p.Storm = 0.02, 0.25, 0.5, 15*time.Second
		if err := swarm.Run(p).Write(&b); err != nil {
			t.Fatal(err)
		}
	})
	return b.Bytes()
}

func read(t *testing.T, b []byte) *history.History {
	t.Helper()
	h, err := history.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// find returns the first call from the middle of the run on that fits.
func find(t *testing.T, h *history.History, fits func(*history.Op) bool) *history.Op {
	t.Helper()
	for _, o := range h.Ops[len(h.Ops)/3:] {
		if fits(o) {
			return o
		}
	}
	t.Fatal("the run has no such call")
	return nil
}

func done(o *history.Op) bool { return o.Kind == history.Txn && o.Done() && o.Answer.Changed }

// pickWatch returns a watch and the place of a batch in it that is neither the first nor the last and has events.
func pickWatch(t *testing.T, h *history.History, fits func(w *history.Watch, b *history.Batch) bool) (*history.Watch, int) {
	t.Helper()
	for _, w := range h.Watches {
		for i := 1; i+1 < len(w.Batches); i++ {
			if b := &w.Batches[i]; len(b.Events) > 0 && fits(w, b) {
				return w, i
			}
		}
	}
	t.Fatal("the run has no such watch")
	return nil, 0
}

func anyBatch(*history.Watch, *history.Batch) bool { return true }

func TestEveryBrokenPromiseIsFound(t *testing.T) {
	file := realHistory(t)
	if broken := Check(read(t, file), Options{LeaseSlack: swarm.LeaseSlack}); len(broken) > 0 {
		t.Fatalf("the run as it was: %v", broken)
	}
	end := func(h *history.History) int64 {
		var last int64
		for _, o := range h.Ops {
			last = max(last, o.Return)
		}
		return last
	}
	for _, c := range []struct {
		name, promise string
		spoil         func(t *testing.T, h *history.History)
	}{
		{"a revision that nobody made", "every revision is a change", func(t *testing.T, h *history.History) {
			h.Applied = slices.Delete(h.Applied, len(h.Applied)/2, len(h.Applied)/2+1)
		}},
		{"a revision announced with two contents", "one change per revision", func(t *testing.T, h *history.History) {
			a := h.Applied[len(h.Applied)/2]
			a.Events = slices.Clone(a.Events)
			a.Events[0].KV.Value = []byte("another")
			h.Applied = append(h.Applied, a)
		}},
		{"an acknowledged write that is nowhere", "no acknowledged write is lost", func(t *testing.T, h *history.History) {
			find(t, h, done).Answer.Revision += 100_000
		}},
		{"an acknowledged write under the revision of another", "done means done", func(t *testing.T, h *history.History) {
			o := find(t, h, done)
			other := find(t, h, func(x *history.Op) bool { return done(x) && x != o })
			o.Answer.Revision = other.Answer.Revision
		}},
		{"a refused write that is there", "refused means never", func(t *testing.T, h *history.History) {
			o := find(t, h, done)
			o.Outcome, o.Err, o.Answer = raftstore.Refused, "no", nil
		}},
		{"a write that was never answered", "every call is answered once", func(t *testing.T, h *history.History) {
			find(t, h, done).Return = 0
		}},
		{"compares that were judged wrongly", "right answers", func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return done(o) && len(o.Txn.If) > 0 })
			o.Answer.Succeeded = !o.Answer.Succeeded
		}},
		{"a request applied twice", "a request is applied once", func(t *testing.T, h *history.History) {
			for i := len(h.Applied) / 2; i+1 < len(h.Applied); i++ {
				if h.Applied[i].Tag != 0 && h.Applied[i+1].Tag != 0 {
					h.Applied[i+1].Tag = h.Applied[i].Tag
					return
				}
			}
		}},
		{"a linearizable read of the past", "linearizable reads miss nothing", func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return o.Read != nil && !o.Serializable })
			o.Call = end(h) + 1
			o.Return = o.Call + 1
		}},
		{"a serializable read that goes back", "a member never goes back", func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return o.Read != nil && o.Serializable })
			o.Call = end(h) + 1
			o.Return = o.Call + 1
		}},
		{"a read of what never was", "right content", func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return o.Read != nil && len(o.Read.KVs) > 0 && !o.Range.KeysOnly })
			o.Read.KVs[0].Value = []byte("never")
		}},
		{"a write that was seen before it was asked for", "real time", func(t *testing.T, h *history.History) {
			o := find(t, h, done)
			o.Call = o.Return
		}},
		{"a compaction that nobody asked for", "compaction keeps what it should", func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return o.Read != nil })
			o.Range.Revision, o.Read, o.Outcome, o.Err = o.Read.Revision+50_000, nil, raftstore.Refused, raftstore.ErrCompacted.Error()
		}},
		{"a watch that misses an event", "watch: reliable", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, anyBatch)
			w.Batches = slices.Delete(w.Batches, i, i+1)
		}},
		{"a watch that misses its last events", "watch: reliable", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, func(w *history.Watch, _ *history.Batch) bool { return w.Request.Prefix == "g" && !w.Request.NoPut })
			w.Batches, w.Settled = w.Batches[:i], h.Applied[len(h.Applied)-1].Revision
		}},
		{"an event that comes twice", "watch: unique", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, anyBatch)
			w.Batches = slices.Insert(w.Batches, i, w.Batches[i])
		}},
		{"events in the wrong order", "watch: ordered", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, func(_ *history.Watch, b *history.Batch) bool {
				return len(b.Events) > 1 && b.Events[0].KV.ModRevision != b.Events[len(b.Events)-1].KV.ModRevision
			})
			slices.Reverse(w.Batches[i].Events)
		}},
		{"half of a revision", "watch: atomic", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, func(_ *history.Watch, b *history.Batch) bool {
				n := len(b.Events)
				return n > 1 && b.Events[n-2].KV.ModRevision == b.Events[n-1].KV.ModRevision
			})
			w.Batches[i].Events = w.Batches[i].Events[:len(w.Batches[i].Events)-1]
		}},
		{"progress beyond the last revision", "watch: bookmarkable", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, anyBatch)
			w.Batches[i].Revision += 100_000
		}},
		{"progress behind what came", "watch: bookmarkable", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, anyBatch)
			w.Batches[i].Revision = 1
		}},
		{"a wrong previous value", "watch: right content", func(t *testing.T, h *history.History) {
			w, i := pickWatch(t, h, func(w *history.Watch, b *history.Batch) bool { return !w.Request.NoPrev && b.Events[0].Prev != nil })
			w.Batches[i].Events[0].Prev = &mvcc.KV{Key: "g0/0"}
		}},
		{"an event that a filter leaves out", "watch: ", func(t *testing.T, h *history.History) {
			w, _ := pickWatch(t, h, func(_ *history.Watch, b *history.Batch) bool { return b.Events[0].Deleted })
			w.Request.NoDelete = true
		}},
		{"two leaders in one term", "one leader per term", func(t *testing.T, h *history.History) {
			for _, r := range h.Roles {
				if r.Role == raftstore.Leader {
					r.Member = "m9"
					h.Roles = append(h.Roles, r)
					return
				}
			}
		}},
		{"a term that falls", "terms never fall", func(t *testing.T, h *history.History) {
			r := h.Roles[len(h.Roles)-1]
			r.Up, r.Role, r.Term = true, raftstore.Follower, 1
			h.Roles = append(h.Roles, r)
		}},
		{"a member that ends without a key", "no acknowledged write is lost", func(t *testing.T, h *history.History) {
			h.Finals[0].KVs = h.Finals[0].KVs[1:]
		}},
		{"a member that ends behind", "members agree", func(t *testing.T, h *history.History) { h.Finals[0].Revision-- }},
		{"a member with another hash", "members agree", func(t *testing.T, h *history.History) { h.Finals[1].Hash.Hash++ }},
		{"a member that is named as different", "members agree", func(t *testing.T, h *history.History) {
			h.Notes = append(h.Notes, history.Note{Kind: history.NoteDiverged, Member: "m1"})
		}},
		{"members that do not become equal", "converges in time", func(t *testing.T, h *history.History) {
			h.Notes = append(h.Notes, history.Note{Kind: history.NoteLate})
		}},
		{"a lease that ends early", "a lease lasts", func(t *testing.T, h *history.History) {
			for _, a := range h.Applied {
				if e := a.Events[0]; a.Tag == 0 && e.Deleted {
					for _, o := range h.Ops {
						switch {
						case o.Kind == history.Grant && o.Lease == e.Prev.Lease:
							o.TTL += time.Hour
						case o.Kind == history.Revoke && o.Lease == e.Prev.Lease:
							o.Lease = 0
						}
					}
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := read(t, file)
			c.spoil(t, h)
			broken := Check(h, Options{SkipPorcupine: true, LeaseSlack: swarm.LeaseSlack})
			if !slices.ContainsFunc(broken, func(v Violation) bool { return strings.HasPrefix(v.Promise, c.promise) }) {
				t.Errorf("want %q, found %.800v", c.promise, broken)
			}
		})
	}
}

// Porcupine judges by the answers alone, whatever the other checks would say.
func TestPorcupineFindsAnswersThatFitNoOrder(t *testing.T) {
	file := realHistory(t)
	for name, spoil := range map[string]func(t *testing.T, h *history.History){
		"a read of a value that was overwritten before": func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool {
				return o.Read != nil && !o.Serializable && o.Range.Revision == 0 && len(o.Read.KVs) > 0 && !o.Range.KeysOnly && !o.Read.More
			})
			o.Read.KVs[0].Version++
		},
		"a compare that held and could not": func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return done(o) && len(o.Txn.If) > 0 && o.Txn.ID == "" })
			o.Answer.Succeeded = !o.Answer.Succeeded
		},
		"two writes of one revision": func(t *testing.T, h *history.History) {
			o := find(t, h, func(o *history.Op) bool { return done(o) && o.Txn.ID == "" })
			other := find(t, h, func(x *history.Op) bool {
				return done(x) && x != o && groupOf(x.Txn) == groupOf(o.Txn) && x.Txn.ID == ""
			})
			other.Answer.Revision = o.Answer.Revision
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := read(t, file)
			spoil(t, h)
			c := &checker{h: h, opt: Options{Patience: 10 * time.Second}, byID: make(map[int64]*history.Op)}
			for _, o := range h.Ops {
				c.byID[o.ID] = o
			}
			c.order = c.reconstruct()
			if len(c.found) > 0 {
				t.Fatal(c.found)
			}
			if c.porcupine(); len(c.found) == 0 {
				t.Error("it was taken for linearizable")
			}
		})
	}
}
