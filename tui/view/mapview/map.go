// Package mapview is the view of the whole cluster: clients and the balancer, masters with their parts, the store's group, workers with their pods, what is broken,
// by whom, and what comes next, with the end of the story.
//
// What is well is thin and dim; what is not has a heavy frame and a sentence. Workers are cards where there is room for all of them, else rows, else cells of a
// density picture by zone; those in trouble are always single and named, and what has no place is counted. Enter goes into a zone or a machine, Back comes out.
//
// Imports of ours: engine/event, engine/fault, engine/kinds, engine/world, tui/*. Goroutines: the screen's one. Time: simulated; marks of messages move by wall time.
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

// scale is how workers are drawn.
type scale uint8

const (
	byRoom scale = iota
	asRows
	asCells
	scales
)

// View of the cluster. The zero value has nothing selected.
type View struct {
	selected scene.Target
	// inside is the machine that was gone into; its parts are selected.
	inside string
	// zoom is the part of the workers that is looked at.
	zoom  zoom
	scale scale
	// top is the first row shown where rows scroll.
	top int
	// find is what is searched for.
	find string
	// acted: the user has found the keys.
	acted bool
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Selection is what keys act on.
func (v View) Selection(view.Frame) scene.Target { return v.selected }

// Finding is what is searched for.
func (v View) Finding() string { return v.find }

// Handle moves the selection; other intents come back.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	v = v.settled(f)
	switch i := i.(type) {
	case intent.Move:
		v = v.move(f, i)
	case intent.Next:
		v = v.next(f, i.By)
	case intent.Enter:
		return v.deeper(f)
	case intent.Back:
		out, ok := v.shallower(f)
		if !ok {
			return v, []intent.Intent{i}
		}
		return out, nil
	case intent.Point:
		return v.point(f, i)
	case intent.Wheel:
		v.top = v.scrolled(f, i.By*3)
	case intent.Page:
		v = v.page(f, i.By)
	case intent.Edge:
		v = v.edge(f, i.To)
	case intent.Select:
		v = v.show(f, i.Target)
	case intent.Text:
		v.find = i.Value
		v = v.findNext(f, 0)
	case intent.Match:
		v = v.findNext(f, i.By)
	case intent.Trouble:
		v = v.nextTrouble(f)
	case intent.Option:
		if i.Name != "scale" {
			return v, []intent.Intent{i}
		}
		v.scale, v.top = (v.scale+1)%scales, 0
	default:
		return v, []intent.Intent{i}
	}
	v.acted = true
	return v, nil
}

// settled lets go of what is no longer there; it keeps what is.
func (v View) settled(f view.Frame) View {
	if v.inside != "" {
		if m, w := f.Scene.Find(scene.Target{Host: v.inside}); m == nil && w == nil {
			v.inside = ""
		}
	}
	if len(v.zoom.members(f.Scene)) == 0 {
		v.zoom = zoom{}
	}
	return v
}

// Draw draws the map.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	v = v.settled(f)
	p := makePlan(f, v)
	v.drawClients(f, &p, c)
	for _, m := range p.masters {
		if info, _ := f.Scene.Find(m.target); info != nil {
			v.drawMaster(f, info, c.Sub(m.rect))
		}
	}
	v.drawRaft(f, &p, c.Sub(p.raft))
	v.drawSky(f, &p, c)
	v.drawPending(f, c.Sub(p.pending))
	v.drawWorkers(f, &p, c)
	v.drawNow(f, &p, c.Sub(p.now))
	v.drawWork(f, c.Sub(p.work))
	drawRequests(f, c.Sub(p.requests))
	v.drawStory(f, &p, c.Sub(p.story))
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
	storyview.Tail(f, pane(c, f.Words.Say("map.story")))
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
