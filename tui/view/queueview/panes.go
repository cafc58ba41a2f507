package queueview

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// title draws the upper edge of a pane with its name.
func title(c grid.Canvas, text string, focused bool) {
	w, _ := c.Size()
	c.HLine(0, grid.LineH, theme.Frame)
	style := theme.Title
	if focused {
		style = theme.Accent
	}
	c.PutMax(1, 0, w-2, " "+text+" ", style)
}

func (v View) drawItems(f view.Frame, s *sight, c grid.Canvas) {
	box := c.Sub(s.itemBox)
	if s.itemBox.Empty() {
		return
	}
	if s.row == nil {
		title(box, f.Words.Say("queues.items-none"), v.pane == itemsPane)
		return
	}
	name := s.row.t.Name
	switch {
	case s.row.t.Type != "":
		name += " " + s.row.t.Type
	case !hostless(s.row.t.Process):
		name = s.row.t.Process + "/" + s.row.t.Host
	}
	total := len(s.items) + s.row.hidden(len(s.items))
	title(box, f.Words.Say("queues.items", "queue", name, "n", total), v.pane == itemsPane)
	rows := c.Sub(s.itemRows)
	if len(s.items) == 0 {
		text := f.Words.Say("queues.empty")
		if total > 0 {
			text = f.Words.Say("queues.unlisted", "n", total)
		}
		rows.PutMax(2, 0, s.itemRows.W-2, text, theme.Dim)
		v.drawNote(f, s, c.Sub(s.note))
		return
	}
	at := v.itemAt(s.items)
	for y := 0; y < s.itemRows.H && s.itemTop+y < len(s.items); y++ {
		n := s.itemTop + y
		drawItem(f, rows, y, s.row, &s.items[n], v.pane == itemsPane && n == at)
	}
	if y := len(s.items) - s.itemTop; total > len(s.items) && y < s.itemRows.H {
		rows.PutMax(4, y, s.itemRows.W-4, f.Words.Say("queues.items-more", "n", total-len(s.items)), theme.Dim)
	}
	v.drawNote(f, s, c.Sub(s.note))
}

// drawItem is one item: state, key, since, due, tries, why.
func drawItem(f view.Frame, c grid.Canvas, y int, r *row, it *event.QueueItem, chosen bool) {
	w, _ := c.Size()
	symbol, style := grid.Waiting, theme.Text
	switch it.State {
	case event.ItemInWork:
		symbol = grid.Starting
	case event.ItemDelayed, event.ItemBackoff:
		symbol = grid.Terminating
	case event.ItemUnschedulable:
		symbol, style = grid.Failing, theme.Waiting
	}
	if it.Retries > 1 && it.State != event.ItemActive {
		style = theme.Waiting
	}
	const state, since, when, tries = 9, 6, 9, 5
	key := min(max(20, w*2/5), 60)
	wide := w >= 76
	if !wide {
		key = max(8, w-6-state-since-when-tries)
	}
	c.Put(2, y, string(symbol), style)
	c.PutMax(4, y, state, stateWord(f, it.State), style)
	x := 4 + state + 1
	c.Put(x, y, grid.CutMiddle(sanitize.Text(keyName(r, it.Key)), key-1), theme.Title&^grid.Bold)
	x += key + since
	c.PutRight(x, y, words.Span(f.Now.Sub(it.Since)), theme.Dim)
	x += when
	if !it.Due.IsZero() {
		text, late := words.Span(it.Due.Sub(f.Now)), it.Due.Sub(f.Now) < -overdueBy
		switch {
		case late:
			c.PutRight(x, y, "-"+words.Span(f.Now.Sub(it.Due)), theme.Failing)
		case it.State == event.ItemUnschedulable:
			c.PutRight(x, y, "<"+text, theme.Text)
		default:
			c.PutRight(x, y, string(grid.RightTo)+text, theme.Text)
		}
	}
	x += tries
	if it.Retries > 0 {
		c.PutRight(x, y, string(grid.Times)+short(it.Retries), theme.Waiting)
	}
	if wide {
		c.PutMax(x+2, y, w-x-2, sanitize.Text(it.Why), theme.Dim)
	}
	if chosen {
		c.Put(0, y, string(grid.Marker), theme.Accent)
		c.Reverse(1, y, w-1)
	}
}

// keyName is a key as people write it: without the group of its kind, and without a UID.
func keyName(r *row, key string) string {
	if kindOf(r.t.Name) != nil {
		return key
	}
	words := strings.Fields(key)
	if len(words) < 2 {
		return key
	}
	kind, _, _ := strings.Cut(words[0], ".")
	return kind + " " + words[1]
}

func stateWord(f view.Frame, s event.ItemState) string {
	switch s {
	case event.ItemInWork:
		return f.Words.Say("queues.state-work")
	case event.ItemDelayed:
		return f.Words.Say("queues.state-delayed")
	case event.ItemBackoff:
		return f.Words.Say("queues.state-backoff")
	case event.ItemUnschedulable:
		return f.Words.Say("queues.state-parked")
	case event.ItemActive:
		return f.Words.Say("queues.state-active")
	}
	return f.Words.Say("queues.state-waiting")
}

