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

// flags packs up to eight truths into a byte, the first one lowest.
func flags(truths ...bool) (b byte) {
	for i, t := range truths {
		if t {
			b |= 1 << i
		}
	}
	return b
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

// byte reads one that is at most limit.
func (c *cursor) byte(limit byte, what string) byte {
	if len(c.b) == 0 || c.b[0] > limit {
		c.fail(what)
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
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

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail("number cut short or too long")
		return 0
	}
	c.b = c.b[n:]
	return v
}

// end checks that nothing is left over.
func (c *cursor) end() {
	if c.err == nil && len(c.b) > 0 {
		c.fail("bytes left over")
	}
}
