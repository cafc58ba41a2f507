//go:build unix

package raftstore

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Another process looks for abandoned folders at any time, also while this one is taking its own.
func TestAFolderIsNeverFreeWhileItIsBeingTaken(t *testing.T) {
	for range 300 {
		dir := t.TempDir()
		var taken atomic.Bool
		free, looks := make(chan bool), make(chan struct{})
		go func() {
			close(looks)
			found := false
			for !taken.Load() {
				found = Abandoned(dir) || found
			}
			free <- found
		}()
		<-looks
		release, err := lockDir(filepath.Join(dir, lockFile))
		taken.Store(true)
		if found := <-free; err != nil || found {
			t.Fatalf("abandoned: %v; %v", found, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("beside the lock there is %v", left)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
