package command

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"example.com/kubeviz/raftstore/failure"
)

// Complete offers ways to go on with a line, given the targets that exist (machines, machine/process, special names). Sorted.
func Complete(line string, targets []string) []string {
	fields := strings.Fields(line)
	last := ""
	if len(fields) > 0 && !strings.HasSuffix(line, " ") {
		last, fields = fields[len(fields)-1], fields[:len(fields)-1]
	}
	var out []string
	for _, o := range offers(fields, targets) {
		if strings.HasPrefix(o, last) && o != last {
			out = append(out, o)
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// offers are the words that may stand behind those given.
func offers(before, targets []string) []string {
	if len(before) == 0 {
		var out []string
		for _, w := range Words() {
			out = append(out, w.Name)
		}
		for v := range kubectlVerbs {
			out = append(out, v)
		}
		return out
	}
	at := len(before) // place of the word that is asked for; the command's own is 0
	switch strings.ToLower(before[0]) {
	case "kill", "stop", "start", "restart", "heal", "wipe", "delay", "loss":
		return targets
	case "cut":
		return append([]string{"all", "oneway"}, targets...)
	case "duplicate", "reorder", "clog":
		return append([]string{"all", "leader", "oneway"}, masters(targets)...)
	case "member":
		if at == 1 {
			return []string{string(Add), string(Promote), string(Remove), string(Replace)}
		}
		if strings.EqualFold(before[1], string(Add)) {
			return newMasters(targets)
		}
		return append([]string{"leader"}, masters(targets)...)
	case "disk":
		if at == 1 {
			return append([]string{"leader"}, masters(targets)...)
		}
		return texts(failure.Disks())
	case "failpoint":
		switch at {
		case 1:
			return append([]string{"leader"}, masters(targets)...)
		case 2:
			return append([]string{"clear"}, texts(failure.Points())...)
		case 3:
			return texts(failure.Actions())
		}
		return []string{"skip="}
	case "defrag":
		return append([]string{"all", "leader"}, masters(targets)...)
	case "quota":
		return []string{"8Mi", "64Mi", "2Gi", "8Gi"}
	case "until":
		return []string{"quiet", "anomaly", "NodeNotReady", "Killing", "Scheduled", "FailedScheduling", "TaintManagerEviction", "Leading", "RaftRole", "MembersChanged", "StoreAlarm"}
	case "speed":
		return []string{"0.1x", "0.5x", "1x", "5x", "10x", "30x", "60x"}
	}
	return nil
}

// masters are the machines among the targets that run a member of the store.
func masters(targets []string) []string {
	var out []string
	for _, t := range targets {
		if host, ok := strings.CutSuffix(t, "/etcd"); ok {
			out = append(out, host)
		}
	}
	return out
}

// membersMax is the highest number of a member's name (as engine/scenario's MastersMax, which stands above this package).
const membersMax = 7

// newMasters are the names that a member to be added can have.
func newMasters(targets []string) []string {
	var out []string
	for i := 1; i <= membersMax; i++ {
		if name := fmt.Sprintf("master-%d", i); !slices.Contains(masters(targets), name) {
			out = append(out, name)
		}
	}
	return out
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}
