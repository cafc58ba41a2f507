package child

import (
	"os"
	"strconv"
	"strings"
)

// processes lists those that run, from /proc (proc_pid_stat(5)); what has ended and is only not waited for yet is left out.
func processes() (all []proc) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + n + "/stat")
		if err != nil {
			continue // it has just ended
		}
		if p, ok := parseStat(pid, string(data)); ok {
			all = append(all, p)
		}
	}
	return all
}

// parseStat reads a line of /proc/PID/stat. The second field is a name in brackets, which may itself hold brackets and blanks.
func parseStat(pid int, line string) (p proc, ok bool) {
	rest := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const state, parent, start = 0, 1, 19
	if len(rest) <= start || rest[state] == "Z" || rest[state] == "X" {
		return proc{}, false
	}
	of, err := strconv.Atoi(rest[parent])
	return proc{pid: pid, parent: of, start: rest[start]}, err == nil
}
