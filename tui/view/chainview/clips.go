package chainview

import (
	"strings"

	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/view"
)

// Clips offers the hop under the cursor, and the whole chain as it is on the screen.
func (v View) Clips(f view.Frame) []view.Clip {
	p := v.look(f)
	if len(p.rows) == 0 {
		return nil
	}
	at := v.cursor(p)
	var all strings.Builder
	for i := range p.rows {
		all.WriteString(v.plain(f, p, i))
		all.WriteByte('\n')
	}
	return []view.Clip{
		{Label: f.Words.Say("chain.copy-hop"), Text: strings.TrimLeft(v.plain(f, p, at), " ")},
		{Label: f.Words.Say("chain.copy-all"), Text: all.String()},
	}
}

// plain is a row as a line of text: since the start of the chain, who, what, and what the time before it went into.
func (v View) plain(f view.Frame, p *page, i int) string {
	r := p.rows[i]
	l := p.line(f, i)
	text := strings.Repeat("  ", r.depth)
	if r.id.kind == hopRow {
		text += "+" + dur(r.h.rec.At.Sub(p.tree.root.rec.At)) + "  "
	}
	if l.who != "" {
		text += l.who + "  "
	}
	text += sanitize.Text(l.text)
	if r.id.kind == hopRow {
		if parts := v.parts(f, r.h); parts != "" {
			text += "  (" + parts + ")"
		}
	}
	return text
}
