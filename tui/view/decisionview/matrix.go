package decisionview

import (
	"fmt"
	"slices"
	"strconv"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// columns of the matrix: the node, a plugin each, the total, and the reason with what is left.
type columns struct {
	name    int
	plugins []string
	width   int
	weights map[string]int64
}

func (v View) columns(f view.Frame, t *table, w int, matrix bool) columns {
	cols := columns{name: 14, width: 8, weights: t.weights}
	if !matrix {
		return cols
	}
	cols.plugins = append(append([]string{}, filters...), "NodeResourcesBalancedAllocation", "ImageLocality")
	for i := range t.rows {
		cols.name = max(cols.name, min(grid.Width(t.rows[i].label(f)), 26))
	}
	// plugins that did nothing go first where columns are few
	for cols.used()+34 > w && len(cols.plugins) > 3 {
		at := slices.IndexFunc(cols.plugins, func(p string) bool { return idle(t, p) })
		if at < 0 {
			break
		}
		cols.plugins = slices.Delete(cols.plugins, at, at+1)
	}
	return cols
}

func (c *columns) used() int { return 3 + c.name + 1 + c.width*(len(c.plugins)+1) }

// idle: the plugin refused no node and gave no score.
func idle(t *table, plugin string) bool {
	for i := range t.rows {
		if r := &t.rows[i]; r.plugin == plugin || r.scores[plugin] != 0 {
			return false
		}
	}
	return true
}

func drawColumns(c grid.Canvas, f view.Frame, v View, cols columns) {
	x := 3 + cols.name + 1
	look := theme.Dim
	if !v.times {
		look = theme.Accent &^ grid.Bold
	}
	key := "why.decision-node"
	if v.raw {
		key = "why.decision-node-raw"
	}
	c.PutMax(1, 0, cols.name+2, f.Words.Say(key), look)
	for _, p := range cols.plugins {
		text := short(p)
		if w := cols.weights[p]; w > 1 && !v.raw {
			text += string(grid.Times) + strconv.FormatInt(w, 10)
		}
		c.PutRight(x+cols.width-1, 0, grid.Cut(text, cols.width), theme.Dim)
		x += cols.width
	}
	c.PutRight(x+cols.width-1, 0, f.Words.Say("why.decision-total"), theme.Dim)
	w, _ := c.Size()
	c.PutMax(x+cols.width+1, 0, max(w-x-cols.width-1, 0), f.Words.Say("why.decision-reason"), theme.Dim)
}

// drawCells is a row of the matrix: how far a refused node came, or the scores of one that passed.
func (v View) drawCells(f view.Frame, c grid.Canvas, y int, r *verdict, cols columns, chosen bool) {
	w, _ := c.Size()
	mark, look := " ", theme.Text
	if chosen {
		mark = string(grid.Marker)
		look |= grid.Bold
		if !v.times {
			look |= grid.Reverse
		}
	}
	sign, style := r.sign()
	widget.Line{widget.S(mark, theme.Accent), widget.S(sign+" ", style), widget.S(grid.Pad(grid.CutMiddle(r.label(f), cols.name), cols.name), look)}.Draw(c, 0, y, w)
	x := 3 + cols.name + 1
	refusedAt := slices.Index(filters, r.plugin)
	for _, p := range cols.plugins {
		text, s := "", theme.Dim
		filter := slices.Index(filters, p)
		switch score, scored := v.score(r, p); {
		case r.plugin == p:
			text, s = string(grid.Failing), theme.Failing
		case r.plugin == "" && scored:
			text = strconv.FormatInt(score, 10)
			if score > 0 {
				s = theme.Text
			}
		case filter >= 0 && (r.plugin == "" || filter < refusedAt):
			text = string(grid.Dot)
		}
		c.PutRight(x+cols.width-1, y, text, s)
		x += cols.width
	}
	if r.plugin == "" && r.scores != nil {
		c.PutRight(x+cols.width-1, y, strconv.FormatInt(r.total, 10), theme.Title)
	}
	room := w - x - cols.width - 1
	switch {
	case r.plugin != "":
		c.PutMax(x+cols.width+1, y, max(room, 0), r.because(f), theme.Text)
	case r.chosen:
		c.PutMax(x+cols.width+1, y, max(room, 0), f.Words.Say("why.decision-chosen"), theme.Leader)
	}
}

// drawCompare sets the node under the cursor against the chosen one, plugin by plugin.
func (v View) drawCompare(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	t := v.table(f)
	best, other := &t.rows[t.best], &t.rows[v.cursor(t.rows)]
	key := "why.decision-better"
	if best.total == other.total {
		key = "why.decision-equal"
	}
	c.PutMax(1, 0, w-1, f.Words.Say(key, "best", best.name, "other", other.name, "by", best.total-other.total), theme.Title)
	y := 1
	equal := 0
	for _, p := range scorers {
		a, b := best.scores[p], other.scores[p]
		if a == b {
			equal++
			continue
		}
		if y >= h {
			return
		}
		look, sign := theme.OK, "+"
		if a < b {
			look, sign = theme.Waiting, ""
		}
		widget.Line{widget.S("   "+grid.Pad(p, 32), theme.Text), widget.S(fmt.Sprintf("%7d%7d", a, b), theme.Text),
			widget.S("  "+sign+strconv.FormatInt(a-b, 10), look)}.Draw(c, 0, y, w)
		y++
	}
	if equal > 0 && y < h {
		c.PutMax(3, y, w-3, f.Words.Say("why.decision-same", "n", equal), theme.Dim)
	}
}
