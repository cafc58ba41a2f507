package tui

import (
	"time"

	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
)

const (
	toastTime = 5 * time.Second
	toastsMax = 2
)

// toast is a sentence that is shown for a while.
type toast struct {
	text  string
	style grid.Style
	until time.Time // wall
}

type toasts []toast

// add shows a sentence; equal ones are shown once.
func (t *toasts) add(text string, style grid.Style, until time.Time) {
	for i := range *t {
		if (*t)[i].text == text {
			(*t)[i].until = until
			return
		}
	}
	*t = append(*t, toast{text, style, until})
	if n := len(*t); n > toastsMax {
		*t = append((*t)[:0:0], (*t)[n-toastsMax:]...)
	}
}

// expire takes away those that were seen long enough.
func (t *toasts) expire(now time.Time) bool {
	kept := (*t)[:0]
	for _, one := range *t {
		if !now.After(one.until) {
			kept = append(kept, one)
		}
	}
	any := len(kept) < len(*t)
	*t = kept
	return any
}

// say shows a sentence for a while.
func (m *model) say(text string, style grid.Style) {
	m.toasts.add(text, style, m.clock().Add(toastTime))
	m.touch()
}

// news turns headlines into toasts, and answers into lines of the console.
func (m *model) news() {
	fresh := m.sources.fresh
	m.sources.fresh = true // what was there before the screen is no news
	for _, l := range m.sources.head.TakeNews() {
		if !fresh {
			continue
		}
		text := l.One
		if l.TouchesStore {
			if q := m.quorumNow(); q != "" {
				text = m.words.Say("toast.and", "what", l.One, "quorum", q)
			}
		}
		if !m.reader.Live() {
			text = m.words.Say("toast.meanwhile", "what", text)
		}
		m.say(text, l.Tone.Style())
	}
	for _, a := range m.sources.head.TakeAnswers() {
		m.answer(a)
	}
}

// quorumNow is the quorum of the present in words, where it is in danger.
func (m *model) quorumNow() string {
	q := scene.QuorumOf(m.reader.Head())
	switch {
	case !q.Raft || q.Lose >= (q.Members-1)/2:
		return ""
	case q.Alive < q.Need:
		return m.words.Say("quorum.lost", "alive", q.Alive, "members", q.Members, "need", q.Need)
	}
	return m.words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", q.Lose)
}

// answer shows what came of an order of ours.
func (m *model) answer(a feed.Answer) {
	if !m.orders.mine(a.Text) {
		return
	}
	if m.console.open {
		m.console.print(a)
		m.touch()
		return
	}
	switch {
	case a.Error != "":
		m.say(m.words.Say("toast.failed", "text", grid.Cut(a.Text, max(m.w/2-2, 30)), "error", a.Error), theme.Waiting)
	case len(a.Output) == 1:
		m.say(m.words.Say("toast.answer", "text", a.Output[0]), theme.Text)
	case len(a.Output) > 1:
		m.overlay = answerList(a)
		m.touch()
	}
}
