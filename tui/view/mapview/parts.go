package mapview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// narrow is the width of a card's inside below which only signs and one figure fit.
const narrow = 16

// brief is the long text where there is room for words, and the short one elsewhere.
func brief(width int, long, short string) string {
	if width < narrow {
		return short
	}
	return long
}

func (v View) apiserver(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	b := m.Backend
	if b != nil && !b.Healthy && width < narrow-5 {
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.out"), Style: theme.Waiting}}
	}
	if b != nil && !b.Healthy && width < 28 { // no room for all: the reason says that it is not ready
		reason, _, _ := strings.Cut(strings.TrimPrefix(b.Reason, "[-]"), ": reason withheld")
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.reason", "reason", reason), Style: theme.Waiting}}
	}
	if b != nil && !b.Healthy {
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.not-ready"), Style: theme.Waiting}, {Text: " " + f.Words.Say("map.reason", "reason", b.Reason), Style: theme.Dim}}
	}
	line := widget.Line{{Text: string(grid.Running), Style: theme.OK}}
	if b == nil {
		return line
	}
	if m.Queued > 0 || f.Now.Sub(b.LastAt) < overloadShown && b.TooManyPerSec > 0 {
		return overload(f, m, width)
	}
	if n := min(width-8, 6); n >= 3 {
		line = append(line, widget.S(" "+widget.Spark(f.Feed.Rates(m.Name), n), theme.Dim))
	}
	text := fmt.Sprintf(" %3s/s", rate(b.PerSec))
	if line.Width()+len(text) > width {
		text = " " + rate(b.PerSec)
	}
	return append(line, widget.S(text, theme.Dim))
}

// overloadShown is how long refusals are seen after the tally that told them; simulated.
const overloadShown = 5 * time.Second

// overload is an API server whose seats are all taken: how many requests wait for one, and how many are refused with 429.
func overload(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	line := widget.Line{{Text: string(grid.Starting), Style: theme.Waiting}}
	if m.Queued > 0 {
		line = append(line, widget.S(" "+f.Words.Say("map.queued", "n", m.Queued), theme.Waiting))
	}
	if b := m.Backend; b.TooManyPerSec > 0 && f.Now.Sub(b.LastAt) < overloadShown {
		text := " " + f.Words.Say("map.too-many", "rate", rate(b.TooManyPerSec))
		if line.Width()+grid.Width(text) > width {
			text = " 429"
		}
		line = append(line, widget.S(text, theme.Failing))
	}
	return line
}

// storeTrouble is what is wrong with a member's database or disk, short; empty: nothing is.
func storeTrouble(f view.Frame, m *scene.MasterInfo) string {
	e := m.Member
	if e == nil || e.Out {
		return ""
	}
	switch {
	case f.World.Store.Raised(world.NoSpace, m.Name):
		return f.Words.Say("map.no-space", "db", scene.DatabaseOf(f.World, e, f.Words))
	case e.Diverged.Seq != 0:
		return f.Words.Say("map.diverged")
	case !e.Disk.Sound():
		return f.Words.Say("map.disk", "state", scene.DiskWord(f.Words, e.Disk))
	}
	return ""
}

func etcd(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	e := m.Member
	if e == nil {
		return widget.Line{{Text: string(grid.Running), Style: theme.OK}}
	}
	line := widget.Line{}
	if width < narrow-5 { // no room for words: the sign and where the log is
		sign, style := string(grid.Running), theme.OK
		switch {
		case m.Member.Out:
			sign, style = string(grid.Waiting), theme.Dim
		case storeTrouble(f, m) != "":
			sign, style = string(grid.Failing), theme.Failing
		case m.Leads:
			sign, style = string(grid.Leader), theme.Leader
		case m.Claims || m.Muted() || e.Learns() || e.Role == "candidate" || e.Leader == "":
			sign, style = string(grid.Starting), theme.Waiting
		}
		index := fmt.Sprintf(" i%d", e.LastIndex)
		if 1+len(index) > width {
			index = fmt.Sprintf(" %d", e.LastIndex)
		}
		return widget.Line{{Text: sign, Style: style}, {Text: index, Style: theme.Dim}}
	}
	if m.Member.Out {
		return widget.Line{{Text: string(grid.Waiting) + " " + f.Words.Say("map.outside"), Style: theme.Dim}}
	}
	if what := storeTrouble(f, m); what != "" {
		if m.Leads {
			line = append(line, widget.S(string(grid.Leader)+" ", theme.Leader))
		}
		return append(line, widget.S(string(grid.Failing)+" "+grid.Cut(what, max(width-2-line.Width(), 1)), theme.Failing))
	}
	switch {
	case m.Member.Learns():
		text := f.Words.Say("map.learner-short")
		if percent, _, ok := f.World.CaughtUp(m.Member); ok {
			text = firstThatFits(width-2, f.Words.Say("map.learner", "percent", percent), text)
		}
		return widget.Line{{Text: string(grid.Starting) + " " + text, Style: theme.Waiting}}
	case m.Muted():
		return widget.Line{{Text: string(grid.Starting) + " " + firstThatFits(width-2, f.Words.Say("map.muted"), f.Words.Say("map.muted-short")), Style: theme.Waiting}}
	case m.Leads:
		line = append(line, widget.S(string(grid.Leader), theme.Leader))
	case m.Claims: // leader of a term that the majority has left
		line = append(line, widget.S(string(grid.Leader)+" "+f.Words.Say("map.stale-leader", "term", e.Term), theme.Waiting))
		return line
	case e.Role == "candidate":
		line = append(line, widget.S(string(grid.Starting)+" "+firstThatFits(width-2, f.Words.Say("map.candidate", "term", e.Term), f.Words.Say("map.candidate-short")), theme.Waiting))
		return line
	case e.Leader == "":
		line = append(line, widget.S(string(grid.Starting)+" "+firstThatFits(width-2, f.Words.Say("map.no-leader"), f.Words.Say("map.no-leader-short")), theme.Waiting))
		return line
	default:
		line = append(line, widget.S(string(grid.Running), theme.OK))
	}
	text := fmt.Sprintf(" t%d i%d", e.Term, e.LastIndex)
	for _, more := range []string{fmt.Sprintf(" c%d a%d", e.CommitIndex, e.Applied), fmt.Sprintf(" c%d", e.CommitIndex)} {
		if len(text)+len(more)+1 <= width {
			text += more
			break
		}
	}
	style := theme.Dim
	if f.Scene.Quorum.Commit > e.LastIndex+20 { // far behind the group
		style = theme.Waiting
	}
	return append(line, widget.S(text, style))
}

