package mapview

import (
	"strconv"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// requestReach is how many records back the newest requests are looked for in a frame.
const requestReach = 400

// drawRequests lists the newest answered requests, the last at the bottom: when, who, what, the answer and how long it took.
func drawRequests(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 40 || h < 4 {
		return
	}
	in := pane(c, f.Words.Say("map.requests"))
	iw, ih := in.Size()
	var lines []widget.Line
	if f.Journal != nil {
		for seq, n := f.World.Seq, 0; seq > 0 && n < requestReach && len(lines) < ih; seq, n = seq-1, n+1 {
			r, ok := f.Journal.Get(seq)
			if !ok {
				break
			}
			if e, ok := r.Event.(event.RequestDone); ok {
				lines = append(lines, requestLine(f, r, e, iw))
			}
		}
	}
	if len(lines) == 0 {
		in.PutMax(0, 0, iw, f.Words.Say("map.requests-none"), theme.Dim)
		return
	}
	for i, l := range lines {
		l.Draw(in, 0, len(lines)-1-i, iw)
	}
}

func requestLine(f view.Frame, r event.Record, e event.RequestDone, width int) widget.Line {
	var took time.Duration
	for _, s := range e.Stages {
		took += s.Took
	}
	client, host := motion.ClientOf(e.User)
	style := theme.Dim
	from, outside := f.Outside(&r)
	switch {
	case outside:
		client, style = from.Client.Component(), theme.Fault
	case client == motion.You:
		client, style = f.Words.Say("map.you"), theme.Fault
	case host != "":
		client = "kubelet/" + shortHost(host)
	case client == motion.Controllers:
		client = "ctrl-mgr"
	}
	what := e.Verb + " " + e.Resource
	if e.ObjectName != "" {
		what += "/" + e.ObjectName
	}
	if e.Subresource != "" {
		what += " " + e.Subresource
	}
	code := theme.Dim
	if e.Code >= 400 {
		code = theme.Failing
	}
	return widget.Line{{Text: grid.Pad(storyview.Clock(f, r.At), 8), Style: theme.Dim}, {Text: " " + grid.Pad(sanitize.Text(client), 11), Style: style},
		{Text: " " + grid.Pad(grid.CutMiddle(sanitize.Text(what), width-32), width-32), Style: theme.Text}, {Text: " " + strconv.Itoa(e.Code), Style: code}, {Text: " " + words.Short(took), Style: theme.Dim}}
}
