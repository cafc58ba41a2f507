package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// CheckFile reads a log file from end to end and fails, with ErrDamaged in the chain, where it does not hold what was written: the pages as the file has them, then bolt's own check,
// which counts what is free as well, then every entry and value with its checksum, and that the log ends where it should.
//
// It is made for a process of its own: what the first look overlooks may make bolt panic on another goroutine, run in circles, or fault where the file was cut.
func CheckFile(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := checkBoltFile(path); err != nil {
		return err
	}
	readOnly := &bbolt.Options{Timeout: boltLockTimeout, ReadOnly: true}
	db, err := bbolt.Open(path, markerMode, readOnly)
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		var first error
		for err := range tx.Check() { // to its end, or its goroutine is left behind
			if first == nil {
				first = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		}
		return first
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return notAsWritten(path, err)
	}
	store, err := raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: readOnly})
	if err != nil {
		return err
	}
	if err := errors.Join(checkContent(store), store.Close()); err != nil {
		return notAsWritten(path, err)
	}
	return nil
}

// notAsWritten says first what it comes to that a log file is damaged, and then where, for who knows the format. The folder is left out: whoever reads it asks for the member, and the folder may be a
// temporary one.
func notAsWritten(path string, err error) error {
	if !errors.Is(err, errDamagedDisk) {
		return fmt.Errorf("%s: %w", path, err)
	}
	where := strings.ReplaceAll(strings.ReplaceAll(err.Error(), errDamagedDisk.Error()+": ", ""), "\n", "; ")
	return fmt.Errorf("%w: part of its log is not what was written (%s: %s)", errDamagedDisk, filepath.Base(path), where)
}

func checkContent(store backing) error {
	log, err := newTailed(store)
	if err != nil {
		return err
	}
	g := &guard{backing: log}
	first, err := g.FirstIndex()
	if err != nil {
		return err
	}
	last, err := g.LastIndex()
	if err != nil {
		return err
	}
	for i := first; last > 0 && i <= last; i++ {
		var l raft.Log
		if err := g.GetLog(i, &l); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := checkEntry(&l, i); err != nil {
			return err
		}
	}
	for _, key := range [][]byte{keyCurrentTerm, keyVoteTerm, keyVoteCandidate} {
		if _, err := g.Get(key); err != nil && err.Error() != raftboltdb.ErrKeyNotFound.Error() {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return nil
}

// checkEntry refuses an entry that raft or the state machine could not take.
func checkEntry(l *raft.Log, index uint64) error {
	if l.Index != index {
		return fmt.Errorf("%w: entry %d calls itself %d", ErrDamaged, index, l.Index)
	}
	if l.Type == raft.LogCommand {
		if _, err := DecodeEntry(l.Data); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrDamaged, index, err)
		}
	}
	return nil
}
