package info

import (
	"fmt"
	"io"
	"strings"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
)

// WriteText writes the report for people: a heading, and below it lines of a name and a value.
func WriteText(w io.Writer, r Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "kubeviz %s (%s, %s)\n", r.Version, r.Go, r.Platform)
	t := r.Terminal
	size := "not known"
	if t.Width > 0 {
		size = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	config := r.Paths.Config
	if !r.Paths.ConfigFound && r.Problem == "" {
		config += " (not there)"
	}
	var around []string
	for _, x := range []struct {
		is   bool
		what string
	}{{t.Tmux, "tmux"}, {t.Screen, "screen"}, {t.SSH, "ssh"}} {
		if x.is {
			around = append(around, x.what)
		}
	}
	section(&b, "files", [][2]string{{"settings", config}, {"themes", r.Paths.Themes}, {"log", r.Paths.Log}, {"crashes", r.Paths.Crash}, {"data", r.Paths.Data}, {"saved to", r.Paths.Saves}})
	section(&b, "terminal", [][2]string{
		{"here", terminals(t.Input, t.Output)}, {"size", size}, {"TERM", t.Term}, {"COLORTERM", t.ColorTerm}, {"program", t.Program}, {"inside", strings.Join(around, ", ")},
		{"colours", t.Colors + ": " + t.ColorsWhy}, {"locale", t.Locale}})
	if r.Problem != "" {
		section(&b, "settings", [][2]string{{"problem", r.Problem}})
	} else {
		fmt.Fprintf(&b, "\nsettings\n")
		for _, s := range r.Settings {
			fmt.Fprintf(&b, "  %s %s %s\n", grid.Pad(s.Name, 10), pad(sanitize.Text(s.Value), 28), sanitize.Text(s.From))
		}
	}
	section(&b, "themes", [][2]string{{"there are", strings.Join(r.Themes, ", ")}})
	_, err := io.WriteString(w, b.String())
	return err
}

func terminals(in, out bool) string {
	switch {
	case in && out:
		return "yes"
	case in:
		return "standard input only"
	case out:
		return "standard output only"
	}
	return "no"
}

// pad fills up, and leaves alone what is longer.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-grid.Width(s), 0))
}

func section(b *strings.Builder, title string, lines [][2]string) {
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range lines {
		value := sanitize.Text(l[1])
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(b, "  %s %s\n", grid.Pad(l[0], 10), value)
	}
}

// WriteKeys writes the table of actions: the name to give to keys: in the settings, the keys it has, what it does.
func WriteKeys(w io.Writer, keys []Key) error {
	names, pressed := 0, 0
	for _, k := range keys {
		names = max(names, grid.Width(k.Name))
		pressed = max(pressed, grid.Width(strings.Join(k.Keys, " ")))
	}
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s  %s  %s\n", pad(k.Name, names), pad(strings.Join(k.Keys, " "), pressed), k.What)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
