package mapview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// client is one line of the box of clients.
type client struct {
	name, label string
	// lanes are those of the clients that share the line; nil: the one of name.
	lanes []string
	// n is how many programs of that name are connected, behind what they have not read of their watches; 0 for parts of the cluster.
	n, behind int
	gone      bool
}

// rate of the requests of all who share the line.
func (c *client) rate(f view.Frame) float64 {
	sum := 0.0
	for _, l := range c.asks() {
		sum += f.Motion.Rate(l, f.Now)
	}
	return sum
}

// asks are the lanes of the line.
func (c *client) asks() []motion.Lane {
	if c.lanes == nil {
		return []motion.Lane{{Kind: motion.Ask, From: c.name}}
	}
	out := make([]motion.Lane, len(c.lanes))
	for i, from := range c.lanes {
		out[i] = motion.Lane{Kind: motion.Ask, From: from}
	}
	return out
}

// text is the label in so many cells, with how many there are.
func (c *client) text(width int) string {
	if c.n <= 1 {
		return grid.Cut(c.label, width)
	}
	count := " " + string(grid.Times) + strconv.Itoa(c.n)
	return grid.Cut(c.label, max(width-grid.Width(count), 1)) + count
}

// clients of the API, in an order that does not change: people first, then the parts of the cluster.
func clients(f view.Frame) []client {
	out := append([]client{{name: motion.You, label: f.Words.Say("map.you")}}, programs(f, programsMost)...)
	counted := slices.ContainsFunc(out, func(c client) bool { return c.name == motion.Others })
	for _, p := range f.Motion.People() {
		if p == motion.Others && (counted || f.Motion.Rate(motion.Lane{Kind: motion.Ask, From: p}, f.Now) == 0) {
			continue // in the line of further programs already, or all gone
		}
		out = append(out, client{name: p, label: sanitize.Text(p)})
	}
	return append(out, client{name: motion.Kubelets, label: "kubelets"}, client{name: motion.Scheduler, label: "scheduler"}, client{name: motion.Controllers, label: "ctrl-mgr"})
}

// programsMost is how many programs from outside have a line of their own; more share the last.
const programsMost = 3

// programs are the clients from outside, those of one program and user in one line, at most so many: those that are here before those that have just left.
func programs(f view.Frame, most int) []client {
	if f.World.Programs.Len() == 0 {
		return nil
	}
	var here, left []client
	names := map[string]int{}
	f.World.Programs.Scan(func(key string, p *world.Program) bool {
		c := client{name: motion.Outside(key), label: sanitize.Text(p.Name), n: p.Present, behind: p.Behind, gone: p.Present <= 0}
		names[c.label]++
		if c.gone {
			left = append(left, c)
		} else {
			here = append(here, c)
		}
		return true
	})
	out := append(here, left...)
	for i := range out {
		if names[out[i].label] > 1 { // the same program for several users
			if p, ok := f.World.Programs.Get(motion.ProgramOf(out[i].name)); ok {
				out[i].label += " " + sanitize.Text(shortUser(p.User))
			}
		}
	}
	if len(out) <= most {
		return out
	}
	last := client{name: motion.Others, lanes: []string{motion.Others}, gone: true}
	for _, c := range out[most-1:] {
		last.lanes = append(last.lanes, c.name)
		last.behind += c.behind
		last.gone = last.gone && c.gone
	}
	last.label = f.Words.Say("map.programs-more", "n", len(out)-most+1)
	if most == 1 {
		last.label = f.Words.Say("map.programs", "n", len(out))
	}
	return append(out[:most-1:most-1], last)
}

// shortUser is a user without what all of its kind have in front.
func shortUser(user string) string { return user[strings.LastIndexByte(user, ':')+1:] }

func clientTarget(name string) scene.Target { return scene.Target{Kind: target.Client, Name: name} }

// balancerTarget is the balancer as a thing to select.
var balancerTarget = scene.Target{Kind: scene.Balancer, Name: "balancer"}

