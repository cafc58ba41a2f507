package storyview

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// option is a key that only the story has.
func (v View) option(f view.Frame, i intent.Option) (view.View, []intent.Intent) {
	l, ok := v.line(f)
	switch i.Name {
	case "cause", "effect":
		if !ok {
			return v, nil
		}
		return v.related(f, &l, i.Name == "cause")
	case "goto":
		if !ok {
			return v, nil
		}
		return v, []intent.Intent{intent.ToSeq{Seq: l.Seq}}
	case "follow":
		if v.at != 0 {
			v.at, v.offset = 0, 0
		} else if ok {
			p := v.plan(f.W, f.H)
			v.at, v.offset = l.First, max(min(p.list.H, len(f.Feed.Lines()))-1, 0)
		}
		return v, nil
	case "fold":
		return v.show(f, toggle(v.level, each)), nil
	case "facts":
		return v.show(f, toggle(v.level, facts)), nil
	case "component":
		k := v.filter
		if k.component == "" {
			v.began = component(l.Who)
		}
		k.component = next(k.component, v.began, there(f, func(l *feed.Line) string { return component(l.Who) }))
		return v.narrow(f, k), nil
	case "kind":
		k := v.filter
		if k.kind == "" {
			v.began = kindOf(l.Subject)
		}
		k.kind = next(k.kind, v.began, there(f, func(l *feed.Line) string { return kindOf(l.Subject) }))
		return v.narrow(f, k), nil
	}
	return v, []intent.Intent{i}
}

func toggle(now, to level) level {
	if now == to {
		return folded
	}
	return to
}

// show changes the level. The cursor stays on what it was on, or on the line that this was folded into.
func (v View) show(f view.Frame, to level) View {
	if v.memo == nil {
		v.memo = &memo{}
	}
	was := v.level
	v.level, v.older, v.looked, v.scroll = to, nil, 0, 0
	if v.at == 0 {
		return v
	}
	if to == folded && was != folded {
		if i, ok := f.Feed.LineOf(v.at); ok {
			v.at = f.Feed.Lines()[i].First
		}
	}
	return v
}

// related moves the cursor to the line of the cause, or of the first effect.
func (v View) related(f view.Frame, l *feed.Line, up bool) (view.View, []intent.Intent) {
	r := v.rows(f)
	at, missing := -1, "story.effect-none-here"
	if up {
		missing = "story.cause-none"
		if rec, ok := f.Record(l.Seq); ok && rec.Cause != 0 {
			missing = "story.cause-here"
		}
		for seq := range ancestors(f, l.Seq) {
			if at = r.holds(f, seq, l); at >= 0 {
				break
			}
		}
	} else {
		e := effects(f, l, v.level)
		for _, seq := range e.seqs {
			if at = r.holds(f, seq, l); at >= 0 {
				break
			}
		}
	}
	if at < 0 {
		return v, []intent.Intent{intent.Tell{Text: f.Words.Say(missing)}}
	}
	height := max(v.plan(f.W, f.H).list.H, 1)
	return v.to(&r, v.cursor(&r), at, height), nil
}

// holds finds the row that a record is told in; -1: it is not shown, or it is the line itself.
func (r *rows) holds(f view.Frame, seq event.Seq, not *feed.Line) int {
	if r.len() == 0 {
		return -1
	}
	key := seq
	if r.tell == nil {
		if i, ok := f.Feed.LineOf(seq); ok && len(r.lines) > 0 && &r.lines[0] == &f.Feed.Lines()[0] {
			key = f.Feed.Lines()[i].First
		}
	}
	if key == not.First {
		return -1
	}
	if i := r.find(key); r.key(i) == key {
		return i
	}
	return -1
}
