package mvcc

import (
	"encoding/binary"
	"hash/crc32"
)

// HashKV is etcd's: of keys, values and revisions after the last compaction up to rev (0: the present). It reads them all. It fails with ErrCompacted or ErrFutureRev.
func (v *View) HashKV(rev int64) (HashKV, error) {
	if rev == 0 {
		rev = v.revision
	}
	switch {
	case rev < v.compacted:
		return HashKV{}, ErrCompacted
	case rev > v.revision:
		return HashKV{}, ErrFutureRev
	}
	h := kvHash{}
	v.rangeAt(v.floor(), spanOf("", noEnd), h.add)
	for _, c := range v.history.changes {
		if c.after.ModRevision > rev {
			break
		}
		h.add(c.after)
	}
	return HashKV{Hash: h.crc, Revision: rev, Compacted: v.compacted}, nil
}

type kvHash struct {
	crc uint32
	buf []byte
}

func (h *kvHash) add(v *version) {
	h.buf = appendBytes(h.buf[:0], v.Key)
	for _, n := range [...]int64{v.CreateRevision, v.ModRevision, v.Version, int64(v.Lease)} {
		h.buf = binary.AppendVarint(h.buf, n)
	}
	h.buf = binary.AppendUvarint(h.buf, uint64(len(v.Value)))
	h.crc = crc32.Update(crc32.Update(h.crc, castagnoli, h.buf), castagnoli, v.Value)
}
