package peer

import (
	"encoding/binary"
	"fmt"
	"sync"

	"example.com/kubeviz/raftstore/mvcc"
)

// A log entry carries the commands that arrived together:
//
//	version, term, count, count × {id (8 bytes), length, body (kind and content)}, CRC-32C
//
// It is valid only in the term it names. Where raft logs it in a later one (leadership was lost and won again while it waited), every member
// skips it. So once a member has applied anything of a later term, it knows that a write of an earlier term that it has not seen never will be.

const entryVersion = 2

// Entry is a log entry, decoded. It may be shared by all members of a cluster and is never written to.
type Entry struct {
	Term     uint64
	Commands []Command
}

// EncodeEntry makes a log entry for term. Without commands it only marks the term.
func EncodeEntry(term uint64, commands []Encoded) []byte {
	size := 32
	for _, c := range commands {
		size += len(c.Body) + 14
	}
	b := make([]byte, 0, size)
	b = append(b, entryVersion)
	b = binary.AppendUvarint(b, term)
	b = binary.AppendUvarint(b, uint64(len(commands)))
	for _, c := range commands {
		b = binary.LittleEndian.AppendUint64(b, c.ID)
		b = binary.AppendUvarint(b, uint64(len(c.Body)))
		b = append(b, c.Body...)
	}
	return mvcc.Seal(b)
}

// DecodeEntry reads what EncodeEntry wrote. It fails with mvcc.ErrDamaged.
func DecodeEntry(b []byte) (*Entry, error) {
	damaged := func(what string) (*Entry, error) { return nil, fmt.Errorf("entry: %w: %s", mvcc.ErrDamaged, what) }
	b, err := mvcc.Unseal(b)
	if err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	if len(b) == 0 || b[0] != entryVersion {
		return damaged("unknown version")
	}
	b = b[1:]
	term, n := binary.Uvarint(b)
	if n <= 0 {
		return damaged("no term")
	}
	b = b[n:]
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(len(b)/10) { // id, length and kind take ten bytes at least
		return damaged("bad count")
	}
	b = b[n:]
	e := &Entry{Term: term, Commands: make([]Command, count)}
	for i := range e.Commands {
		if len(b) < 8 {
			return damaged("cut short")
		}
		id := binary.LittleEndian.Uint64(b)
		b = b[8:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size == 0 || size > uint64(len(b)-n) {
			return damaged("bad length")
		}
		if e.Commands[i], err = decodeCommand(b[n : n+int(size)]); err != nil {
			return nil, fmt.Errorf("entry: command %d: %w", i, err)
		}
		e.Commands[i].ID = id
		b = b[n+int(size):]
	}
	if len(b) > 0 {
		return damaged("bytes left over")
	}
	return e, nil
}

// decodedKept is how many decoded entries are remembered for the other members.
const decodedKept = 256

// Decoder decodes each entry once for all members of the cluster. The members of one program then share one copy of every key and value,
// which are immutable, instead of each holding its own. Each member still checks the bytes it was given.
type Decoder struct {
	mu    sync.Mutex
	slots [decodedKept]decodedEntry
}

type decodedEntry struct {
	index, term uint64
	sum         uint32
	size        int
	entry       *Entry
}

// Decode returns the entry at index that holds b.
func (d *Decoder) Decode(index, term uint64, b []byte) (*Entry, error) {
	if _, err := mvcc.Unseal(b); err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	sum := binary.LittleEndian.Uint32(b[len(b)-4:])
	slot := &d.slots[index%decodedKept]
	d.mu.Lock()
	have := *slot
	d.mu.Unlock()
	if have.entry != nil && have.index == index && have.term == term && have.sum == sum && have.size == len(b) {
		return have.entry, nil
	}
	e, err := DecodeEntry(b)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	if slot.index <= index { // a member that lags behind does not push out what is fresh
		*slot = decodedEntry{index: index, term: term, sum: sum, size: len(b), entry: e}
	}
	d.mu.Unlock()
	return e, nil
}
