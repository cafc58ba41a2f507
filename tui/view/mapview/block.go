package mapview

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// cellSign is the look of a cell that stands for some workers: of those in trouble the worst, else how much of their cpu or memory is asked for, of whichever more.
func cellSign(f view.Frame, members []int) (rune, grid.Style) {
	var worst *scene.WorkerInfo
	rank := 0
	for _, i := range members {
		w := &f.Scene.Workers[i]
		if r := trouble(w); r > rank {
			worst, rank = w, r
		}
	}
	if worst != nil {
		return troubleSign(worst)
	}
	s := sumOf(f, members)
	if s.cordoned == len(members) {
		return grid.Cordoned, theme.Waiting
	}
	if s.cpuAll == 0 || s.memAll == 0 {
		return grid.Spark[0], theme.Dim
	}
	load := max(float64(s.cpu)/float64(s.cpuAll), float64(s.mem)/float64(s.memAll))
	style := theme.Dim
	if load > 0.9 {
		style = theme.Waiting
	}
	return grid.Spark[min(int(load*float64(len(grid.Spark))), len(grid.Spark)-1)], style
}

// trouble ranks what is wrong with a worker; 0: nothing is.
func trouble(w *scene.WorkerInfo) int {
	switch {
	case !w.Wrong && w.Node == nil:
		return 1
	case !w.Wrong:
		return 0
	case !w.Up:
		return 6
	case w.Node != nil && w.Node.Ready == "Unknown":
		return 5
	case w.Node != nil && w.Node.Ready != "True":
		return 4
	case w.IsCut():
		return 3
	case w.Node == nil:
		return 1
	}
	return 2
}

func troubleSign(w *scene.WorkerInfo) (rune, grid.Style) {
	switch trouble(w) {
	case 6, 4:
		return grid.Failing, theme.Failing
	case 5:
		return grid.Unknown, theme.Unknown
	case 3:
		return grid.CutMark, theme.Fault
	case 1:
		return grid.Waiting, theme.Waiting
	}
	return grid.Starting, theme.Waiting
}

// drawBlock draws the picture of a part of the workers, with its name and what is wrong in it.
func (v View) drawBlock(f view.Frame, l *floor, b *block, c grid.Canvas) {
	s := sumOf(f, b.members)
	wrong := s.wrong
	chosen := v.inside == "" && v.selected == zoneTarget(f, b.zoom)
	name, mark := theme.Text, " "
	if wrong > 0 {
		name = theme.Title
	}
	if chosen {
		name, mark = theme.Accent|grid.Reverse, string(grid.Marker)
	}
	label := b.zoom.name(f)
	if b.zoom == (zoom{}) {
		label = f.Words.Say("map.zone-all")
	}
	share := 0
	if s.cpuAll > 0 {
		share = int(s.cpu * 100 / s.cpuAll)
	}
	box := c.Sub(b.rect)
	bad := widget.S(f.Words.Say("map.zone-wrong", "n", wrong), theme.Failing)
	if b.titled {
		title := widget.Line{{Text: mark, Style: theme.Accent}, {Text: label, Style: name}, {Text: " " + f.Words.Say("map.zone-figures", "n", len(b.members), "cpu", share), Style: theme.Dim}}
		if wrong > 0 {
			title = append(title, widget.S(" ", 0), bad)
		}
		x := 0
		if b.framed {
			border, line := grid.Thin, theme.Frame
			if wrong > 0 {
				border, line = grid.Heavy, theme.Failing
			}
			box.Box(border, line)
			title, x = append(title, widget.S(" ", 0)), 1
		}
		title.Draw(box, x, 0, b.rect.W-x-1)
	} else {
		box.Put(0, 0, mark, theme.Accent)
		box.Put(1, 0, grid.CutMiddle(label, blockName-2), name)
		tail := widget.S(f.Words.Say("map.zone-tail", "ready", len(b.members)-wrong, "n", len(b.members)), theme.Dim)
		if wrong > 0 {
			tail.Style = theme.Failing
		}
		box.PutMax(b.cells.Right()-b.rect.X+1, 0, blockTail-1, tail.Text, tail.Style)
	}
	for from := 0; from < len(b.members); from += l.group {
		part := b.members[from:min(from+l.group, len(b.members))]
		sign, style := cellSign(f, part)
		if v.selected.Kind == scene.Worker {
			for _, i := range part {
				if f.Scene.Workers[i].Name == v.selected.Host {
					style = theme.Accent | grid.Reverse
				}
			}
		}
		x, y := b.cellAt(from, l.group)
		if y >= b.cells.Bottom() {
			break
		}
		c.Put(x, y, string(sign), style)
	}
}

// drawLegend says what a cell is.
func (v View) drawLegend(f view.Frame, l *floor, c grid.Canvas) {
	w, h := c.Size()
	if h < 1 || len(l.blocks) == 0 {
		return
	}
	say := f.Words.Say
	line := widget.Line{{Text: " " + say("map.cell", "n", l.group), Style: theme.Text}, {Text: "  " + string(grid.Spark[0]) + string(grid.Spark[3]) + string(grid.Spark[7]) + " " + say("map.cell-load"), Style: theme.Dim}}
	for _, s := range []struct {
		sign  rune
		style grid.Style
		text  string
	}{{grid.Failing, theme.Failing, say("map.cell-down")}, {grid.Unknown, theme.Unknown, "Unknown"}, {grid.CutMark, theme.Fault, say("map.cell-cut")}, {grid.Starting, theme.Waiting, say("map.cell-odd")}, {grid.Cordoned, theme.Waiting, "cordon"}} {
		more := widget.Line{{Text: "  " + string(s.sign), Style: s.style}, {Text: " " + s.text, Style: theme.Dim}}
		if line.Width()+more.Width() > w {
			break
		}
		line = append(line, more...)
	}
	line.Draw(c, 0, 0, w)
}

// sums of some workers.
type sums struct {
	pods, wrong, cordoned    int
	cpu, cpuAll, mem, memAll int64
}

func sumOf(f view.Frame, members []int) sums {
	var s sums
	for _, i := range members {
		w := &f.Scene.Workers[i]
		s.pods, s.cpu, s.cpuAll, s.mem, s.memAll = s.pods+w.Pods, s.cpu+w.CPU, s.cpuAll+w.CPUAll, s.mem+w.Mem, s.memAll+w.MemAll
		if w.Wrong {
			s.wrong++
		}
		if w.Cordoned {
			s.cordoned++
		}
	}
	return s
}
