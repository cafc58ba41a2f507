package mvcc

import (
	"fmt"
	"runtime"
	"testing"
)

func BenchmarkApply(b *testing.B) {
	s := New()
	value := make([]byte, 256)
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("/registry/pods/default/pod-%d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Apply(Txn{Then: []Op{{Key: keys[i%len(keys)], Value: value}}})
		if i%100_000 == 99_999 {
			s.Compact(s.Revision())
		}
	}
}

// BenchmarkMillionKeys tells what a key of three members in one program takes: they apply the same decoded transactions, as the members of a cluster do, and so share keys and values.
func BenchmarkMillionKeys(b *testing.B) {
	const members, keys = 3, 1_000_000
	value := make([]byte, 256)
	live := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		before := live()
		var stores [members]*Store
		for i := range stores {
			stores[i] = New()
		}
		for i := range keys {
			// Keys come in no order, as generated names do.
			t, err := DecodeTxn(AppendTxn(nil, Txn{Then: []Op{{Key: fmt.Sprintf("/registry/pods/default/pod-%08x", uint32(i)*2654435761), Value: value}}}))
			if err != nil {
				b.Fatal(err)
			}
			for _, s := range stores {
				s.Apply(t)
			}
		}
		fresh := live()
		for _, s := range stores {
			if err := s.Compact(s.Revision()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((fresh-before)/keys, "B/key")
		b.ReportMetric((live()-before)/keys, "B/key-compacted")
		runtime.KeepAlive(stores)
	}
}

// BenchmarkReadTheOldOfOneKey reads one key at an old revision, and its events since, behind a long history of others.
func BenchmarkReadTheOldOfOneKey(b *testing.B) {
	s := New()
	for i := range 200_000 {
		s.Apply(Txn{Then: []Op{{Key: fmt.Sprintf("/registry/pods/default/pod-%d", i%20_000)}}})
	}
	b.Run("range", func(b *testing.B) {
		for b.Loop() {
			if r, err := s.Range(Range{Key: "/registry/pods/default/pod-77", Revision: 5000}); err != nil || r.Count != 1 {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("events", func(b *testing.B) {
		for b.Loop() {
			if e, err := s.EventsWithin("/registry/pods/default/pod-77", "", 5000); err != nil || len(e) != 9 {
				b.Fatal(len(e), err)
			}
		}
	})
	b.Run("events of a narrow prefix", func(b *testing.B) {
		for b.Loop() {
			if e, err := s.EventsSince("/registry/pods/default/pod-77", 5000); err != nil || len(e) == 0 {
				b.Fatal(len(e), err)
			}
		}
	})
}
