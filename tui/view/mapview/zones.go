package mapview

import (
	"strings"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// zoom is a part of the workers: a zone by label, a run of neighbours by name, or a run within a zone. The zero value is all.
type zoom struct {
	labelled bool
	label    string
	from, n  int // n 0: no run
}

// members are the places in Scene.Workers, in the order of names.
func (z zoom) members(s *scene.Scene) []int {
	all := s.Everyone()
	if z.labelled {
		all = nil
		for _, zone := range s.Zones() {
			if zone.Name == z.label {
				all = zone.Workers
			}
		}
	}
	if z.n > 0 {
		from := min(z.from, len(all))
		return all[from:min(z.from+z.n, len(all))]
	}
	return all
}

// name of the part: the zone's, or its first and last worker.
func (z zoom) name(f view.Frame) string {
	if z.n > 0 {
		m := z.members(f.Scene)
		if len(m) == 0 {
			return ""
		}
		return runName(f.Scene.Workers[m[0]].Name, f.Scene.Workers[m[len(m)-1]].Name)
	}
	if z.labelled && z.label == "" {
		return f.Words.Say("map.zone-none")
	}
	return sanitize.Text(z.label)
}

// runName is "worker-1…100" for a run from worker-1 to worker-100.
func runName(first, last string) string {
	if first == last {
		return sanitize.Text(first)
	}
	i := strings.LastIndexByte(first, '-') + 1
	if i > 0 && strings.HasPrefix(last, first[:i]) {
		last = last[i:]
	}
	return sanitize.Text(first) + string(grid.Ellipsis) + sanitize.Text(last)
}

// out is the part that this one lies in.
func (z zoom) out() zoom {
	if z.labelled && z.n > 0 {
		return zoom{labelled: true, label: z.label}
	}
	return zoom{}
}

// runs is how many workers a run has at least; runs grow until their pictures fit.
const runs = 100

// parts cuts what is looked at into zones, or into runs of the size.
func (z zoom) parts(s *scene.Scene, size int) []zoom {
	if !z.labelled && z.n == 0 && len(s.Zones()) > 1 {
		out := make([]zoom, 0, len(s.Zones()))
		for _, zone := range s.Zones() {
			out = append(out, zoom{labelled: true, label: zone.Name})
		}
		return out
	}
	n := len(z.members(s))
	if n <= size {
		return []zoom{z}
	}
	var out []zoom
	for from := 0; from < n; from += size {
		part := z
		part.from, part.n = z.from+from, min(size, n-from)
		out = append(out, part)
	}
	return out
}

// visible lists the parts that may be on the screen, whatever its size.
func (v View) visible(f view.Frame) []zoom {
	var out []zoom
	for size := runs; ; size *= 2 {
		parts := v.zoom.parts(f.Scene, size)
		out = append(out, parts...)
		if len(parts) <= 1 || parts[0].n == 0 {
			return out
		}
	}
}

// block is the density picture of a part of the workers.
type block struct {
	zoom    zoom
	members []int
	rect    layout.Rect // with its name
	cells   layout.Rect
	step    int // columns a cell
	titled  bool
	framed  bool
}

// Widths beside the cells of a block that has only one line.
const (
	blockName = 19
	blockTail = 10
	blockMinW = 34
)

// inside are the cells of a block of w by h.
func inside(r layout.Rect) (cells layout.Rect, titled, framed bool) {
	switch {
	case r.H >= 4:
		return layout.Rect{X: r.X + 2, Y: r.Y + 1, W: max(r.W-4, 1), H: r.H - 2}, true, true
	case r.H >= 2:
		return layout.Rect{X: r.X + 1, Y: r.Y + 1, W: max(r.W-2, 1), H: r.H - 1}, true, false
	}
	return layout.Rect{X: r.X + blockName, Y: r.Y, W: max(r.W-blockName-blockTail, 1), H: 1}, false, false
}

// groups are the numbers of workers that a cell may stand for.
var groups = [...]int{1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 5000}

func groupFor(members, room int) int {
	for _, g := range groups {
		if (members+g-1)/g <= room {
			return g
		}
	}
	return max(members, 1)
}

// layCells names the workers in trouble in rows of their own and draws the rest as pictures of their load.
func (l *floor) layCells(f view.Frame, v View, members []int, area layout.Rect) {
	var wrong []int
	for _, i := range members {
		if f.Scene.Workers[i].Wrong {
			wrong = append(wrong, i)
		}
	}
	if len(wrong) > 0 && area.H >= 4 {
		cols := max(area.W/rowWideW, 1)
		room := max(area.H/2-1, 1)
		if n := (len(wrong) + cols - 1) / cols; n > room {
			l.foldedAt = layout.Rect{X: area.X, Y: area.Y + room - 1, W: area.W, H: 1}
			l.wrong = len(wrong) - cols*(room-1)
			wrong = wrong[:cols*(room-1)]
			l.columns(f, wrong, area, cols, max(room-1, 1))
			area = area.Rows(layout.Fixed(room), layout.Fill(1))[1]
		} else {
			l.columns(f, wrong, area, cols, n)
			area = area.Rows(layout.Fixed(n), layout.Fill(1))[1]
		}
	}
	if area.H >= 3 {
		rows := area.Rows(layout.Fill(1), layout.Fixed(1))
		area, l.legend = rows[0], rows[1]
	}
	best := 1 << 30
	for size := runs; ; size *= 2 {
		parts := v.zoom.parts(f.Scene, size)
		blocks, g := arrange(f, parts, area)
		whole := len(parts) == 1 && size > runs && g > 1 // one picture too coarse for single machines: nothing to go into
		if len(blocks) == len(parts) && g < best && !(whole && l.blocks != nil) {
			best, l.blocks, l.group = g, blocks, g
		}
		if len(parts) == 1 || size >= len(members) || (len(parts) > 0 && parts[0].n == 0) {
			if l.blocks == nil { // zones by label that have no room each
				l.blocks, l.group = blocks, g
			}
			break
		}
	}
	if len(l.blocks) > 0 {
		used := 0
		for i := range l.blocks {
			used = max(used, l.blocks[i].rect.Bottom())
		}
		l.legend.Y = min(l.legend.Y, used)
	}
}

// arrange places a picture for each part, in as many columns as make the finest picture; g is how many workers a cell stands for.
func arrange(f view.Frame, parts []zoom, area layout.Rect) (blocks []block, g int) {
	longest := 0
	sets := make([][]int, len(parts))
	for i, p := range parts {
		sets[i] = p.members(f.Scene)
		longest = max(longest, len(sets[i]))
	}
	bestCols, bestG, bestH, bestAll := 0, 1<<30, 0, 0
	for cols := 1; cols <= max(min(len(parts), area.W/blockMinW), 1); cols++ {
		lines := (len(parts) + cols - 1) / cols
		h := area.H / lines
		if h < 1 {
			continue
		}
		in, _, _ := inside(layout.Rect{W: area.W/cols - 1, H: h})
		g := groupFor(longest, in.W*in.H)
		need := max(((longest+g-1)/g*stepFor(in, longest, g)+in.W-1)/in.W, 1)
		switch { // no blank cells
		case h >= 4:
			h = min(h, need+2)
		case h >= 2:
			h = min(h, need+1)
		}
		if g < bestG || (g == bestG && (h >= bestH || h >= 4) && h*lines <= bestAll) {
			bestCols, bestG, bestH, bestAll = cols, g, h, h*lines
		}
	}
	if bestCols == 0 { // not even a line each: as many as there is room for
		bestCols, bestH = max(area.W/blockMinW, 1), 1
		parts = parts[:min(len(parts), bestCols*area.H)]
		in, _, _ := inside(layout.Rect{W: area.W/bestCols - 1, H: 1})
		bestG = groupFor(longest, in.W)
	}
	for i, r := range area.Tiles(len(parts), bestCols, bestH, 1) {
		in, titled, framed := inside(r)
		blocks = append(blocks, block{zoom: parts[i], members: sets[i], rect: r, cells: in, step: stepFor(in, longest, bestG), titled: titled, framed: framed})
	}
	return blocks, bestG
}

// stepFor spreads cells out where there is room.
func stepFor(in layout.Rect, n, g int) int {
	if g == 1 && in.W >= 2 && (n+in.W/2-1)/(in.W/2) <= in.H {
		return 2
	}
	return 1
}

// cellAt is the cell that a worker of the block is in.
func (b *block) cellAt(i, group int) (x, y int) {
	cols := max(b.cells.W/b.step, 1)
	i /= group
	return b.cells.X + i%cols*b.step, b.cells.Y + i/cols
}

// zoneTarget names a part of the workers as a thing to select.
func zoneTarget(f view.Frame, z zoom) scene.Target {
	return scene.Target{Kind: target.Zone, Name: z.name(f)}
}
