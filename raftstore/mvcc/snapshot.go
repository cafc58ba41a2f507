package mvcc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"strings"
)

// snapshotMagic opens every encoded state, followed by the version of the format in one byte.
const (
	snapshotMagic  = "kvstate"
	snapshotFormat = 2
)

// Encode writes the whole state: what was there at the last compaction, then each change since, then leases, alarms and the remembered answers. Restoring replays
// the changes, so every version is written once and the previous values of events need no space. Equal states have equal encodings.
func (v *View) Encode() []byte {
	var b bytes.Buffer
	b.Grow(int(v.size + 1024))
	_ = v.EncodeTo(&b) // a buffer takes everything
	return b.Bytes()
}

// encodeChunk is how much EncodeTo writes at a time.
const encodeChunk = 64 << 10

// EncodeTo is Encode to a writer, without holding the whole. It fails with the error of the writer.
func (v *View) EncodeTo(w io.Writer) error {
	e := &encoder{w: w}
	e.b = append(append(e.b, snapshotMagic...), snapshotFormat)
	e.number(v.revision)
	e.number(v.compacted)
	v.encodeBase(e)
	v.encodeHistory(e)
	leases := v.Leases()
	e.number(int64(len(leases)))
	for _, l := range leases {
		e.b = binary.AppendUvarint(e.b, uint64(l.ID))
		e.b = binary.AppendVarint(e.b, l.TTL)
		e.flush(encodeChunk)
	}
	e.number(int64(len(v.alarms)))
	for _, a := range v.alarms {
		e.b = appendBytes(appendBytes(e.b, a.Kind), a.Member)
	}
	v.encodeAnswers(e)
	e.flush(1)
	e.b = binary.LittleEndian.AppendUint32(e.b, e.crc)
	e.flush(1)
	return e.err
}

// encoder writes in chunks and keeps the checksum. After the first error it does nothing more.
type encoder struct {
	w   io.Writer
	b   []byte
	crc uint32
	err error
}

func (e *encoder) number(n int64) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

// flush writes what has gathered when it is at least size bytes.
func (e *encoder) flush(size int) {
	if len(e.b) < size {
		return
	}
	e.crc = crc32.Update(e.crc, castagnoli, e.b)
	if e.err == nil {
		_, e.err = e.w.Write(e.b)
	}
	e.b = e.b[:0]
}

func (v *View) encodeBase(e *encoder) {
	n := 0
	v.rangeAt(v.floor(), spanOf("", noEnd), func(*version) { n++ })
	e.number(int64(n))
	v.rangeAt(v.floor(), spanOf("", noEnd), func(ver *version) {
		e.b = appendKV(e.b, &ver.KV)
		e.flush(encodeChunk)
	})
}

func (v *View) encodeHistory(e *encoder) {
	e.number(int64(len(v.history.starts)))
	for n := range v.history.starts {
		from, to := v.history.at(int64(n) + 1)
		e.number(int64(to - from))
		for _, c := range v.history.changes[from:to] {
			e.b = append(e.b, flags(c.after.tombstone(), false, c.after.Lease != 0))
			e.b = appendBytes(e.b, c.after.Key)
			if c.after.Lease != 0 {
				e.b = binary.AppendUvarint(e.b, uint64(c.after.Lease))
			}
			e.b = appendBytes(e.b, c.after.Value)
			e.flush(encodeChunk)
		}
	}
}

func (v *View) encodeAnswers(e *encoder) {
	recent, first := v.answers.recent()
	e.number(first)
	e.number(int64(len(recent)))
	for i := range recent {
		a := &recent[i]
		e.b = appendBytes(e.b, a.id)
		e.b = append(e.b, flags(a.result.Succeeded, a.result.Changed), byte(refusalOf(a.result.Err)))
		e.number(a.result.Revision)
		e.number(int64(len(a.result.Read)))
		for j := range a.result.Read {
			e.b = appendKV(e.b, &a.result.Read[j])
		}
		e.flush(encodeChunk)
	}
}

// Hash is a checksum of the whole state: equal on two members that applied the same operations. It costs as much as Encode; Digest costs nothing.
func (v *View) Hash() uint64 {
	h := fnv.New64a()
	_ = v.EncodeTo(h) // a hash takes everything
	return h.Sum64()
}

