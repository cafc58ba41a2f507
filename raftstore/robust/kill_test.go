package robust_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/robust/check"
	"example.com/kubeviz/raftstore/robust/history"
)

// cyclesPerRun is how many kills go into one history on one folder.
const cyclesPerRun = 10

// startsWithin is how soon the store must serve after a kill. It is the promise; a machine that is busy with other things gets startsSurely.
const (
	startsWithin = 5 * time.Second
	startsSurely = 30 * time.Second
)

// TestKilledProgramLosesNothing kills a program that runs three members on synced files with signal 9, at random moments and right at failpoints, and starts it on the same folder again,
// which must need no repair. What all its lives told on the way is one history for the same checkers.
func TestKilledProgramLosesNothing(t *testing.T) {
	cycles := environment(t, "KUBEVIZ_KILL_CYCLES", cyclesPerRun)
	if testing.Short() {
		cycles = min(cycles, 3)
	}
	from := environment(t, "KUBEVIZ_KILL_FROM", 1)
	var starts []time.Duration
	kills := 0
	for seed := from; kills < cycles; seed++ {
		n := min(cyclesPerRun, cycles-kills)
		k := &killer{t: t, dir: t.TempDir(), rand: rand.New(rand.NewPCG(uint64(seed), 9)), seed: uint64(seed), began: time.Now()}
		lives := 0
		// A busy machine writes less in a life; it gets more lives.
		for ; lives < n || lives < 4*n && k.gather.History().Acknowledged() < 20*n; lives++ {
			k.life(false)
		}
		kills += lives
		k.life(true)
		h := k.gather.History()
		h.Name = fmt.Sprintf("kill -9, seed %d, %d kills", seed, lives)
		if broken := check.Check(h, check.Options{MayBeCut: true}); len(broken) > 0 {
			report(t, h, broken, fmt.Sprintf("kill-%d", seed))
		}
		if !h.Complete {
			t.Errorf("seed %d: the members are not equal after the last start", seed)
		}
		starts = append(starts, k.starts...)
		if t.Failed() {
			break
		}
		if acknowledged := h.Acknowledged(); acknowledged < 20*n {
			t.Errorf("seed %d: only %d acknowledged writes in %d lives", seed, acknowledged, lives)
		} else {
			t.Logf("seed %d: %d kills (%d at failpoints), %d acknowledged writes, %d open calls", seed, lives, k.trapped, acknowledged, open(h))
		}
	}
	slices.Sort(starts)
	if n := len(starts); n > 0 {
		t.Logf("%d kills; served after a start: median %v, p95 %v, worst %v", kills, starts[n/2], starts[n*95/100], starts[n-1])
		if starts[n-1] > startsSurely || starts[n/2] > startsWithin {
			t.Errorf("a start took %v, half of them %v; %v are promised", starts[n-1], starts[n/2], startsWithin)
		}
	}
}

// passed are the points that a member under load passes all the time.
var passed = []failure.Point{failure.BeforeStoreLog, failure.AfterStoreLog, failure.BeforeDeleteLog, failure.AfterDeleteLog, failure.BeforePropose, failure.AfterPropose,
	failure.BeforeForward, failure.AfterForward, failure.BeforeApply, failure.AfterApply, failure.BeforeSnapshot, failure.InSnapshot, failure.BeforeSnapshotClose, failure.AfterSnapshot}

func open(h *history.History) int {
	n := 0
	for _, o := range h.Ops {
		if o.Open() {
			n++
		}
	}
	return n
}

// killer is the parent of one folder's lives.
type killer struct {
	t      *testing.T
	dir    string
	rand   *rand.Rand
	seed   uint64
	began  time.Time
	gather history.Gather

	last    int64 // instant or id
	trapped int
	starts  []time.Duration
}

// known is the last revision up to which all are known.
func (k *killer) known() int64 {
	seen := make(map[int64]bool)
	h := k.gather.History()
	for _, a := range h.Applied {
		seen[a.Revision] = true
	}
	for _, w := range h.Watches {
		if w.Client == 2001 {
			for _, b := range w.Batches {
				for _, e := range b.Events {
					seen[e.KV.ModRevision] = true
				}
			}
		}
	}
	rev := int64(1)
	for seen[rev+1] {
		rev++
	}
	return rev
}

func (k *killer) life(finish bool) {
	o := order{Dir: k.dir, Sync: true, Seed: k.seed, From: k.last + 1000, Revision: k.known(), Began: k.began.UnixNano(), Finish: finish}
	// Every second time the kill is to come at a failpoint that a running member passes.
	if !finish && k.rand.IntN(2) == 0 {
		o.Point, o.Member, o.Skip = passed[k.rand.IntN(len(passed))], fmt.Sprintf("m%d", 1+k.rand.IntN(3)), k.rand.IntN(6)
	}
	b, err := json.Marshal(o)
	if err != nil {
		k.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+string(b))
	child.ExtraFiles = []*os.File{w}
	child.Stderr = os.Stderr
	began := time.Now()
	if err := child.Start(); err != nil {
		k.t.Fatal(err)
	}
	w.Close()
	lines := make(chan history.Line)
	go func() {
		defer close(lines)
		for in := bufio.NewReaderSize(r, 1<<16); ; {
			b, err := in.ReadBytes('\n')
			if err != nil {
				return // what was cut short was never said
			}
			var l history.Line
			if json.Unmarshal(b, &l) == nil {
				lines <- l
			}
		}
	}()
	var deadline <-chan time.Time
	kill := func() { child.Process.Signal(syscall.SIGKILL) }
	late := time.AfterFunc(2*startsSurely, kill)
	defer late.Stop()
	for {
		select {
		case l, more := <-lines:
			if !more {
				err := child.Wait()
				if finish && err != nil {
					k.t.Errorf("seed %d: the last life: %v", k.seed, err)
				}
				if !finish && deadline == nil {
					k.t.Errorf("seed %d: the program did not serve after a kill: %v", k.seed, err)
				}
				return
			}
			k.take(l)
			switch {
			case l.Note == nil:
			case l.Note.Kind == noteServing:
				k.starts = append(k.starts, time.Since(began))
				if !finish {
					deadline = time.After(time.Duration(50+k.rand.IntN(400)) * time.Millisecond)
				}
			case l.Note.Kind == "trap" && !finish:
				k.trapped++
				if deadline == nil {
					deadline = make(chan time.Time)
				}
				kill()
			}
		case <-deadline:
			kill()
			deadline = make(chan time.Time)
		}
	}
}

func (k *killer) take(l history.Line) {
	k.gather.Add(l)
	for _, n := range instants(l) {
		k.last = max(k.last, n)
	}
}

func instants(l history.Line) []int64 {
	switch {
	case l.Op != nil:
		return []int64{l.Op.ID, l.Op.Call, l.Op.Return}
	case l.Watch != nil:
		return []int64{l.Watch.ID, l.Watch.Call, l.Watch.Until, l.Watch.Opened}
	case l.Batch != nil:
		return []int64{l.Batch.Seq}
	case l.Applied != nil:
		return []int64{l.Applied.Seq}
	case l.Role != nil:
		return []int64{l.Role.Seq}
	case l.Note != nil:
		return []int64{l.Note.Seq}
	}
	return nil
}
