package mvcc

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// snapshotMagic opens every encoded state; the last byte is the version of the format.
const snapshotMagic = "kvstate\x01"

// Encode writes the whole state: what was there at the last compaction, then each change since, then the remembered answers. Restoring replays
// the changes, so every version is written once and the previous values of events need no space.
func (v *View) Encode() []byte {
	b := make([]byte, 0, v.size+v.size/4+1024)
	b = append(b, snapshotMagic...)
	b = binary.AppendUvarint(b, uint64(v.revision))
	b = binary.AppendUvarint(b, uint64(v.compacted))
	base := v.base()
	b = binary.AppendUvarint(b, uint64(len(base)))
	for _, kv := range base {
		b = appendKV(b, *kv)
	}
	b = binary.AppendUvarint(b, uint64(len(v.history)))
	for _, rev := range v.history {
		b = binary.AppendUvarint(b, uint64(len(rev.events)))
		for _, e := range rev.events {
			b = appendBool(b, e.Deleted)
			b = appendBytes(b, e.KV.Key)
			b = appendBytes(b, e.KV.Value)
		}
	}
	answers := v.recentAnswers()
	b = binary.AppendUvarint(b, uint64(len(answers)))
	for _, a := range answers {
		b = appendBytes(b, a.id)
		b = appendBool(b, a.result.Succeeded)
		b = appendBool(b, a.result.Changed)
		b = binary.AppendUvarint(b, uint64(a.result.Revision))
		b = binary.AppendUvarint(b, uint64(len(a.result.Read)))
		for _, kv := range a.result.Read {
			b = appendKV(b, kv)
		}
	}
	return Seal(b)
}

// base is the state history starts from, in key order.
func (v *View) base() []*KV {
	base := make([]*KV, 0, v.present.Len())
	v.rangeAt(v.floor(), "", func(string) bool { return true }, func(kv *KV) { base = append(base, kv) })
	return base
}

// Hash is a checksum of the whole state: equal on two members that applied the same operations. It costs as much as Encode.
func (v *View) Hash() uint64 {
	h := fnv.New64a()
	h.Write(v.Encode()) // never fails
	return h.Sum64()
}

func appendKV(b []byte, kv KV) []byte {
	b = appendBytes(b, kv.Key)
	b = appendBytes(b, kv.Value)
	b = binary.AppendUvarint(b, uint64(kv.CreateRevision))
	b = binary.AppendUvarint(b, uint64(kv.ModRevision))
	return binary.AppendUvarint(b, uint64(kv.Version))
}

func (c *cursor) kv() KV {
	return KV{Key: c.string(), Value: c.value(), CreateRevision: c.revision(), ModRevision: c.revision(), Version: c.revision()}
}

// DecodeSnapshot reads what Encode wrote into a new Store that shares nothing with b. It fails with ErrDamaged.
func DecodeSnapshot(b []byte) (*Store, error) {
	b, err := Unseal(b)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if len(b) < len(snapshotMagic) || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("snapshot: %w: not a snapshot of this version", ErrDamaged)
	}
	c := &cursor{b: b[len(snapshotMagic):]}
	s := New()
	last := c.revision()
	s.compacted = c.revision()
	s.revision = s.floor()
	s.readBase(c)
	s.readHistory(c)
	if c.err == nil && s.revision != last {
		c.fail("history does not lead to the revision named")
	}
	s.readAnswers(c)
	if c.err == nil && len(c.b) > 0 {
		c.fail("bytes left over")
	}
	if c.err != nil {
		return nil, fmt.Errorf("snapshot: %w", c.err)
	}
	return s, nil
}

func (s *Store) readBase(c *cursor) {
	for n, prev := c.count(5), ""; n > 0 && c.err == nil; n-- {
		kv := c.kv()
		if kv.Key <= prev {
			c.fail("keys out of order")
			return
		}
		prev = kv.Key
		s.present.Load(kv.Key, &kv)
		s.size += weight(kv)
	}
}

func (s *Store) readHistory(c *cursor) {
	revisions := c.count(1)
	for range revisions {
		ops := make([]Op, c.count(3))
		for i := range ops {
			ops[i] = Op{Delete: c.bool(), Key: c.string(), Value: c.value()}
		}
		if c.err != nil {
			return
		}
		if len(s.change(ops)) != len(ops) || len(ops) == 0 {
			c.fail("a change in history changes nothing")
			return
		}
	}
}

func (s *Store) readAnswers(c *cursor) {
	n := c.count(5)
	if n > answersKept {
		c.fail("more answers than are ever kept")
		return
	}
	for ; n > 0 && c.err == nil; n-- {
		a := answer{id: c.string(), result: TxnResult{Succeeded: c.bool(), Changed: c.bool(), Revision: c.revision()}}
		for m := c.count(5); m > 0 && c.err == nil; m-- {
			a.result.Read = append(a.result.Read, c.kv())
		}
		s.remember(a)
	}
}
