package robust_test

import (
	"os"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/robust/check"
	"example.com/kubeviz/raftstore/robust/history"
	"example.com/kubeviz/raftstore/robust/swarm"
)

// TestHistoryInAFile judges again what a failed run left behind: KUBEVIZ_HISTORY names the file.
func TestHistoryInAFile(t *testing.T) {
	name := os.Getenv("KUBEVIZ_HISTORY")
	if name == "" {
		t.Skip("KUBEVIZ_HISTORY names no file")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := history.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, v := range check.Check(h, check.Options{LeaseSlack: swarm.LeaseSlack}) {
		t.Error(v)
	}
	t.Logf("%s: %d calls, %d watches, %d revisions, judged in %v", h.Name, len(h.Ops), len(h.Watches), len(h.Applied), time.Since(began))
}
