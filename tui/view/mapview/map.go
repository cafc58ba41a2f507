// Package mapview is the view of the whole cluster: masters with their parts, the balancer, the store's group, workers with their pods, what is broken, by whom, and
// what comes next, with the end of the story and a time line.
//
// What is well is thin and dim; what is not has a heavy frame and a sentence. Up to twelve workers are cards, more are rows, and healthy rows that do not fit
// are counted.
//
// Imports of ours: engine/event, engine/world, tui/*. Goroutines: the screen's one. Time: simulated.
package mapview

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
)

// ID of the view.
const ID = "map"

// View of the cluster. The zero value has nothing selected.
type View struct {
	selected scene.Target
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Selection is what keys act on.
func (v View) Selection(view.Frame) scene.Target { return v.selected }

// Select returns the view with another selection.
func (v View) Select(t scene.Target) View { v.selected = t; return v }

// Handle moves the selection; other intents come back.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	p := makePlan(f, v.selected)
	switch i := i.(type) {
	case intent.Move:
		v.selected = v.move(f, &p, i)
	case intent.Next:
		v.selected = v.next(f, &p, i.By)
	case intent.Enter:
		t, ok := v.deeper(f)
		if !ok {
			return v, nil
		}
		v.selected = t
	case intent.Back:
		v.selected = v.shallower(f)
	case intent.Point:
		if t, ok := v.at(f, &p, i.X, i.Y); ok {
			v.selected = t
		}
	case intent.Chain:
		if seq := v.about(f); i.Seq == 0 && seq != 0 {
			return v, []intent.Intent{intent.Chain{Seq: seq}}
		}
		return v, []intent.Intent{i}
	case intent.Wheel, intent.Page, intent.Edge:
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

// inside reports whether the selection is a part of a machine.
func (v View) inside() bool {
	return v.selected.Kind == scene.Process || (v.selected.Kind == scene.Pod && v.selected.Host != "")
}

// Draw draws the map.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	p := makePlan(f, v.selected)
	v.drawBalancer(f, &p, c.Sub(p.balancer))
	for i, m := range p.masters {
		v.drawMaster(f, &p, &f.Scene.Masters[i], c.Sub(m.rect))
	}
	v.drawRaft(f, c.Sub(p.raft))
	v.drawPending(f, c.Sub(p.pending))
	for _, t := range p.workers {
		_, w := f.Scene.Find(t.target)
		if w == nil {
			continue
		}
		if p.rows {
			v.drawRow(f, w, c.Sub(t.rect))
		} else {
			v.drawWorker(f, &p, w, c.Sub(t.rect))
		}
	}
	if p.folded > 0 {
		at := c.Sub(p.foldedAt)
		x := at.Put(1, 0, f.Words.Say("map.folded", "n", p.folded-p.wrong), theme.Dim)
		if p.wrong > 0 {
			at.Put(x+2, 0, f.Words.Say("map.folded-wrong", "n", p.wrong), theme.Failing)
		}
	}
	v.drawNow(f, c.Sub(p.now))
	v.drawStory(f, &p, c.Sub(p.story))
	drawStrip(f, c.Sub(p.strip))
}

// drawStory shows the end of the story, framed where there is room.
func (v View) drawStory(f view.Frame, p *plan, c grid.Canvas) {
	w, h := c.Size()
	if w < 20 || h < 1 {
		return
	}
	if p.class == compact {
		storyview.Tail(f, c)
		return
	}
	in := pane(c, f.Words.Say("map.story"))
	storyview.Tail(f, in)
}

// pane draws a thin titled frame and returns the inside, a column in from the lines.
func pane(c grid.Canvas, title string) grid.Canvas {
	w, h := c.Size()
	in := c.Box(grid.Thin, theme.Frame)
	if w > 8 {
		c.Put(2, 0, " "+grid.Cut(title, w-6)+" ", theme.Dim)
	}
	iw, _ := in.Size()
	return in.Sub(layout.Rect{X: 1, W: max(iw-2, 0), H: max(h-2, 0)})
}
