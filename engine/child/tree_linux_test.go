package child

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEndTreeEndsWhatAProgramHasStarted(t *testing.T) {
	// A shell whose child hears no hang-up, and that one's child; each says its number.
	script := `sh -c 'trap "" HUP; sleep 600 & echo $! $$; wait; sleep 600' & echo $$; wait`
	cmd := exec.Command("sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 3 && lines.Scan(); {
		for _, f := range strings.Fields(lines.Text()) {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
	}
	began := time.Now()
	EndTree(cmd.Process, 200*time.Millisecond)
	_ = cmd.Wait()
	if took := time.Since(began); took < 200*time.Millisecond || took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		left := 0
		for _, p := range processes() {
			for _, pid := range pids {
				if p.pid == pid {
					left++
				}
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%d of %v are left", left, pids)
		}
	}
	EndTree(cmd.Process, time.Second) // of one that has ended
}

func TestStatOfAProcess(t *testing.T) {
	line := `42 (a) b (c) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1`
	if p, ok := parseStat(42, line); !ok || p != (proc{42, 7, "12345"}) {
		t.Errorf("%+v %v", p, ok)
	}
	for _, s := range []string{"", "42 (x", strings.Replace(line, ") S", ") Z", 1)} {
		if p, ok := parseStat(42, s); ok {
			t.Errorf("%q is %+v", s, p)
		}
	}
}
