package peer

import (
	"encoding/binary"
	"fmt"

	"example.com/kubeviz/raftstore/mvcc"
)

// Kind says what a command does. The numbers are those in the log.
type Kind byte

const (
	// Txn runs a transaction.
	Txn Kind = iota
	// Compact drops history up to a revision.
	Compact
	// Grant makes a lease.
	Grant
	// Revoke ends a lease because somebody asked for it, Expire because the leader found that it has run out.
	Revoke
	Expire
	// Raise puts an alarm in force, Disarm lifts all.
	Raise
	Disarm
)

// Command is one write in an entry. Only the fields that its Kind names are set.
type Command struct {
	// ID is how the member that asked for it recognises it, and how the state machine recognises a second copy; see NewOrigin.
	ID      uint64
	Kind    Kind
	Txn     mvcc.Txn
	Compact int64
	// Lease of Grant, Revoke and Expire; TTL of Grant, in seconds.
	Lease mvcc.LeaseID
	TTL   int64
	Alarm mvcc.Alarm
}

// Encoded is a Command as bytes, ready to be put into an entry.
type Encoded struct {
	ID   uint64
	Body []byte // kind and content
}

// Kind is what the command does.
func (e Encoded) Kind() Kind { return Kind(e.Body[0]) }

// MaxTTL is the longest life of a lease, in seconds (etcd server/lease/lessor.go).
const MaxTTL = 9_000_000_000

// EncodeTxn encodes a transaction.
func EncodeTxn(id uint64, t mvcc.Txn) Encoded {
	size := 64 + len(t.ID) // near enough for most, so that it need not grow
	for _, c := range t.If {
		size += len(c.Key) + 32
	}
	for _, ops := range [2][]mvcc.Op{t.Then, t.Else} {
		for _, op := range ops {
			size += len(op.Key) + len(op.Value) + 32
		}
	}
	return Encoded{ID: id, Body: mvcc.AppendTxn(append(make([]byte, 0, size), byte(Txn)), t)}
}

// EncodeCompact encodes a compaction.
func EncodeCompact(id uint64, rev int64) Encoded {
	return Encoded{ID: id, Body: binary.AppendUvarint([]byte{byte(Compact)}, uint64(rev))}
}

// EncodeGrant encodes the grant of a lease of ttl seconds.
func EncodeGrant(id uint64, lease mvcc.LeaseID, ttl int64) Encoded {
	b := binary.AppendUvarint([]byte{byte(Grant)}, uint64(lease))
	return Encoded{ID: id, Body: binary.AppendUvarint(b, uint64(ttl))}
}

// EncodeRevoke encodes the end of a lease; expired: it has run out.
func EncodeRevoke(id uint64, lease mvcc.LeaseID, expired bool) Encoded {
	kind := Revoke
	if expired {
		kind = Expire
	}
	return Encoded{ID: id, Body: binary.AppendUvarint([]byte{byte(kind)}, uint64(lease))}
}

// EncodeRaise encodes an alarm.
func EncodeRaise(id uint64, a mvcc.Alarm) Encoded {
	b := []byte{byte(Raise)}
	for _, s := range [2]string{a.Kind, a.Member} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return Encoded{ID: id, Body: b}
}

// EncodeDisarm encodes the end of all alarms.
func EncodeDisarm(id uint64) Encoded { return Encoded{ID: id, Body: []byte{byte(Disarm)}} }

// Encode encodes a command that was decoded.
func (c *Command) Encode() Encoded {
	switch c.Kind {
	case Compact:
		return EncodeCompact(c.ID, c.Compact)
	case Grant:
		return EncodeGrant(c.ID, c.Lease, c.TTL)
	case Revoke, Expire:
		return EncodeRevoke(c.ID, c.Lease, c.Kind == Expire)
	case Raise:
		return EncodeRaise(c.ID, c.Alarm)
	case Disarm:
		return EncodeDisarm(c.ID)
	}
	return EncodeTxn(c.ID, c.Txn)
}

// decodeCommand reads kind and content, which must use up b. It fails with mvcc.ErrDamaged.
func decodeCommand(b []byte) (c Command, err error) {
	c.Kind = Kind(b[0])
	r := reader{b: b[1:]}
	switch c.Kind {
	case Txn:
		c.Txn, err = mvcc.DecodeTxn(r.b)
		return c, err
	case Compact:
		c.Compact = r.number(1, 1<<62)
	case Grant:
		c.Lease, c.TTL = mvcc.LeaseID(r.number(1, 1<<63-1)), r.number(1, MaxTTL)
	case Revoke, Expire:
		c.Lease = mvcc.LeaseID(r.number(1, 1<<63-1))
	case Raise:
		c.Alarm = mvcc.Alarm{Kind: r.text(), Member: r.text()}
		if c.Alarm.Kind != mvcc.NoSpace && c.Alarm.Kind != mvcc.Corrupt {
			r.bad = true
		}
	case Disarm:
	default:
		return c, fmt.Errorf("%w: unknown kind of command %d", mvcc.ErrDamaged, b[0])
	}
	if r.bad || len(r.b) > 0 {
		return c, fmt.Errorf("%w: a command of kind %d that makes no sense", mvcc.ErrDamaged, b[0])
	}
	return c, nil
}

// reader reads numbers and texts. After something bad everything reads as zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) number(low, high uint64) int64 {
	v := r.uvarint()
	if v < low || v > high {
		r.b, r.bad = nil, true
		return 0
	}
	return int64(v)
}

func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
