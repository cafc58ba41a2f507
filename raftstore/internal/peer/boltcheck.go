package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// checkBoltFile reads a bolt file as a file and checks that everything bolt will follow is there: a valid meta page, and a tree in which each
// page is what it should be, lies inside the file and is reached once, with keys in order.
//
// Bolt itself checks nothing of that. It maps the file, and damage makes it panic on goroutines of its own, run in circles, or fault where the file
// was cut, each of which would end the program. What this cannot see, a changed key or value, is for the checksums of the entries.
// The layout is that of bolt's format version 2 (bbolt page.go, db.go): numbers are in the machine's byte order.
func checkBoltFile(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // bolt will make one
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil // bolt will begin with it
	}
	c := boltCheck{file: file, size: info.Size(), seen: make(map[uint64]bool)}
	root, err := c.meta()
	if err == nil {
		err = c.tree(root, nil, nil, 0)
	}
	if err != nil {
		return notAsWritten(path, fmt.Errorf("%w: %w", errDamagedDisk, err))
	}
	return nil
}

const (
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	boltHeader     = 16 // of a page, and the size of an element and of a bucket's header
	boltMetaLen    = 64
	boltDepthMax   = 40
	boltBranchPage = 0x01
	boltLeafPage   = 0x02
	boltMetaPage   = 0x04
	boltBucketElem = 0x01
)

var order = binary.NativeEndian

type boltCheck struct {
	file     io.ReaderAt
	size     int64
	pageSize uint64
	pages    uint64 // in use, from the meta page
	seen     map[uint64]bool
}

// meta reads the two meta pages and returns the root of the tree of the newer. Both must be whole, and their transactions follow on each other: see Disk for why anything else is damage.
func (c *boltCheck) meta() (root uint64, err error) {
	var transactions [2]uint64
	c.pageSize = 4096
	for i := range transactions {
		var b [boltHeader + boltMetaLen]byte
		if _, err := c.file.ReadAt(b[:], int64(uint64(i)*c.pageSize)); err != nil {
			return 0, fmt.Errorf("meta page %d: %w", i, err)
		}
		m := b[boltHeader:]
		h := fnv.New64a()
		h.Write(m[:56]) // never fails
		pageSize := uint64(order.Uint32(m[8:]))
		switch {
		case order.Uint64(b[:]) != uint64(i) || order.Uint16(b[8:]) != boltMetaPage || order.Uint32(m) != boltMagic || h.Sum64() != order.Uint64(m[56:]):
			return 0, fmt.Errorf("meta page %d does not read: behind it may be the last thing that was acknowledged", i)
		case order.Uint32(m[4:]) != boltVersion:
			return 0, fmt.Errorf("format version %d, want %d", order.Uint32(m[4:]), boltVersion)
		case pageSize < 512 || pageSize > 1<<16 || i > 0 && pageSize != c.pageSize:
			return 0, fmt.Errorf("page size %d", pageSize)
		}
		c.pageSize = pageSize
		if transactions[i] = order.Uint64(m[48:]); i == 0 || transactions[1] > transactions[0] {
			root, c.pages = order.Uint64(m[16:]), order.Uint64(m[40:])
		}
	}
	if d := transactions[0] - transactions[1]; d != 1 && d != ^uint64(0) {
		return 0, fmt.Errorf("the meta pages are of transactions %d and %d, which do not follow on each other", transactions[0], transactions[1])
	}
	if c.pages > uint64(c.size)/c.pageSize {
		return 0, fmt.Errorf("%d pages in use, but the file holds %d", c.pages, uint64(c.size)/c.pageSize)
	}
	return root, nil
}

// tree checks the page at id and everything below. Its keys must lie in [from, to), where to is not nil.
func (c *boltCheck) tree(id uint64, from, to []byte, depth int) error {
	if id < 2 || id >= c.pages || c.seen[id] || depth > boltDepthMax {
		return fmt.Errorf("page %d is out of range, reached twice or too deep", id)
	}
	var head [boltHeader]byte
	if _, err := c.file.ReadAt(head[:], int64(id*c.pageSize)); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	overflow := uint64(order.Uint32(head[12:]))
	if order.Uint64(head[:]) != id || overflow >= c.pages-id {
		return fmt.Errorf("page %d calls itself %d and has %d more", id, order.Uint64(head[:]), overflow)
	}
	for i := range overflow + 1 {
		if c.seen[id+i] {
			return fmt.Errorf("page %d belongs to two", id+i)
		}
		c.seen[id+i] = true
	}
	b := make([]byte, (overflow+1)*c.pageSize)
	if _, err := c.file.ReadAt(b, int64(id*c.pageSize)); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	if err := c.page(b, from, to, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// page checks the elements of a page, header included in b.
func (c *boltCheck) page(b []byte, from, to []byte, depth int) error {
	flags, count := order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	if flags != boltBranchPage && flags != boltLeafPage {
		return fmt.Errorf("unknown kind %#x", flags)
	}
	if boltHeader+count*boltHeader > len(b) || flags == boltBranchPage && count == 0 {
		return fmt.Errorf("%d elements", count)
	}
	type child struct {
		id  uint64
		key []byte
	}
	var children []child
	last := from
	for i := range count {
		elem := b[boltHeader+i*boltHeader:]
		var pos, keyLen, valueLen uint64
		if flags == boltBranchPage {
			pos, keyLen = uint64(order.Uint32(elem)), uint64(order.Uint32(elem[4:]))
		} else {
			pos, keyLen, valueLen = uint64(order.Uint32(elem[4:])), uint64(order.Uint32(elem[8:])), uint64(order.Uint32(elem[12:]))
		}
		if pos+keyLen+valueLen > uint64(len(elem)) {
			return fmt.Errorf("element %d ends outside the page", i)
		}
		key := elem[pos : pos+keyLen]
		if (i > 0 && bytes.Compare(key, last) <= 0) || (i == 0 && bytes.Compare(key, last) < 0) || (to != nil && bytes.Compare(key, to) >= 0) {
			return fmt.Errorf("key %d is out of order", i)
		}
		last = key
		switch {
		case flags == boltBranchPage:
			children = append(children, child{order.Uint64(elem[8:]), key})
		case order.Uint32(elem)&boltBucketElem != 0:
			if err := c.bucket(elem[pos+keyLen:pos+keyLen+valueLen], depth); err != nil {
				return fmt.Errorf("bucket %q: %w", key, err)
			}
		}
	}
	for i, ch := range children {
		end := to
		if i+1 < len(children) {
			end = children[i+1].key
		}
		if err := c.tree(ch.id, ch.key, end, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket from its value: a header, and where its root is page 0, the page itself.
func (c *boltCheck) bucket(value []byte, depth int) error {
	if len(value) < boltHeader {
		return errors.New("header cut short")
	}
	if root := order.Uint64(value); root != 0 {
		return c.tree(root, nil, nil, depth+1)
	}
	if len(value) < 2*boltHeader {
		return errors.New("inline page cut short")
	}
	return c.page(value[boltHeader:], nil, nil, depth+1)
}