// role of an active-standby component: the leader shows its queue, the standby how old the lease is that it watches.
func role(f view.Frame, r *scene.Role, width int) widget.Line {
	if r.Active {
		line := widget.Line{{Text: string(grid.Leader), Style: theme.Leader}}
		if r.Queued {
			style := theme.Dim
			if r.Waiting > 0 || r.InWork > 0 {
				style = theme.Busy
			}
			queue := fmt.Sprintf(" q %d·%d·%d", r.Waiting, r.InWork, r.Delayed)
			if r.Parted {
				queue = fmt.Sprintf(" q %d·%d·%d", r.Waiting+r.InWork, r.Backoff, r.Unschedulable)
				if r.Unschedulable > 0 {
					style = theme.Waiting
				}
			}
			if grid.Width(queue) >= width {
				queue = queue[2:]
			}
			line = append(line, widget.S(queue, style))
		}
		return line
	}
	line := widget.Line{{Text: string(grid.Standby), Style: theme.Dim}}
	if r.Duration > 0 {
		style := theme.Dim
		text := firstThatFits(width-2, f.Words.Say("map.lease", "age", r.Age), f.Words.Say("map.age", "age", r.Age))
		switch {
		case r.Age > r.Duration:
			over := r.Age - r.Duration
			style, text = theme.Waiting, firstThatFits(width-2, f.Words.Say("map.lease-over", "age", over), f.Words.Say("map.over", "age", over), f.Words.Say("map.age", "age", over))
		case r.Age > r.Duration/2:
			style = theme.Waiting
		}
		line = append(line, widget.S(" "+text, style))
	}
	return line
}

// firstThatFits picks the longest way to say something that is not cut; the last where none fits.
func firstThatFits(width int, ways ...string) string {
	for _, s := range ways {
		if grid.Width(s) <= width {
			return s
		}
	}
	return ways[len(ways)-1]
}

func drawLines(c grid.Canvas, lines []widget.Line, w, h int) {
	for y, l := range lines {
		if y >= h {
			return
		}
		l.Draw(c, 0, y, w)
	}
}

// shortName of a process where columns are few.
func shortName(name string, width int) string {
	if width >= 24 {
		switch name {
		case "controller-manager":
			return "ctrl-mgr"
		case "cloud-controller-manager":
			return "cloud-mgr"
		}
		return name
	}
	switch name {
	case "apiserver":
		return "api"
	case "scheduler":
		if width < narrow {
			return "sch"
		}
		return "sched"
	case "controller-manager":
		return "cm"
	case "cloud-controller-manager":
		return "ccm"
	case "kubelet":
		return "klet"
	}
	return name
}

// shortHost is "m2" for "master-2".
func shortHost(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' && i+1 < len(name) {
			return name[:1] + name[i+1:]
		}
	}
	return name
}

// statics counts the static pods of a master, of which the API has a mirror.
func statics(f view.Frame, host string) int {
	n := 0
	for _, p := range scene.PodsOn(f.World, host, 40) {
		if mirror(p) {
			n++
		}
	}
	return n
}

// stir is the sign of a message that a component has just sent or got.
func stir(f view.Frame, m *scene.MasterInfo, name string) widget.Line {
	who := name
	switch {
	case f.Still:
		return nil
	case name == "scheduler" && m.Scheduler.Active, name == "controller-manager" && m.Controllers.Active:
	case name == "kubelet":
		who = m.Name
	default:
		return nil
	}
	if sent, ok := f.Motion.Last(motion.Lane{Kind: motion.Call, From: who}, f.Wall, motion.Shown); ok {
		r, style := markRune(sent, true)
		return widget.Line{{Text: " " + string(r), Style: style}}
	}
	if _, ok := f.Motion.Last(motion.Lane{Kind: motion.Watch, To: who}, f.Wall, motion.Shown); ok {
		return widget.Line{{Text: " " + string(grid.Play), Style: theme.Busy}}
	}
	return nil
}
