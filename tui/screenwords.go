package tui

import (
	"fmt"
	"sort"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// screenWord is a word of the console that acts on the screen and not on the cluster, so that no scenario can use it.
type screenWord struct {
	name, usage string
	// help is the catalogue key of what it does.
	help string
	args []string // for completion
	do   func(m *model, args []string) (func() tea.Cmd, error)
}

// screenWords lists them in the order of help.
func screenWords() []screenWord {
	return []screenWord{
		{"goto", "goto +5m30s|-1m|14:03:27|start|end", "word.goto", []string{"start", "end"}, wordGoto},
		{"live", "live", "word.live", nil, plainWord(intent.Live{})},
		{"view", "view map|raft|queues|story|objects", "word.view", []string{"map", "raft", "queues", "story", "objects"}, wordView},
		{"find", "find TEXT", "word.find", nil, wordFind},
		{"why", "why", "word.why", nil, plainWord(intent.Why{})},
		{"save", "save text|svg|recording [FILE]", "word.save", []string{"text", "svg", "recording"}, wordSave},
		{"theme", "theme " + strings.Join(theme.Names(), "|"), "word.theme", theme.Names(), wordTheme},
		{"lang", "lang " + strings.Join(words.Languages(), "|"), "word.lang", words.Languages(), wordLang},
		{"serve", "serve", "word.serve", nil, wordServe},
		{"help", "help", "word.help", nil, plainWord(intent.Help{})},
		{"quit", "quit", "word.quit", nil, plainWord(intent.Quit{Now: true})},
	}
}

// aliases of screen words that people try.
var aliases = map[string]string{"exit": "quit", "q": "quit", "q!": "quit", "?": "help"}

// screenWord finds the word of a line; found is false where the line is not one for the screen.
func (m *model) screenWord(line string) (act func() tea.Cmd, found bool, err error) {
	fields := strings.Fields(line)
	name := strings.ToLower(fields[0])
	if a, ok := aliases[name]; ok {
		name = a
	}
	for _, w := range screenWords() {
		if w.name != name {
			continue
		}
		act, err := w.do(m, fields[1:])
		if err != nil {
			return nil, true, fmt.Errorf("%q: %w; write: %s", line, err, w.usage)
		}
		return act, true, nil
	}
	return nil, false, nil
}

// plainWord is a word without arguments that leaves the console and does one thing.
func plainWord(i intent.Intent) func(*model, []string) (func() tea.Cmd, error) {
	return func(m *model, args []string) (func() tea.Cmd, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("takes nothing after it")
		}
		return m.leaveAnd(i), nil
	}
}

func (m *model) leaveAnd(i intent.Intent) func() tea.Cmd {
	return func() tea.Cmd { m.closeConsole(); return m.act(i) }
}

func wordView(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) == 1 {
		for _, r := range m.rooms.all {
			if r.base.ID() == args[0] {
				return m.leaveAnd(intent.Show{View: args[0]}), nil
			}
		}
	}
	return nil, fmt.Errorf("needs the name of a view")
}

func wordFind(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("needs a text")
	}
	text := strings.Join(args, " ")
	return func() tea.Cmd { m.closeConsole(); return m.tell(intent.Text{Value: text, Done: true}) }, nil
}

func wordSave(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) == 0 || len(args) > 2 || suffix[args[0]] == "" {
		return nil, fmt.Errorf("needs to know what")
	}
	path := ""
	if len(args) == 2 {
		path = args[1]
	}
	return func() tea.Cmd { m.closeConsole(); return m.save(args[0], path) }, nil
}

func wordTheme(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("needs the name of a theme")
	}
	p, err := m.palette(args[0])
	if err != nil {
		return nil, err
	}
	return func() tea.Cmd { m.theme = theme.New(p, m.theme.Depth()); return nil }, nil
}

func wordLang(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("needs a language")
	}
	c, err := words.Language(args[0])
	if err != nil {
		return nil, err
	}
	return func() tea.Cmd { m.speak(c); return nil }, nil
}

func wordGoto(m *model, args []string) (func() tea.Cmd, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("needs an instant")
	}
	at, err := m.instant(args[0])
	if err != nil {
		return nil, err
	}
	return m.leaveAnd(intent.At{Time: at}), nil
}

// instant reads a place in time: "+5m30s" since the start, "-30s" from here, "14:03:27" on the clock of the header, "start", "end".
func (m *model) instant(text string) (time.Time, error) {
	first, last := m.reader.Bounds()
	start := m.reader.World().Start
	switch {
	case text == "end" || text == "now":
		return last, nil
	case text == "start":
		return first, nil
	case text[0] == '+' || text[0] == '-':
		d, err := time.ParseDuration(text[1:])
		if err != nil {
			return time.Time{}, fmt.Errorf("%q is not a span of time like +5m30s", text)
		}
		if text[0] == '-' {
			return m.reader.Now().Add(-d), nil
		}
		return start.Add(d), nil
	}
	clock, err := time.Parse("15:04:05", text)
	if err != nil {
		if clock, err = time.Parse("15:04", text); err != nil {
			return time.Time{}, fmt.Errorf("%q is not an instant", text)
		}
	}
	day := start.In(m.location)
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, m.location)
	if at.Before(first.Add(-time.Second)) { // after midnight
		at = at.AddDate(0, 0, 1)
	}
	if at.Before(first.Add(-time.Second)) || at.After(last.Add(time.Second)) {
		return time.Time{}, fmt.Errorf("%s is not between %s and %s", text, first.In(m.location).Format("15:04:05"), last.In(m.location).Format("15:04:05"))
	}
	return at, nil
}

// completeScreen offers ways to go on with a line of a screen word.
func completeScreen(line string) []string {
	fields := strings.Fields(line)
	fresh := line == "" || strings.HasSuffix(line, " ")
	var offers []string
	for _, w := range screenWords() {
		switch {
		case len(fields) == 0 || len(fields) == 1 && !fresh:
			offers = append(offers, w.name)
		case fields[0] == w.name && (len(fields) == 1 || len(fields) == 2 && !fresh):
			offers = append(offers, w.args...)
		}
	}
	last := ""
	if !fresh && len(fields) > 0 {
		last = fields[len(fields)-1]
	}
	var out []string
	for _, o := range offers {
		if strings.HasPrefix(o, last) && o != last {
			out = append(out, o)
		}
	}
	return out
}

// merge puts two lists of offers together, sorted.
func merge(a, b []string) []string {
	out := append(append([]string(nil), a...), b...)
	sort.Strings(out)
	return out
}
