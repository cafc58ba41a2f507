package raftstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// A backup is one file: backupMagic with the version of the format, the length of the header (4 bytes, little endian), the header as JSON, the state as mvcc encodes it, and
// the SHA-256 of everything before. The header can be read by eye (strings FILE), the state carries a checksum of its own.
const (
	backupMagic = "kvbackup\x01"
	// headerMax and backupMax bound what is read of a file that says it is a backup: it may be anything.
	headerMax = 1 << 20
	backupMax = 2 * DefaultQuota
)

// errNotBackup is in the chain of every error of ReadBackup that is not one of reading.
var errNotBackup = errors.New("not a backup, or a damaged one")

// backupHeader says what the state is, for who looks at the file and to be compared with what it holds.
type backupHeader struct {
	Revision int64     `json:"revision"`
	Keys     int       `json:"keys"`
	Hash     uint32    `json:"hash"`
	At       time.Time `json:"at"`
	// Members of the cluster it was taken from, and the one whose state it is.
	Members []Member `json:"members,omitempty"`
	Member  string   `json:"member,omitempty"`
	// Bytes of the state that follow.
	Bytes int64 `json:"bytes"`
}

// WriteBackup writes the state in v as a backup made at a virtual time.
func WriteBackup(w io.Writer, v *mvcc.View, at time.Time) (BackupInfo, error) {
	return writeBackup(w, v, backupHeader{At: at})
}

// length counts what is written to it. A backup says in front how long its state is, and the state is never held as a whole: it is encoded twice.
type length int64

func (n *length) Write(p []byte) (int, error) {
	*n += length(len(p))
	return len(p), nil
}

func writeBackup(w io.Writer, v *mvcc.View, h backupHeader) (BackupInfo, error) {
	var size length
	_ = v.EncodeTo(&size) // it takes everything
	info, err := contents(v)
	if err != nil {
		return BackupInfo{}, fmt.Errorf("write backup: %w", err)
	}
	h.Revision, h.Keys, h.Hash, h.Bytes = info.Revision, info.Keys, info.Hash, int64(size)
	text, err := json.Marshal(h)
	if err != nil {
		return BackupInfo{}, fmt.Errorf("write backup: %w", err)
	}
	head := binary.LittleEndian.AppendUint32([]byte(backupMagic), uint32(len(text)))
	head = append(head, text...)
	sum := sha256.New()
	summed := io.MultiWriter(w, sum)
	if _, err = summed.Write(head); err == nil {
		err = v.EncodeTo(summed)
	}
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	if err != nil {
		return BackupInfo{}, fmt.Errorf("write backup: %w", err)
	}
	info.At, info.Bytes = h.At, int64(len(head))+int64(size)+sha256.Size
	return info, nil
}

// contents is what a backup of v says of it.
func contents(v *mvcc.View) (BackupInfo, error) {
	all, err := v.Range(mvcc.Range{Key: "\x00", End: mvcc.PrefixEnd(""), CountOnly: true})
	if err != nil {
		return BackupInfo{}, err
	}
	hash, err := v.HashKV(0)
	if err != nil {
		return BackupInfo{}, err
	}
	return BackupInfo{Revision: v.Revision(), Keys: all.Count, Hash: hash.Hash}, nil
}

// ReadBackup reads what WriteBackup wrote. It fails on anything else, on any damage, and on bytes that follow.
func ReadBackup(r io.Reader) (*mvcc.Store, BackupInfo, error) {
	fail := func(format string, args ...any) (*mvcc.Store, BackupInfo, error) {
		return nil, BackupInfo{}, fmt.Errorf("read backup: %w: %s", errNotBackup, fmt.Sprintf(format, args...))
	}
	sum := sha256.New()
	hashed := io.TeeReader(r, sum)
	head := make([]byte, len(backupMagic)+4)
	if _, err := io.ReadFull(hashed, head); err != nil {
		return fail("it ends in its first bytes")
	}
	if string(head[:len(backupMagic)]) != backupMagic {
		return fail("it begins otherwise than a backup of this version")
	}
	size := binary.LittleEndian.Uint32(head[len(backupMagic):])
	if size > headerMax {
		return fail("its header claims %d bytes", size)
	}
	text, err := readExactly(hashed, int64(size))
	if err != nil {
		return fail("header: %v", err)
	}
	var h backupHeader
	if err := json.Unmarshal(text, &h); err != nil {
		return fail("header: %v", err)
	}
	if h.Bytes < 0 || h.Bytes > backupMax {
		return fail("it claims to hold %d bytes", h.Bytes)
	}
	state, err := readExactly(hashed, h.Bytes)
	if err != nil {
		return fail("state: %v", err)
	}
	want := sum.Sum(nil)
	if have, err := readExactly(r, sha256.Size); err != nil || !bytes.Equal(have, want) {
		return fail("its checksum does not fit")
	}
	if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return fail("more follows its end")
	}
	kv, err := mvcc.DecodeSnapshot(state)
	if err != nil {
		return fail("%v", err)
	}
	info, err := contents(kv.Snapshot())
	if err != nil {
		return fail("%v", err)
	}
	if info.Revision != h.Revision || info.Keys != h.Keys || info.Hash != h.Hash {
		return fail("its header tells of revision %d with %d keys (hash %08x), it holds revision %d with %d (%08x)", h.Revision, h.Keys, h.Hash, info.Revision, info.Keys, info.Hash)
	}
	info.At, info.Bytes = h.At, int64(len(head)+len(text)+len(state)+sha256.Size)
	return kv, info, nil
}

// readExactly reads n bytes, and takes memory only as they arrive: n may be a lie.
func readExactly(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if got, err := io.CopyN(&b, r, n); err != nil {
		return nil, fmt.Errorf("it ends after %d of %d bytes", got, n)
	}
	return b.Bytes(), nil
}