// clientPlaces are the lines of the box, as far as they fit; in a line of one row only you are there.
func clientPlaces(f view.Frame, p *plan) []placed {
	if p.users.Empty() {
		if p.balancer.Empty() {
			return nil
		}
		var out []placed
		for _, w := range wayClients(f, p.balancer.W) {
			out = append(out, placed{clientTarget(w.name), layout.Rect{X: p.balancer.X + w.x, Y: p.balancer.Y, W: grid.Width(w.label), H: 1}})
		}
		return out
	}
	var out []placed
	for i, c := range clients(f) {
		if y := p.users.Y + 1 + i; y < p.users.Bottom()-1 {
			out = append(out, placed{clientTarget(c.name), layout.Rect{X: p.users.X, Y: y, W: p.users.W, H: 1}})
		}
	}
	return out
}

// markRune is how a mark looks, going right or left.
func markRune(m motion.Mark, right bool) (rune, grid.Style) {
	switch m.Sign {
	case motion.Append:
		return grid.Packet, theme.Accent
	case motion.Vote:
		return grid.Ballot, theme.Waiting
	case motion.Granted:
		return grid.Granted, theme.OK
	case motion.Refused:
		return grid.Times, theme.Failing
	case motion.Change:
		return grid.Play, theme.Busy
	}
	if right {
		return grid.RightTo, theme.Accent
	}
	return grid.LeftTo, theme.Accent
}

// drawLane draws a level lane with what travels on it, or its rate where that is too much to tell apart. flip: To is on the left.
func drawLane(f view.Frame, c grid.Canvas, x, y, w int, line grid.Style, flip bool, lanes ...motion.Lane) {
	if w < 1 {
		return
	}
	for i := range w {
		c.Put(x+i, y, string(grid.LineH), line)
	}
	if f.Still {
		return
	}
	for _, l := range lanes {
		marks, crowd := f.Motion.On(l, f.Wall)
		if crowd {
			per := f.Motion.Rate(l, f.Now)
			if l.Kind == motion.Ask { // the lanes of all who share a line
				per = 0
				for _, one := range lanes {
					per += f.Motion.Rate(one, f.Now)
				}
			}
			text := rate(per)
			if text == "0" { // only answers to what was asked before
				if m, ok := f.Motion.Last(l, f.Wall, motion.Shown); ok {
					r, style := markRune(m, m.Back == flip)
					c.Put(x+w/2, y, string(r), style)
				}
				return
			}
			if w >= grid.Width(text)+4 {
				text += "/s"
			}
			if n := grid.Width(text); n <= w {
				c.Put(x+(w-n)/2, y, text, theme.Accent)
			}
			return
		}
		for _, m := range marks {
			right := m.Back == flip
			at := int(m.At(f.Wall)*float64(w-1) + 0.5)
			if !right {
				at = w - 1 - at
			}
			r, style := markRune(m, right)
			c.Put(x+at, y, string(r), style)
		}
	}
}

func (v View) chosen(t scene.Target, style grid.Style) grid.Style {
	if v.selected == t {
		return theme.Accent | grid.Reverse
	}
	return style
}