// drawNote tells of the selected item what the row has no room for: why, what would move it, what put it there. Without items it says what the queue is for.
func (v View) drawNote(f view.Frame, s *sight, c grid.Canvas) {
	w, h := c.Size()
	if h == 0 || w < 10 {
		return
	}
	var all []widget.Line
	add := func(label, text string, style grid.Style) {
		if text == "" {
			return
		}
		label = grid.Pad(label, 8)
		head := grid.Width(label)
		for i, part := range widget.Wrap(sanitize.Text(text), max(w-3-head, 8)) {
			l := widget.Line{widget.S(label, theme.Dim), widget.S(part, style)}
			if i > 0 {
				l[0].Text = strings.Repeat(" ", head)
			}
			if i < 2 {
				all = append(all, l)
			}
		}
	}
	if len(s.items) > 0 {
		it := &s.items[v.itemAt(s.items)]
		add(f.Words.Say("queues.note-why"), it.Why, theme.Text)
		add(f.Words.Say("queues.note-moves"), it.Moves, theme.Text)
		if rec, ok := f.Record(it.Cause); ok {
			if _, moved := rec.Event.(event.PodQueued); moved { // says what the item says; what led there says more
				if led, ok := f.Record(rec.Cause); ok {
					rec = led
				}
			}
			add(f.Words.Say("queues.note-cause"), sentence.NewTeller(f.Words).Tell(rec, nil).One, theme.Cause)
		}
	}
	if about := aboutQueue(f, s.row); len(all) < h && about != "" {
		if len(all) == 0 {
			about = grid.Cut(about, 2*(w-3))
			for _, part := range widget.Wrap(about, w-3) {
				all = append(all, widget.Line{widget.S(part, theme.Dim)})
			}
		} else {
			add(f.Words.Say("queues.note-queue"), about, theme.Dim)
		}
	}
	for y, l := range all {
		if y < h {
			l.Draw(c, 2, y, w-2)
		}
	}
}

// aboutQueue says what a queue is for; empty where we have nothing to say.
func aboutQueue(f view.Frame, r *row) string {
	say := f.Words.Say
	switch r.t.Name {
	case "scheduler":
		switch event.ItemState(r.t.Type) {
		case event.ItemActive:
			return say("queues.about-active")
		case event.ItemBackoff:
			return say("queues.about-backoff")
		}
		return say("queues.about-parked")
	case "deployment":
		return say("queues.about-deployment")
	case "replicaset":
		return say("queues.about-replicaset")
	case "node_lifecycle_controller":
		return say("queues.about-nodes")
	case "node_lifecycle_controller_pods":
		return say("queues.about-node-pods")
	case "zone_noexec_tainter":
		return say("queues.about-zones")
	case "noexec_taint_node", "noexec_taint_pod":
		return say("queues.about-noexec")
	case "taint_eviction_timed":
		return say("queues.about-evictions")
	case "endpoint_slice":
		return say("queues.about-slices")
	case "endpoint":
		return say("queues.about-endpoints")
	case "endpoint_slice_mirroring":
		return say("queues.about-mirrors")
	case "garbagecollector":
		return say("queues.about-gc")
	case "garbagecollector orphan":
		return say("queues.about-orphans")
	case "requests":
		return say("queues.about-requests")
	case "pod_workers":
		return say("queues.about-kubelet")
	}
	return ""
}

func (v View) drawWaits(f view.Frame, s *sight, c grid.Canvas) {
	if s.waitBox.Empty() {
		return
	}
	box := c.Sub(s.waitBox)
	title(box, f.Words.Say("queues.waits"), v.pane == waitsPane)
	w, h := box.Size()
	if len(s.waits) == 0 {
		for i, part := range widget.Wrap(f.Words.Say("queues.nobody"), w-2) {
			box.Put(1, 1+i, part, theme.Dim)
		}
		return
	}
	at, y, drawn := v.waitAt(s.waits), 1, 0
	for i := s.waitTop; i < len(s.blocks) && y < h; i++ {
		chosen := v.pane == waitsPane && i == at
		for n, l := range s.blocks[i] {
			if y >= h {
				break
			}
			l.Draw(box, 2, y, w-2)
			if n == 0 && chosen {
				box.Put(0, y, string(grid.Marker), theme.Accent)
			}
			if chosen {
				box.Reverse(1, y, w-1)
			}
			y++
		}
		drawn++
	}
	if left := len(s.blocks) - s.waitTop - drawn; left > 0 {
		box.PutRight(w-1, 0, " "+f.Words.Say("queues.below", "n", left)+" ", theme.Dim)
	}
}

// Clips offers the selected item or chain, and the queue, as texts.
func (v View) Clips(f view.Frame) []view.Clip {
	s := v.see(f)
	var out []view.Clip
	add := func(label, text string) {
		if text = strings.TrimSpace(sanitize.Text(text)); text != "" {
			out = append(out, view.Clip{Label: label, Text: text})
		}
	}
	if v.pane == waitsPane && len(s.waits) > 0 {
		w := &s.waits[v.waitAt(s.waits)]
		add(f.Words.Say("queues.clip-wait"), strings.Join(w.links, " -> ")+"  "+w.why+"  "+untilWords(f, w.until))
	}
	if len(s.items) > 0 {
		it := &s.items[v.itemAt(s.items)]
		if v.pane == itemsPane {
			add(f.Words.Say("queues.clip-key"), it.Key)
			add(f.Words.Say("queues.clip-why"), it.Why)
		}
		var lines []string
		for i := range s.items {
			it := &s.items[i]
			lines = append(lines, strings.Join([]string{string(it.State), it.Key, it.Why}, "\t"))
		}
		out = append(out, view.Clip{Label: f.Words.Say("queues.clip-items"), Text: strings.Join(clean(lines), "\n")})
	}
	if s.row != nil {
		add(f.Words.Say("queues.clip-queue"), s.row.t.Process+"/"+s.row.t.Host+" "+s.row.t.Name)
	}
	return out
}

func clean(lines []string) []string {
	for i, l := range lines {
		parts := strings.Split(l, "\t")
		for k := range parts {
			parts[k] = sanitize.Text(parts[k])
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return lines
}
