package child

import (
	"os"
	"time"
)

// proc is a process of this machine. Its start tells it from another that gets the same number later.
type proc struct {
	pid, parent int
	start       string
}

// EndTree ends a process and all that it has started, at whatever depth: with a hang-up, as the end of a terminal would, and with a kill what has not ended after the grace.
// It returns when none of them is left, or was killed. Programs that made themselves children of nobody before are not found.
//
// Any goroutine. Whoever started the process still has to wait for it.
func EndTree(root *os.Process, grace time.Duration) {
	found := tree(processes(), root.Pid)
	if len(found) == 0 { // it cannot be seen here, or has ended already
		_ = root.Kill()
		return
	}
	for _, p := range found {
		hangUp(p.pid)
	}
	for until := time.Now().Add(grace); time.Now().Before(until); time.Sleep(treeStep) {
		if len(alive(found)) == 0 {
			return
		}
	}
	for _, p := range alive(found) {
		for _, late := range tree(processes(), p.pid) {
			_ = killPid(late.pid)
		}
	}
}

// treeStep is how often it is looked whether processes have ended.
const treeStep = 20 * time.Millisecond

// tree is a process and its descendants among all, it first.
func tree(all []proc, root int) (found []proc) {
	children := map[int][]proc{}
	for _, p := range all {
		if p.pid == root {
			found = append(found, p)
		}
		children[p.parent] = append(children[p.parent], p)
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}

// alive are those of the processes that have not ended. One that nobody has waited for yet counts as ended.
func alive(some []proc) (left []proc) {
	now := map[int]proc{}
	for _, p := range processes() {
		now[p.pid] = p
	}
	for _, p := range some {
		if n, ok := now[p.pid]; ok && n.start == p.start {
			left = append(left, p)
		}
	}
	return left
}