// drawClients draws who asks, the balancer, and the lanes.
func (v View) drawClients(f view.Frame, p *plan, c grid.Canvas) {
	if p.balancer.Empty() {
		return
	}
	if p.users.Empty() {
		v.drawWay(f, c.Sub(p.balancer))
		return
	}
	in := pane(c.Sub(p.users), f.Words.Say("map.clients"))
	iw, ih := in.Size()
	for i, cl := range clients(f) {
		if i >= ih {
			break
		}
		per := cl.rate(f)
		style, figure, figureStyle := theme.Dim, string(grid.Dot), theme.Dim
		if per > 0 {
			style, figure = theme.Text, rate(per)+"/s"
		}
		if cl.behind > 0 {
			figure, figureStyle = f.Words.Say("map.behind", "n", cl.behind), theme.Waiting
		}
		if !cl.gone && cl.n > 0 {
			style = theme.Text
		}
		if per > 0 && cl.behind == 0 && grid.Width(cl.text(iw))+1+grid.Width(figure) > iw {
			figure = rate(per)
		}
		in.PutRight(iw, i, figure, figureStyle)
		in.Put(0, i, cl.text(iw-grid.Width(figure)-1), v.chosen(clientTarget(cl.name), style))
		y := p.users.Y + 1 + i
		moving := false
		for _, l := range cl.asks() {
			_, moves := f.Motion.Last(l, f.Wall, motion.Shown)
			moving = moving || moves
		}
		if cl.name == motion.You || per > 0 || moving || cl.n > 0 {
			drawLane(f, c, p.ask.X, y, p.ask.W, theme.Frame, false, cl.asks()...)
		}
	}
	v.drawBalancer(f, p, c)
}

// drawBalancer draws the box of the balancer and the lanes to the API servers.
func (v View) drawBalancer(f view.Frame, p *plan, c grid.Canvas) {
	box := c.Sub(p.balancer)
	in := pane(box, f.Words.Say("map.balancer"))
	if v.selected == balancerTarget {
		box.Put(2, 0, " "+f.Words.Say("map.balancer")+" ", theme.Accent|grid.Reverse)
	}
	iw, ih := in.Size()
	total := totalRate(f)
	for i, b := range f.Scene.Backends {
		if i >= ih {
			break
		}
		line := backend(f, b.Healthy, b.PerSec, total, grid.Pad(sanitize.Text(b.Host), iw-7))
		if line.Width() > iw {
			line = backend(f, b.Healthy, b.PerSec, total, sanitize.Text(shortHost(b.Host)))
		}
		line.Draw(in, 0, i, iw)
		style := theme.Frame
		if !b.Healthy {
			style = theme.Failing
		}
		y := p.balancer.Y + 1 + i
		drawLane(f, c, p.serve.X, y, p.serve.W, style, false, motion.Lane{Kind: motion.Serve, To: b.Host})
		if !b.Healthy {
			c.Put(p.serve.Right()-1, y, string(grid.Times), theme.Failing)
		}
	}
	if len(f.Scene.Backends) == 0 {
		in.PutMax(0, 0, iw, f.Words.Say("map.no-backends"), theme.Dim)
	}
	s := f.Scene
	lines := []widget.Line{
		{{Text: f.Words.Say("map.workers-count", "ready", s.NodesReady, "n", len(s.Workers)), Style: calm(s.NodesReady == len(s.Workers))}},
		{{Text: f.Words.Say("map.pods-count", "running", s.PodsRunning, "n", s.Pods), Style: calm(s.PodsRunning+s.PodsEnding == s.Pods)}},
	}
	if s.Ghosts > 0 {
		lines = append(lines, widget.Line{{Text: f.Words.Say("map.pods-truth", "n", s.PodsRunning-s.Ghosts), Style: theme.Unknown}})
	}
	for i, l := range lines {
		if y := ih - len(lines) + i; y > len(s.Backends) {
			l.Draw(in, 0, y, iw)
		}
	}
}

func totalRate(f view.Frame) float64 {
	total := 0.0
	for _, b := range f.Scene.Backends {
		if b.Healthy {
			total += b.PerSec
		}
	}
	return total
}

// way is a client in the line of clients and balancer.
type way struct {
	client
	x int
}

// wayClients are those who ask where there is but one line: you, and the program from outside, or how many there are.
func wayClients(f view.Frame, width int) []way {
	you := way{client{name: motion.You, label: f.Words.Say("map.you")}, 1}
	out := []way{you}
	for _, c := range programs(f, 1) {
		if c.gone {
			continue
		}
		c.label = c.text(max(width/7, 8))
		if c.behind > 0 {
			c.label = f.Words.Say("map.behind", "n", c.behind)
		}
		out = append(out, way{c, 2 + grid.Width(you.label)})
	}
	return out
}

