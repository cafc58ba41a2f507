package mvcc

import (
	"encoding/binary"
	"fmt"
)

// What an operation has besides its key and value.
const (
	opDelete = 1 << iota
	opEnd
	opLease
	opKnown = 1<<iota - 1
)

// AppendTxn appends the encoding of t to b, without a checksum.
func AppendTxn(b []byte, t Txn) []byte {
	b = appendBytes(b, t.ID)
	b = binary.AppendUvarint(b, t.Tag)
	b = binary.AppendUvarint(b, uint64(len(t.If)))
	for i := range t.If {
		b = appendCompare(b, &t.If[i])
	}
	for _, ops := range [2][]Op{t.Then, t.Else} {
		b = binary.AppendUvarint(b, uint64(len(ops)))
		for i := range ops {
			b = appendOp(b, &ops[i])
		}
	}
	for _, keys := range [2][]string{t.Read, t.ReadThen} {
		b = binary.AppendUvarint(b, uint64(len(keys)))
		for _, key := range keys {
			b = appendBytes(b, key)
		}
	}
	return b
}

func appendCompare(b []byte, c *Compare) []byte {
	b = appendBytes(b, c.Key)
	b = append(b, byte(c.Target), byte(c.Relation))
	if c.Target == Content {
		return appendBytes(b, c.Bytes)
	}
	return binary.AppendVarint(b, c.Value)
}

func appendOp(b []byte, op *Op) []byte {
	b = append(b, flags(op.Delete, op.End != "", op.Lease != 0))
	b = appendBytes(b, op.Key)
	if op.End != "" {
		b = appendBytes(b, op.End)
	}
	if op.Lease != 0 {
		b = binary.AppendUvarint(b, uint64(op.Lease))
	}
	return appendBytes(b, op.Value)
}

// DecodeTxn reads what AppendTxn wrote; all of b must be used up. The result shares nothing with b. It fails with ErrDamaged.
func DecodeTxn(b []byte) (Txn, error) {
	c := &cursor{b: b}
	t := Txn{ID: c.string(), Tag: c.uvarint()}
	if n := c.count(4); n > 0 {
		t.If = make([]Compare, n)
	}
	for i := range t.If {
		t.If[i] = c.compare()
	}
	for _, ops := range [2]*[]Op{&t.Then, &t.Else} {
		if n := c.count(3); n > 0 {
			*ops = make([]Op, n)
		}
		for i := range *ops {
			(*ops)[i] = c.op()
		}
	}
	for _, keys := range [2]*[]string{&t.Read, &t.ReadThen} {
		if n := c.count(1); n > 0 {
			*keys = make([]string, n)
		}
		for i := range *keys {
			(*keys)[i] = c.string()
		}
	}
	c.end()
	if c.err != nil {
		return Txn{}, fmt.Errorf("transaction: %w", c.err)
	}
	return t, nil
}

func (c *cursor) compare() Compare {
	cmp := Compare{Key: c.string(), Target: Target(c.byte(byte(Content), "unknown target of a compare")), Relation: Relation(c.byte(byte(Less), "unknown relation of a compare"))}
	if cmp.Target == Content {
		cmp.Bytes = c.value()
	} else {
		cmp.Value = c.varint()
	}
	return cmp
}

func (c *cursor) op() Op {
	has := c.byte(opKnown, "unknown kind of operation")
	op := Op{Delete: has&opDelete != 0, Key: c.string()}
	if has&opEnd != 0 {
		op.End = c.string()
	}
	if has&opLease != 0 {
		op.Lease = LeaseID(c.uvarint())
	}
	op.Value = c.value()
	return op
}
