package mapview

import (
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// size class of the screen.
type class int

const (
	compact class = iota // 80x24
	comfortable
	rich // several panes side by side
)

// placed is a thing that can be selected, and where it is.
type placed struct {
	target scene.Target
	rect   layout.Rect
}

// plan says where everything goes. It is made from sizes, counts and what the user has gone into, so it moves only when those do.
type plan struct {
	class class
	// users and balancer are boxes with lanes between them and to the masters; or one line, when lanes is empty.
	users, balancer layout.Rect
	ask, serve      layout.Rect
	masters         []placed
	raft            layout.Rect
	sky             layout.Rect // between masters and workers: what is on its way to and from kubelets
	pending         layout.Rect
	floor           floor // the workers
	now             layout.Rect
	work, requests  layout.Rect
	story           layout.Rect
}

// Widths of the boxes on the way to the API servers, borders included, and of the lanes between them.
const (
	usersW, usersRichW = 19, 20
	balancerW          = 19
	laneW              = 4
	boxedMasters       = 3 // with more masters the boxes become a line
)

// makePlan places the parts of the map.
func makePlan(f view.Frame, v View) plan {
	p := plan{}
	area := layout.Rect{W: max(f.W, 0), H: max(f.H, 0)}
	switch {
	case f.W >= 160 && f.H >= 40:
		p.class = rich
	case f.W >= 100 && f.H >= 28:
		p.class = comfortable
	}
	side := layout.Rect{}
	if p.class == rich {
		cols := area.Cols(layout.Fill(67), layout.Fixed(1), layout.Fill(33))
		area, side = cols[0], cols[2]
	}
	p.control(f, &area)
	if p.class != compact && area.H > 12 && len(f.Scene.Workers) > 0 {
		rows := area.Rows(layout.Fixed(1), layout.Fill(1))
		p.sky, area = rows[0], rows[1]
	}
	if len(f.Scene.Pending) > 0 && area.H > 8 {
		rows := area.Rows(layout.Fixed(1), layout.Fill(1))
		p.pending, area = rows[0], rows[1]
	}
	few := len(f.Scene.Workers) <= cardsMax
	bottom := 0
	switch p.class {
	case compact:
		bottom = min(4, max(area.H-5, 0))
	case comfortable:
		bottom = max(10, area.H*2/5)
		if n := len(v.zoom.members(f.Scene)); n > cardsMax && n <= rowsMax { // rows for all, rather than a longer story
			cols := max(area.W/rowMinW, 1)
			bottom = min(max(area.H-(n+cols-1)/cols, 8), bottom)
		}
	case rich:
		if few {
			bottom = min(20, area.H/2)
		}
	}
	p.floor = v.lay(f, p.class, layout.Rect{X: area.X, Y: area.Y, W: area.W, H: area.H - bottom})
	used := max(p.floor.bottom(), area.Y)
	rest := layout.Rect{X: area.X, Y: used, W: area.W, H: area.Bottom() - used}
	switch p.class {
	case compact:
		n := 2
		if rest.H < 4 {
			n = 1
		}
		rows := rest.Rows(layout.Fixed(n), layout.Fill(1))
		p.now, p.story = rows[0], rows[1]
	case comfortable:
		cols := rest.Cols(layout.Fill(11), layout.Fixed(1), layout.Fill(10))
		p.now, p.story = cols[0], cols[2]
	case rich:
		if few && rest.H >= 8 {
			p.story = rest
		}
		need := min(max(len(v.nowLines(f, side.W-4))+2, 12), side.H-12)
		rows := side.Rows(layout.Fixed(need), layout.Fill(1))
		p.now = rows[0]
		if p.story.Empty() {
			p.story = rows[1]
		} else {
			under := rows[1].Rows(layout.Fixed(min(max(workHeight(f)+2, 5), rows[1].H/2)), layout.Fill(1))
			p.work, p.requests = under[0], under[1]
		}
	}
	return p
}

// control places the clients, the balancer, the masters and the raft lane.
func (p *plan) control(f view.Frame, area *layout.Rect) {
	n := len(f.Scene.Masters)
	if n == 0 {
		return
	}
	raft := 0
	if f.Scene.Quorum.Raft {
		raft = 1
	}
	if p.class == compact || n > boxedMasters {
		h := 7
		switch {
		case p.class == rich:
			h = 10
		case p.class == comfortable:
			h = 9
		case area.H < 20:
			h = max(min(area.H-12, 6), 3)
		}
		rows := area.Rows(layout.Fixed(1), layout.Fixed(h), layout.Fixed(raft), layout.Fill(1))
		p.balancer, p.raft, *area = rows[0], rows[2], rows[3]
		p.tile(f, rows[1].Tiles(n, n, h, 1))
		return
	}
	h, users := 9, usersW
	if p.class == rich {
		h, users = 10, usersRichW
	}
	rows := area.Rows(layout.Fixed(h), layout.Fixed(raft), layout.Fill(1))
	top := rows[0].Cols(layout.Fixed(users), layout.Fixed(laneW), layout.Fixed(balancerW), layout.Fixed(laneW), layout.Fill(1))
	p.users, p.ask, p.balancer, p.serve, p.raft, *area = top[0], top[1], top[2], top[3], rows[1], rows[2]
	p.tile(f, top[4].Tiles(n, n, h, 1))
}

func (p *plan) tile(f view.Frame, rects []layout.Rect) {
	for i, r := range rects {
		p.masters = append(p.masters, placed{scene.Target{Kind: scene.Master, Host: f.Scene.Masters[i].Name}, r})
	}
}

// cardMax is the height above which the cards have nothing more to say; on a rich screen it follows the pods, in steps.
func cardMax(f view.Frame, c class, members []int) int {
	switch c {
	case compact:
		return 7
	case comfortable:
		return 11
	}
	pods := 0
	for _, i := range members {
		pods = max(pods, f.Scene.Workers[i].Pods)
	}
	return min(11+pods/4*4, 24)
}
