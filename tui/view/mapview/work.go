package mapview

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// Limits of what the pane of workloads looks at in a frame.
const (
	workMax    = 60
	workPodMax = 300
)

// drawWork lists the Deployments: how many pods each wants and has, and the pods by shape.
func (v View) drawWork(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 24 || h < 3 {
		return
	}
	in := pane(c, f.Words.Say("map.work"))
	iw, ih := in.Size()
	list, total := workloads(f.World)
	if len(list) == 0 {
		in.PutMax(0, 0, iw, f.Words.Say("map.work-none"), theme.Dim)
		return
	}
	var lines []widget.Line
	for i, d := range list {
		block := workLines(f, d, iw)
		if rest := total - i; len(lines)+len(block) > ih-min(1, rest-1) {
			lines = append(lines, text(f.Words.Say("map.work-more", "n", rest), theme.Dim))
			break
		}
		lines = append(lines, block...)
	}
	drawLines(in, lines, iw, ih)
}

// workload is a Deployment with what is asked of it.
type workload struct {
	namespace, name string
	want, ready     int
	note            string
}

// workloads lists the first Deployments, with how many there are, as far as it was counted.
func workloads(w *world.World) (list []workload, total int) {
	prefix := kinds.Deployments.String() + " "
	w.Objects.Ascend(prefix, func(key string, o *world.Object) bool {
		if !strings.HasPrefix(key, prefix) || total >= 10*workMax {
			return false
		}
		total++
		if x, ok := o.Object.(*appsv1.Deployment); ok && len(list) < workMax {
			r := world.RolloutOf(x)
			d := workload{namespace: x.Namespace, name: x.Name, want: r.Desired, ready: r.Ready}
			if r.Stuck || r.Paused {
				d.note = r.Reason
			}
			list = append(list, d)
		}
		return true
	})
	return list, total
}

func workLines(f view.Frame, d workload, width int) []widget.Line {
	style := calm(d.ready >= d.want)
	name := theme.Text
	if d.ready < d.want {
		name = theme.Title
	}
	figure := fmt.Sprintf("%d/%d", d.ready, d.want)
	head := widget.Line{{Text: grid.Pad(sanitize.Text(d.name), max(width-28, 8)), Style: name}, {Text: fmt.Sprintf(" %9s", figure), Style: style}, {Text: "  deployment", Style: theme.Dim}}
	if d.note != "" {
		head = append(head, widget.S(" "+sanitize.Text(d.note), theme.Waiting))
	}
	room := max(width-8, 1)
	dots := widget.Line{{Text: "  "}}
	n, rest := 0, 0
	prefix := d.namespace + "/" + d.name + "-"
	seen := 0
	f.World.Pods.Ascend(prefix, func(key string, p *world.Pod) bool {
		if !strings.HasPrefix(key, prefix) || seen == workPodMax {
			return false
		}
		seen++
		if Owner(p) != d.name {
			return true
		}
		if n >= room {
			rest++
			return true
		}
		n++
		_, worker := f.Scene.Find(scene.Target{Host: p.Object.Spec.NodeName})
		r, st := sign(worker, p)
		dots = append(dots, widget.S(string(r), st))
		return true
	})
	if n == 0 {
		return []widget.Line{head}
	}
	if rest > 0 {
		more := fmt.Sprintf("+%d", rest)
		if seen == workPodMax {
			more = "+" + string(grid.Ellipsis)
		}
		dots = append(dots, widget.S(more, theme.Dim))
	}
	return []widget.Line{head, dots}
}

// Clips are what can be copied of the selection: its name, and what is said of it; with nothing selected, what is wrong.
func (v View) Clips(f view.Frame) []view.Clip {
	say := f.Words.Say
	var out []view.Clip
	if t := v.selected; t.Kind != scene.Nothing {
		name := t.Host
		switch {
		case t.Name != "":
			name = t.Name
		case t.Kind == scene.Process:
			name = t.Host + "/" + t.Process
		}
		out = append(out, view.Clip{Label: say("map.clip-name"), Text: name})
	}
	var b strings.Builder
	for _, l := range v.nowLines(f, 400) {
		for _, s := range l {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return append(out, view.Clip{Label: say("map.clip-now"), Text: strings.TrimRight(b.String(), "\n")})
}

// workHeight is how many lines the workloads take.
func workHeight(f view.Frame) int {
	list, _ := workloads(f.World)
	n := 0
	for _, d := range list {
		n++
		if d.want > 0 || d.ready > 0 {
			n++
		}
	}
	return n
}