// balancerAt is where the word for the balancer begins in the line of clients and balancer.
func balancerAt(f view.Frame, width int) int {
	all := wayClients(f, width)
	last := &all[len(all)-1]
	return last.x + grid.Width(last.label) + wayLane(width) + 2
}

func wayLane(width int) int {
	if width < 70 {
		return 3
	}
	return 5
}

// drawWay is clients and balancer in one line.
func (v View) drawWay(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 {
		return
	}
	x := 0
	var asks []motion.Lane
	for _, one := range wayClients(f, w) {
		style := theme.Dim
		if one.n > 0 {
			style = theme.Text
		}
		if one.behind > 0 {
			style = theme.Waiting
		}
		x = c.Put(one.x, 0, one.label, v.chosen(clientTarget(one.name), style))
		asks = append(asks, one.asks()...)
	}
	drawLane(f, c, x+1, 0, wayLane(w), theme.Frame, false, asks...)
	x = c.Put(balancerAt(f, w), 0, f.Words.Say("map.balancer"), v.chosen(balancerTarget, theme.Dim)) + 1
	total := totalRate(f)
	if len(f.Scene.Backends) == 0 {
		x = c.Put(x+1, 0, f.Words.Say("map.no-backends"), theme.Dim)
	}
	for _, b := range f.Scene.Backends {
		if x+8 > w {
			break
		}
		if m, ok := f.Motion.Last(motion.Lane{Kind: motion.Serve, To: b.Host}, f.Wall, motion.Shown); ok && !f.Still {
			r, style := markRune(m, !m.Back)
			c.Put(x, 0, string(r), style)
		}
		x = backend(f, b.Healthy, b.PerSec, total, sanitize.Text(shortHost(b.Host))).Draw(c, x+1, 0, w-x-1) + 1
	}
	s := f.Scene
	end := widget.Line{{Text: f.Words.Say("map.pods-count", "running", s.PodsRunning, "n", s.Pods), Style: calm(s.PodsRunning+s.PodsEnding == s.Pods)}}
	if s.Ghosts > 0 {
		end = append(end, widget.S(" "+f.Words.Say("map.pods-truth", "n", s.PodsRunning-s.Ghosts), theme.Unknown))
	}
	if x+1+end.Width() > w && len(end) > 1 {
		end = widget.Line{{Text: fmt.Sprintf("%d/%d", s.PodsRunning, s.Pods), Style: end[0].Style}, {Text: " " + f.Words.Say("map.pods-truth-short", "n", s.PodsRunning-s.Ghosts), Style: theme.Unknown}}
	}
	if x+1+end.Width() <= w {
		end.Draw(c, w-end.Width()-1, 0, end.Width())
	}
}

func calm(ok bool) grid.Style {
	if ok {
		return theme.Dim
	}
	return theme.Waiting
}

// backend is one API server behind the balancer with its share of the requests.
func backend(f view.Frame, healthy bool, perSec, total float64, label string) widget.Line {
	if !healthy {
		return widget.Line{{Text: string(grid.Failing) + " " + label, Style: theme.Failing}, {Text: " " + f.Words.Say("map.out"), Style: theme.Dim}}
	}
	share := 0
	if total > 0 {
		share = int(perSec/total*100 + 0.5)
	}
	return widget.Line{{Text: string(grid.Running), Style: theme.OK}, {Text: " " + label, Style: theme.Text}, {Text: fmt.Sprintf(" %3d%%", share), Style: theme.Dim}}
}

func rate(perSec float64) string {
	switch {
	case perSec < 10 && perSec > 0:
		return strconv.FormatFloat(perSec, 'f', 1, 64)
	case perSec >= 9999.5:
		return strconv.Itoa(int(perSec/1000+0.5)) + "k"
	case perSec >= 999.5:
		return strconv.FormatFloat(perSec/1000, 'f', 1, 64) + "k"
	}
	return strconv.Itoa(int(perSec + 0.5))
}

