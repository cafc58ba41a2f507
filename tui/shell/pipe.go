package shell

import (
	"regexp"
	"strconv"
	"strings"
)

// Pipe is what stands behind a line's first |: each takes lines and gives lines on. It is used once. The zero value gives all on.
type Pipe []stage

type stage interface {
	// line takes a line and gives on what becomes of it; more is false when no further line can matter.
	line(text string) (out []string, more bool)
	// end gives on what was waiting for the end.
	end() []string
}

// Line takes one line of output. more is false when no line after it can be shown, so that who makes them may stop.
func (p Pipe) Line(text string) (out []string, more bool) {
	out, more = []string{text}, true
	for _, s := range p {
		var next []string
		for _, l := range out {
			some, on := s.line(l)
			next = append(next, some...)
			if !on {
				more = false
				break
			}
		}
		out = next
	}
	return out, more
}

// End tells that no line follows, and gives what was waiting for that.
func (p Pipe) End() (out []string) {
	for i, s := range p {
		rest, _ := p[i+1:].lines(s.end())
		out = append(out, rest...)
	}
	return out
}

func (p Pipe) lines(all []string) (out []string, more bool) {
	for _, l := range all {
		some, on := p.Line(l)
		if out = append(out, some...); !on {
			return out, false
		}
	}
	return out, true
}

// stageOf reads the words behind a pipe.
func stageOf(words []string) (stage, error) {
	if len(words) == 0 {
		return nil, &Error{Key: "shell.pipe"}
	}
	name, args := words[0], words[1:]
	switch name {
	case "grep", "egrep", "fgrep":
		return grepOf(name, args)
	case "head", "tail":
		n, ok := count(args)
		if !ok {
			return nil, &Error{Key: "shell.pipe-flag", Word: strings.Join(words, " ")}
		}
		if name == "head" {
			return &head{left: n}, nil
		}
		return &tail{max: n}, nil
	case "wc":
		if len(args) == 1 && args[0] == "-l" {
			return &wc{}, nil
		}
	case "less", "more", "cat": // the pane scrolls as they do
		if len(args) == 0 {
			return all{}, nil
		}
	default:
		return nil, &Error{Key: "shell.pipe", Word: name}
	}
	return nil, &Error{Key: "shell.pipe-flag", Word: strings.Join(words, " ")}
}

// count reads "-n 5", "-n5", "-5", "--lines=5", or nothing, which is 10.
func count(args []string) (n int, ok bool) {
	text := "10"
	switch {
	case len(args) == 0:
	case len(args) == 2 && (args[0] == "-n" || args[0] == "--lines"):
		text = args[1]
	case len(args) == 1 && strings.HasPrefix(args[0], "--lines="):
		text = args[0][len("--lines="):]
	case len(args) == 1 && strings.HasPrefix(args[0], "-"):
		text = strings.TrimPrefix(args[0][1:], "n")
	default:
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && text[0] != '+'
}

type all struct{}

func (all) line(text string) ([]string, bool) { return []string{text}, true }
func (all) end() []string                     { return nil }

type head struct{ left int }

func (h *head) line(text string) ([]string, bool) {
	if h.left <= 0 {
		return nil, false
	}
	h.left--
	return []string{text}, h.left > 0
}
func (*head) end() []string { return nil }

type tail struct {
	max  int
	last []string
}

func (t *tail) line(text string) ([]string, bool) {
	t.last = append(t.last, text)
	if len(t.last) > 2*t.max {
		t.last = append(t.last[:0:0], t.last[len(t.last)-t.max:]...)
	}
	return nil, true
}
func (t *tail) end() []string { return t.last[max(len(t.last)-t.max, 0):] }

type wc struct{ n int }

func (w *wc) line(string) ([]string, bool) { w.n++; return nil, true }
func (w *wc) end() []string                { return []string{strconv.Itoa(w.n)} }

// grep as GNU has it, without what reads files.
type grep struct {
	want                       *regexp.Regexp
	inverted, only, number, nc bool // -v, -o, -n, -c
	before, after, most        int  // -B, -A, -m (below 0: no bound)

	at, found, owed, last int // lines seen, lines found, lines of -A to come, the last line given
	held                  []string
}

// grepOf reads the words after grep.
func grepOf(name string, args []string) (stage, error) {
	g := &grep{most: -1}
	var fold, word, whole, given bool
	syntax, texts, rest := byte('G'), []string(nil), []string(nil)
	switch name {
	case "egrep":
		syntax = 'E'
	case "fgrep":
		syntax = 'F'
	}
	wrong := &Error{Key: "shell.pipe-flag", Word: strings.Join(append([]string{name}, args...), " ")}
	long := map[string]string{"--ignore-case": "-i", "--invert-match": "-v", "--count": "-c", "--only-matching": "-o", "--line-number": "-n", "--word-regexp": "-w", "--line-regexp": "-x",
		"--extended-regexp": "-E", "--fixed-strings": "-F", "--color": "-", "--color=auto": "-", "--color=always": "-", "--color=never": "-", "--line-buffered": "-"}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if l, ok := long[a]; ok {
			if a = l; a == "-" {
				continue
			}
		}
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
	letters:
		for j := 1; j < len(a); j++ {
			switch a[j] {
			case 'i', 'y':
				fold = true
			case 'v':
				g.inverted = true
			case 'c':
				g.nc = true
			case 'o':
				g.only = true
			case 'n':
				g.number = true
			case 'w':
				word = true
			case 'x':
				whole = true
			case 'E', 'F', 'G':
				syntax = a[j]
			case 'e', 'A', 'B', 'C', 'm':
				value := a[j+1:]
				if value == "" {
					if i++; i == len(args) {
						return nil, wrong
					}
					value = args[i]
				}
				if a[j] == 'e' {
					texts, given = append(texts, value), true
					break letters
				}
				n, err := strconv.Atoi(value)
				if err != nil || n < 0 || n > lineMax {
					return nil, wrong
				}
				switch a[j] {
				case 'A':
					g.after = n
				case 'B':
					g.before = n
				case 'C':
					g.after, g.before = n, n
				case 'm':
					g.most = n
				}
				break letters
			default:
				return nil, wrong
			}
		}
	}
	if !given {
		if len(rest) == 0 {
			return nil, wrong
		}
		texts, rest = rest[:1], rest[1:]
	}
	if len(rest) > 0 { // a file
		return nil, wrong
	}
	var all []string
	for _, t := range texts {
		switch syntax {
		case 'F':
			t = regexp.QuoteMeta(t)
		default:
			t = posix(t, syntax == 'E')
		}
		all = append(all, "(?:"+t+")")
	}
	expr := strings.Join(all, "|")
	switch {
	case whole:
		expr = "^(?:" + expr + ")$"
	case word:
		expr = `\b(?:` + expr + `)\b`
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &Error{Key: "shell.regexp", Word: strings.Join(texts, " ")}
	}
	g.want = re
	return g, nil
}

