package tui

import (
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/chainview"
	"example.com/kubeviz/tui/view/decisionview"
	"example.com/kubeviz/tui/view/detailview"
	"example.com/kubeviz/tui/view/historyview"
	"example.com/kubeviz/tui/view/mapview"
	"example.com/kubeviz/tui/view/objectview"
	"example.com/kubeviz/tui/view/queueview"
	"example.com/kubeviz/tui/view/raftview"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/view/whyview"
)

// numbered are the views with a number, in its order.
func numbered() []view.View {
	return []view.View{mapview.View{}, raftview.View{}, queueview.View{}, storyview.View{}, objectview.New()}
}

// page makes the page that an intent asks for.
func page(o intent.Open, f view.Frame) (view.View, bool) {
	switch o.Page {
	case detailview.ID:
		return detailview.New(o, f), true
	case chainview.ID:
		return chainview.New(o, f), true
	case whyview.ID:
		return whyview.New(o, f), true
	case decisionview.ID:
		return decisionview.New(o, f), true
	case historyview.ID:
		return historyview.New(o, f), true
	}
	return nil, false
}

// room is a numbered view with the pages that lie on it.
type room struct {
	base  view.View
	pages []view.View
}

// pagesMax bounds how deep one can go; the oldest page below is forgotten.
const pagesMax = 32

// rooms are all numbered views; one is in front.
type rooms struct {
	all []room
	at  int
}

func newRooms() rooms {
	var r rooms
	for _, v := range numbered() {
		r.all = append(r.all, room{base: v})
	}
	return r
}

// front is the view or page that is seen.
func (r *rooms) front() view.View {
	room := &r.all[r.at]
	if n := len(room.pages); n > 0 {
		return room.pages[n-1]
	}
	return room.base
}

// set replaces what is in front.
func (r *rooms) set(v view.View) {
	room := &r.all[r.at]
	if n := len(room.pages); n > 0 {
		room.pages[n-1] = v
		return
	}
	room.base = v
}

// push puts a page on top.
func (r *rooms) push(v view.View) {
	room := &r.all[r.at]
	room.pages = append(room.pages, v)
	if len(room.pages) > pagesMax {
		room.pages = append(room.pages[:0:0], room.pages[1:]...)
	}
}

// pop leaves the page on top; false: there is none.
func (r *rooms) pop() bool {
	room := &r.all[r.at]
	n := len(room.pages)
	if n == 0 {
		return false
	}
	room.pages = room.pages[:n-1]
	return true
}

// show brings a numbered view to the front. Asked for again while it is in front, its pages are left.
func (r *rooms) show(id string) bool {
	for i := range r.all {
		if r.all[i].base.ID() == id {
			if i == r.at {
				r.all[i].pages = nil
			}
			r.at = i
			return true
		}
	}
	return false
}

// selection of what is in front.
func selection(v view.View, f view.Frame) target.Target {
	if s, ok := v.(view.Selector); ok {
		return s.Selection(f)
	}
	return target.Target{}
}
