package queueview

import (
	"slices"

	"example.com/kubeviz/tui/target"
)

// line of the table: the head of a component, one queue, or how many are folded away.
type line struct {
	group *group
	row   *row     // nil: a head, or what is folded
	names []string // of queues that are folded away here
	quiet int      // programs without anything to show
	more  int      // containers that are held back besides
}

// lines of the table. Idle queues are folded while there is no room for them, unless they are asked for.
func (v View) lines(all []group, room int) []line {
	full := v.listed(all, true)
	if v.all || len(full) <= room || v.find != "" {
		return full
	}
	return v.listed(all, false)
}

func (v View) listed(all []group, idlers bool) []line {
	var out []line
	for i := range all {
		g := &all[i]
		if !hostless(g.component) {
			slices.SortStableFunc(g.rows, natural)
		}
		head := len(out)
		out = append(out, line{group: g})
		var names []string
		for k := range g.rows {
			r := &g.rows[k]
			switch {
			case !v.kept(g, r):
			case r.level == idle && !idlers && r.t.Type == "":
				names = append(names, r.label)
			default:
				out = append(out, line{group: g, row: r})
			}
		}
		if len(names) > 0 {
			out = append(out, line{group: g, names: names})
		}
		if g.more > 0 && v.find == "" {
			out = append(out, line{group: g, more: g.more})
		}
		if g.quiet > 0 && v.find == "" && !v.trouble {
			out = append(out, line{group: g, quiet: g.quiet})
		}
		if n := len(out); n == head+2 && out[n-1].quiet > 0 { // one line says it all
			out = append(out[:head], out[n-1])
			continue
		}
		if len(out) == head+1 && (v.find != "" || v.trouble || g.lease == "") { // nothing of it is to be seen
			out = out[:head]
		}
	}
	return out
}

// selectable are the places of queues in lines.
func selectable(lines []line) []int {
	var out []int
	for i := range lines {
		if lines[i].row != nil {
			out = append(out, i)
		}
	}
	return out
}

// cursor is the place of the selected queue in lines; -1: there is none. Before anything was selected it follows the first queue that is stuck.
func (v View) cursor(lines []line) int {
	first, worst := -1, -1
	for i := range lines {
		if lines[i].row == nil {
			continue
		}
		if lines[i].row.t == v.at {
			return i
		}
		if first < 0 {
			first = i
		}
		if worst < 0 && lines[i].row.level == stuck {
			worst = i
		}
	}
	if v.at.Kind == target.Nothing && worst >= 0 {
		return worst
	}
	if v.at.Host != "" { // the queue moved with its leader to another machine
		for i := range lines {
			if r := lines[i].row; r != nil && r.t.Process == v.at.Process && r.t.Name == v.at.Name && r.t.Type == v.at.Type && hostless(r.t.Process) {
				return i
			}
		}
	}
	return first
}