// skyShown is how long what was last told to a kubelet is written over its card; wall.
const skyShown = 2 * motion.Shown

// drawSky shows what goes to kubelets and comes from them, above their cards; where workers are not cards, how much of it.
func (v View) drawSky(f view.Frame, p *plan, c grid.Canvas) {
	if p.sky.Empty() {
		return
	}
	down, up := f.Motion.Rate(motion.Lane{Kind: motion.Watch, To: motion.Kubelets}, f.Now), f.Motion.Rate(motion.Lane{Kind: motion.Call, From: motion.Kubelets}, f.Now)
	if len(p.floor.cards) == 0 || f.Still {
		in := c.Sub(p.sky)
		x := in.Put(1, 0, f.Words.Say("map.sky-workers", "ready", f.Scene.NodesReady, "n", len(f.Scene.Workers)), calm(f.Scene.NodesReady == len(f.Scene.Workers)))
		x = in.Put(x+3, 0, string(grid.Fall), v.flash(f, motion.Lane{Kind: motion.Watch, To: motion.Kubelets}))
		x = in.Put(x+1, 0, f.Words.Say("map.sky-down", "rate", rate(down)), theme.Dim)
		x = in.Put(x+3, 0, string(grid.Moment), v.flash(f, motion.Lane{Kind: motion.Call, From: motion.Kubelets}))
		in.Put(x+1, 0, f.Words.Say("map.sky-up", "rate", rate(up)), theme.Dim)
		return
	}
	row := -1
	for _, t := range p.floor.cards {
		if row < 0 {
			row = t.rect.Y
		}
		if t.rect.Y != row { // the cards below have the row above on their head: their marks are on their frames
			v.drawPost(f, t.target.Host, c, t.rect)
			continue
		}
		v.drawMail(f, t.target.Host, c.Sub(layout.Rect{X: t.rect.X, Y: p.sky.Y, W: t.rect.W, H: 1}))
	}
}

func (v View) flash(f view.Frame, l motion.Lane) grid.Style {
	if _, ok := f.Motion.Last(l, f.Wall, motion.Shown); ok && !f.Still {
		return theme.Accent
	}
	return theme.Dim
}

// mail is the newest message between a kubelet and the API, as a sign and words.
func mail(f view.Frame, host string) (sign rune, text string, style grid.Style, ok bool) {
	if f.Still {
		return 0, "", 0, false
	}
	in, told := f.Motion.Last(motion.Lane{Kind: motion.Watch, To: host}, f.Wall, skyShown)
	out, asked := f.Motion.Last(motion.Lane{Kind: motion.Call, From: host}, f.Wall, motion.Shown)
	switch {
	case told && (!asked || in.Seq >= out.Seq || in.Verb == "bind" || in.Verb == "delete"):
		return grid.Fall, in.Verb + " " + sanitize.Text(in.Name), theme.Busy, true
	case asked && out.Sign == motion.Refused:
		return grid.Times, out.Verb, theme.Failing, true
	case asked:
		return grid.Moment, out.Verb, theme.Dim, true
	}
	return 0, "", 0, false
}

func (v View) drawMail(f view.Frame, host string, c grid.Canvas) {
	sign, text, style, ok := mail(f, host)
	if !ok {
		return
	}
	w, _ := c.Size()
	x := c.Put(2, 0, string(sign), style)
	c.Put(x+1, 0, grid.CutMiddle(text, w-5), style&^grid.Bold)
}

// drawPost puts the sign of the newest message on the frame of a card.
func (v View) drawPost(f view.Frame, host string, c grid.Canvas, r layout.Rect) {
	if sign, _, style, ok := mail(f, host); ok && r.W > 8 {
		c.Put(r.Right()-3, r.Y, string(sign), style)
	}
}
