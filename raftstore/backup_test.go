package raftstore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// filled is a state with history, a compaction and remembered answers.
func filled(t testing.TB) *mvcc.Store {
	kv := mvcc.New()
	for i := range 40 {
		kv.Apply(mvcc.Txn{ID: fmt.Sprint("request-", i), Then: []mvcc.Op{{Key: fmt.Sprint("k", i%11), Value: bytes.Repeat([]byte{byte(i)}, i)}}})
	}
	kv.Apply(mvcc.Txn{Then: []mvcc.Op{{Key: "k3", Delete: true}}})
	if err := kv.Compact(20); err != nil {
		t.Fatal(err)
	}
	return kv
}

func TestBackupHoldsTheState(t *testing.T) {
	for name, kv := range map[string]*mvcc.Store{"empty": mvcc.New(), "filled": filled(t)} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
			var file bytes.Buffer
			wrote, err := WriteBackup(&file, kv.Snapshot(), at)
			if err != nil {
				t.Fatal(err)
			}
			if wrote.Bytes != int64(file.Len()) || wrote.Revision != kv.Revision() || !wrote.At.Equal(at) {
				t.Errorf("told %+v of %d bytes at revision %d", wrote, file.Len(), kv.Revision())
			}
			back, read, err := ReadBackup(&file)
			if err != nil {
				t.Fatal(err)
			}
			if read != wrote {
				t.Errorf("read %+v, wrote %+v", read, wrote)
			}
			if back.Snapshot().Hash() != kv.Snapshot().Hash() {
				t.Error("the state is another")
			}
		})
	}
}

func TestBackupWithAnyByteChangedCutOrAddedIsRefused(t *testing.T) {
	var file bytes.Buffer
	if _, err := WriteBackup(&file, filled(t).Snapshot(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	refused := func(what string, b []byte) {
		if _, _, err := ReadBackup(bytes.NewReader(b)); !errors.Is(err, errNotBackup) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x10
		refused(fmt.Sprint("bit of byte ", i), b)
		refused(fmt.Sprint("cut at ", i), good[:i])
	}
	refused("a byte more", append(bytes.Clone(good), 0))
}

// failing is a full disk.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestBackupThatCannotBeWrittenFails(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	info, err := WriteBackup(&file, filled(t).Snapshot(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for room := range int(info.Bytes) {
		if _, err := WriteBackup(&failing{room: room}, filled(t).Snapshot(), time.Time{}); err == nil {
			t.Fatalf("no error with room for %d of %d bytes", room, info.Bytes)
		}
	}
}

// FuzzReadBackup: any bytes give an error, or a state that written again is the same.
func FuzzReadBackup(f *testing.F) {
	var file bytes.Buffer
	if _, err := WriteBackup(&file, filled(f).Snapshot(), time.Time{}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes(), false)
	f.Add(file.Bytes()[:file.Len()-sha256.Size], true)
	f.Add([]byte(backupMagic+"\xff\xff\xff\xff"), false)
	f.Add([]byte(backupMagic+"\x12\x00\x00\x00"+`{"bytes":99999999}`), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal { // so that it is not the checksum alone that protects
			sum := sha256.Sum256(b)
			b = append(b[:len(b):len(b)], sum[:]...)
		}
		kv, info, err := ReadBackup(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		told, err := WriteBackup(&again, kv.Snapshot(), info.At)
		if err != nil {
			t.Fatal(err)
		}
		if told.Revision != info.Revision || told.Keys != info.Keys || told.Hash != info.Hash {
			t.Errorf("read %+v, wrote %+v", info, told)
		}
	})
}