func appendKV(b []byte, kv *KV) []byte {
	b = appendBytes(b, kv.Key)
	b = appendBytes(b, kv.Value)
	for _, n := range [...]int64{kv.CreateRevision, kv.ModRevision, kv.Version, int64(kv.Lease)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// kvBytes is the least a KV takes.
const kvBytes = 6

func (c *cursor) kv() KV {
	return KV{Key: c.string(), Value: c.value(), CreateRevision: c.revision(), ModRevision: c.revision(), Version: c.revision(), Lease: LeaseID(c.uvarint())}
}

// DecodeSnapshot reads what Encode wrote into a new Store that shares nothing with b. It fails with ErrDamaged.
func DecodeSnapshot(b []byte) (*Store, error) {
	b, err := Unseal(b)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	format, ok := strings.CutPrefix(string(b[:min(len(b), len(snapshotMagic)+1)]), snapshotMagic)
	switch {
	case !ok || format == "":
		return nil, fmt.Errorf("snapshot: %w: not a state of the store", ErrDamaged)
	case format[0] != snapshotFormat:
		return nil, fmt.Errorf("snapshot: %w: format %d of another version of the program; this one reads format %d", ErrDamaged, format[0], snapshotFormat)
	}
	c := &cursor{b: b[len(snapshotMagic)+1:]}
	s := New()
	last := c.revision()
	s.compacted = c.revision()
	s.revision = s.floor()
	s.readBase(c)
	s.readHistory(c)
	if c.err == nil && s.revision != last {
		c.fail("history does not lead to the revision named")
	}
	s.readLeases(c)
	s.readAlarms(c)
	s.readAnswers(c)
	c.end()
	if c.err != nil {
		return nil, fmt.Errorf("snapshot: %w", c.err)
	}
	s.dbSize = s.size
	return s, nil
}

func (s *Store) readBase(c *cursor) {
	var before *version
	for n := c.count(kvBytes); n > 0 && c.err == nil; n-- {
		v := &version{KV: c.kv()}
		switch {
		case c.err != nil:
			return
		case before != nil && v.Key <= before.Key:
			c.fail("keys out of order")
			return
		case v.Version < 1 || v.CreateRevision < 1 || v.ModRevision < v.CreateRevision || v.ModRevision > s.floor():
			c.fail("a key has impossible numbers")
			return
		}
		v.sum = sumKV(ofVersion, &v.KV)
		s.present.Load(v)
		s.sum += v.sum
		s.size += weight(v)
		before = v
	}
}

// readHistory replays. Leases are looked at when it is done: one that a version in the past hung on may be over.
func (s *Store) readHistory(c *cursor) {
	for n := c.count(1); n > 0 && c.err == nil; n-- {
		ops := make([]Op, c.count(3))
		for i := range ops {
			ops[i] = c.op()
			if ops[i].End != "" {
				c.fail("a change of many keys")
			}
		}
		if c.err != nil {
			return
		}
		if len(ops) == 0 || len(s.change(ops)) != len(ops) {
			c.fail("a change in history changes nothing")
			return
		}
	}
}

func (s *Store) readLeases(c *cursor) {
	before := LeaseID(0)
	for n := c.count(2); n > 0 && c.err == nil; n-- {
		id, ttl := LeaseID(c.uvarint()), c.varint()
		if id == 0 || before != 0 && id <= before {
			c.fail("leases out of order")
			return
		}
		before = id
		s.leases.Set(id, lease{ttl: ttl})
		s.sum += sumLease(id, ttl)
	}
	clear(s.attached)
	s.present.Scan(func(v *version) bool {
		if _, ok := s.leases.Get(v.Lease); v.Lease != 0 && !ok {
			c.fail("a key hangs on a lease that does not exist")
			return false
		}
		s.attach(v)
		return true
	})
}

func (s *Store) readAlarms(c *cursor) {
	for n := c.count(2); n > 0 && c.err == nil; n-- {
		a := Alarm{Kind: c.string(), Member: c.string()}
		if len(s.alarms) > 0 && compareAlarms(s.alarms[len(s.alarms)-1], a) >= 0 {
			c.fail("alarms out of order")
			return
		}
		s.Raise(a)
	}
}

func (s *Store) readAnswers(c *cursor) {
	s.answers.next = c.revision()
	n := c.count(5)
	if n > answersKept || n < answersKept && s.answers.next > 0 {
		c.fail("the number of answers is not what it must be")
		return
	}
	for ; n > 0 && c.err == nil; n-- {
		id, is, refusal := c.string(), c.byte(3, "unknown kind of answer"), c.byte(byte(len(refusals)-1), "unknown refusal")
		r := TxnResult{Succeeded: is&1 != 0, Changed: is&2 != 0, Err: refusals[refusal], Revision: c.revision()}
		for m := c.count(kvBytes); m > 0 && c.err == nil; m-- {
			r.Read = append(r.Read, c.kv())
		}
		if c.err != nil {
			return
		}
		if _, twice := s.byID[id]; twice || id == "" {
			c.fail("a request id is remembered twice")
			return
		}
		s.remember(id, r)
	}
}
