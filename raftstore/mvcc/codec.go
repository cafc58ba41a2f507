package mvcc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Everything written is a sequence of unsigned varints and length-prefixed bytes, closed by a CRC-32C of all before it where it stands alone.

// ErrDamaged is in the chain of every error about bytes that are not what was written.
var ErrDamaged = errors.New("damaged bytes")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C used in all of the store's formats.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Seal appends the checksum of b to b.
func Seal(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, Checksum(b)) }

// Unseal checks and removes what Seal appended.
func Unseal(b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrDamaged, len(b))
	}
	if got, want := Checksum(b[:n]), binary.LittleEndian.Uint32(b[n:]); got != want {
		return nil, fmt.Errorf("%w: checksum %08x, want %08x", ErrDamaged, got, want)
	}
	return b[:n], nil
}

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// cursor reads what the append functions wrote. After the first error everything reads as zero.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrDamaged, what)
		c.b = nil
	}
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail("number cut short or too long")
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) revision() int64 {
	v := c.uvarint()
	if v > 1<<62 {
		c.fail("revision out of range")
		return 0
	}
	return int64(v)
}

func (c *cursor) bool() bool {
	v := c.uvarint()
	if v > 1 {
		c.fail("flag is neither 0 nor 1")
	}
	return v == 1
}

// raw returns length-prefixed bytes, still part of the input.
func (c *cursor) raw() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.fail("bytes cut short")
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) string() string { return string(c.raw()) }

// value copies: a value lives as long as its key, and must not keep a whole log entry in memory for that long.
func (c *cursor) value() []byte {
	v := c.raw()
	if len(v) == 0 {
		return nil
	}
	return append(make([]byte, 0, len(v)), v...)
}

// count reads the number of elements that follow, each of at least size bytes, so that damage cannot ask for absurd memory.
func (c *cursor) count(size int) int {
	n := c.uvarint()
	if n > uint64(len(c.b)/size) {
		c.fail("more elements announced than bytes left")
		return 0
	}
	return int(n)
}

// AppendTxn appends the encoding of t to b, without a checksum.
func AppendTxn(b []byte, t Txn) []byte {
	b = appendBytes(b, t.ID)
	b = binary.AppendUvarint(b, t.Tag)
	b = binary.AppendUvarint(b, uint64(len(t.If)))
	for _, c := range t.If {
		b = appendBytes(b, c.Key)
		b = append(b, byte(c.Target))
		b = binary.AppendVarint(b, c.Value)
	}
	for _, ops := range [2][]Op{t.Then, t.Else} {
		b = binary.AppendUvarint(b, uint64(len(ops)))
		for _, op := range ops {
			b = appendBool(b, op.Delete)
			b = appendBytes(b, op.Key)
			b = appendBytes(b, op.Value)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(t.Read)))
	for _, key := range t.Read {
		b = appendBytes(b, key)
	}
	return b
}

// DecodeTxn reads what AppendTxn wrote; all of b must be used up. The result shares nothing with b. It fails with ErrDamaged.
func DecodeTxn(b []byte) (Txn, error) {
	c := &cursor{b: b}
	var t Txn
	t.ID = c.string()
	t.Tag = c.uvarint()
	if n := c.count(3); n > 0 {
		t.If = make([]Compare, n)
	}
	for i := range t.If {
		t.If[i].Key = c.string()
		target := c.uvarint()
		if target > uint64(Version) {
			c.fail("unknown target of a compare")
		}
		t.If[i].Target = Target(target)
		t.If[i].Value = c.varint()
	}
	for _, ops := range [2]*[]Op{&t.Then, &t.Else} {
		if n := c.count(3); n > 0 {
			*ops = make([]Op, n)
		}
		for i := range *ops {
			op := &(*ops)[i]
			op.Delete = c.bool()
			op.Key = c.string()
			op.Value = c.value()
		}
	}
	if n := c.count(1); n > 0 {
		t.Read = make([]string, n)
	}
	for i := range t.Read {
		t.Read[i] = c.string()
	}
	if c.err == nil && len(c.b) > 0 {
		c.fail("bytes left over")
	}
	if c.err != nil {
		return Txn{}, fmt.Errorf("transaction: %w", c.err)
	}
	return t, nil
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail("number cut short or too long")
		return 0
	}
	c.b = c.b[n:]
	return v
}