// posix turns a regular expression of grep (extended: of grep -E) into one of Go's: which of the signs need a backslash to mean something is the other way round in the
// basic ones, and a backslash between brackets is a backslash.
func posix(s string, extended bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				b.WriteString(`\\`)
				break
			}
			switch next := s[i]; {
			case next == '<' || next == '>':
				b.WriteString(`\b`)
			case strings.IndexByte("|+?(){}", next) >= 0 && !extended:
				b.WriteByte(next)
			case strings.IndexByte("wWsSbB", next) >= 0:
				b.WriteString(`\` + string(next))
			default:
				b.WriteString(regexp.QuoteMeta(string(next)))
			}
		case '|', '+', '?', '(', ')', '{', '}':
			if !extended {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case '*':
			if b.Len() == 0 && !extended {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case '[':
			end := brackets(s, i)
			if end < 0 { // not closed: grep refuses it, as Go does
				b.WriteString(s[i:])
				return b.String()
			}
			b.WriteString(strings.ReplaceAll(s[i:end], `\`, `\\`))
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// brackets is where the expression in brackets that begins at i ends; below 0: nowhere.
func brackets(s string, i int) int {
	j := i + 1
	if j < len(s) && s[j] == '^' {
		j++
	}
	if j < len(s) && s[j] == ']' {
		j++
	}
	for ; j < len(s); j++ {
		switch {
		case s[j] == ']':
			return j + 1
		case s[j] == '[' && j+1 < len(s) && s[j+1] == ':':
			if k := strings.Index(s[j:], ":]"); k > 0 {
				j += k + 1
			}
		}
	}
	return -1
}

func (g *grep) line(text string) ([]string, bool) {
	g.at++
	if g.most >= 0 && g.found >= g.most && g.owed == 0 {
		return nil, false
	}
	hit := g.want.MatchString(text) != g.inverted && (g.most < 0 || g.found < g.most)
	if !hit {
		switch {
		case g.owed > 0 && !g.nc:
			g.owed--
			g.last = g.at
			return []string{g.numbered(text, g.at, '-')}, g.most < 0 || g.found < g.most || g.owed > 0
		case g.before > 0:
			if g.held = append(g.held, text); len(g.held) > g.before {
				g.held = g.held[1:]
			}
		}
		return nil, true
	}
	g.found++
	more := g.most < 0 || g.found < g.most || g.after > 0
	if g.nc {
		return nil, more
	}
	if g.only {
		if g.inverted {
			return nil, more
		}
		var out []string
		for _, m := range g.want.FindAllString(text, -1) {
			if m != "" {
				out = append(out, g.numbered(m, g.at, ':'))
			}
		}
		return out, more
	}
	var out []string
	first := g.at - len(g.held)
	if g.last > 0 && first > g.last+1 && (g.before > 0 || g.after > 0) {
		out = append(out, "--")
	}
	for i, h := range g.held {
		out = append(out, g.numbered(h, first+i, '-'))
	}
	g.held, g.owed, g.last = nil, g.after, g.at
	return append(out, g.numbered(text, g.at, ':')), more
}

func (g *grep) numbered(text string, n int, sign byte) string {
	if !g.number {
		return text
	}
	return strconv.Itoa(n) + string(sign) + text
}

func (g *grep) end() []string {
	if !g.nc {
		return nil
	}
	return []string{strconv.Itoa(g.found)}
}
