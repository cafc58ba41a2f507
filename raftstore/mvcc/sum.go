package mvcc

import (
	"math/bits"
)

// The digest of a state is the sum, modulo 2^64, of the checksums of its parts. A sum does not depend on the order in which parts come and go, so that an operation adds what it makes
// and takes away what it ends, and two members agree however each came to its state. Whatever has an order (changes within a revision, remembered answers) is summed together with its place.
//
// The checksum is multiplication folded onto itself, as wyhash does it: 16 bytes a step. It has no secret; it is for mistakes and damage, not against an attacker.

const (
	sumKey1 = 0xa0761d6478bd642f
	sumKey2 = 0xe7037ed1a0b428db
	sumKey3 = 0x8ebc6af09c88c6e3
)

// What a checksum is of; it keeps parts of different kinds apart.
const (
	ofVersion uint64 = iota + 1
	ofTombstone
	ofChange
	ofLease
	ofAlarm
	ofAnswer
	ofState
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// sumWord takes a number into h.
func sumWord(h, v uint64) uint64 {
	return bits.RotateLeft64(h, 23)*sumKey3 + fold(v^sumKey1, h^sumKey2)
}

// sumBytes takes bytes and their number into h.
func sumBytes[T string | []byte](h uint64, b T) uint64 {
	n := len(b)
	i := 0
	for ; i+16 <= n; i += 16 {
		h = bits.RotateLeft64(h, 23)*sumKey3 + fold(word(b, i)^sumKey1, word(b, i+8)^h)
	}
	if i+8 <= n {
		h = sumWord(h, word(b, i))
		i += 8
	}
	var rest uint64
	for ; i < n; i++ {
		rest = rest<<8 | uint64(b[i])
	}
	return sumWord(sumWord(h, rest), uint64(n))
}

// word is eight bytes from i on; written so that the compiler makes one load of it.
func word[T string | []byte](b T, i int) uint64 {
	_ = b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 | uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}

// sumKV is the checksum of a version with all its numbers.
func sumKV(kind uint64, kv *KV) uint64 {
	h := sumBytes(sumBytes(kind, kv.Key), kv.Value)
	h = sumWord(sumWord(h, uint64(kv.CreateRevision)), uint64(kv.ModRevision))
	return sumWord(sumWord(h, uint64(kv.Version)), uint64(kv.Lease))
}

func sumAnswer(place int64, id string, r *TxnResult) uint64 {
	h := sumBytes(sumWord(ofAnswer, uint64(place)), id)
	h = sumWord(sumWord(h, uint64(flags(r.Succeeded, r.Changed))), uint64(r.Revision))
	h = sumWord(sumWord(h, uint64(refusalOf(r.Err))), uint64(len(r.Read)))
	for i := range r.Read {
		h = sumWord(h, sumKV(ofVersion, &r.Read[i]))
	}
	return h
}

func sumLease(id LeaseID, ttl int64) uint64 {
	return sumWord(sumWord(ofLease, uint64(id)), uint64(ttl))
}

func sumAlarm(a Alarm) uint64 { return sumBytes(sumBytes(ofAlarm, a.Kind), a.Member) }

// Digest is a checksum of all that members must agree on (what is present and what was, leases, alarms, remembered answers, revision and compaction), kept up to date with each
// operation, so that asking costs nothing.
func (v *View) Digest() uint64 {
	return sumWord(sumWord(sumWord(ofState, v.sum), uint64(v.revision)), uint64(v.compacted))
}
