// Package shell reads a line of the console as a shell would read it, as far as the console goes: words with their quotes, and behind pipes the few programs that people
// put there most (grep, head, tail, wc -l). What only a shell can do (other programs, redirections, variables, several commands) is told by name, never half done.
//
// Imports of ours: none. Goroutines: pure. Time: none.
package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Line is what was typed.
type Line struct {
	Words []string
	Pipe  Pipe
}

// Error is a line that the console cannot run: the catalogue key that says why, and the word it is about.
type Error struct{ Key, Word string }

func (e *Error) Error() string { return e.Key + " " + e.Word }

// lineMax bounds a line in bytes.
const lineMax = 4096

// Parse reads a whole line.
func Parse(line string) (Line, error) {
	if len(line) > lineMax {
		return Line{}, &Error{Key: "shell.long"}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	switch {
	case err != nil && (strings.Contains(err.Error(), "quote") || strings.HasSuffix(line, `\`)):
		return Line{}, &Error{Key: "shell.quote"}
	case err != nil:
		return Line{}, &Error{Key: "shell.only"}
	case len(file.Stmts) != 1:
		return Line{}, &Error{Key: "shell.only"}
	}
	return statement(file.Stmts[0])
}

func statement(s *syntax.Stmt) (Line, error) {
	if len(s.Redirs) > 0 {
		r := s.Redirs[0]
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc || r.Op == syntax.RdrIn {
			return Line{}, &Error{Key: "shell.stdin"}
		}
		return Line{}, &Error{Key: "shell.redirect", Word: r.Op.String()}
	}
	if s.Background || s.Negated || s.Coprocess {
		return Line{}, &Error{Key: "shell.only"}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 {
			return Line{}, &Error{Key: "shell.only"}
		}
		words, err := plain(c.Args)
		return Line{Words: words}, err
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe {
			return Line{}, &Error{Key: "shell.only"}
		}
		left, err := statement(c.X)
		if err != nil {
			return Line{}, err
		}
		right, err := statement(c.Y)
		if err != nil {
			return Line{}, err
		}
		st, err := stageOf(right.Words)
		if err != nil {
			return Line{}, err
		}
		left.Pipe = append(append(left.Pipe, st), right.Pipe...)
		return left, nil
	}
	return Line{}, &Error{Key: "shell.only"}
}

func plain(words []*syntax.Word) ([]string, error) {
	var out []string
	for _, w := range words {
		text, err := parts(w.Parts, false)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func parts(all []syntax.WordPart, quoted bool) (string, error) {
	var b strings.Builder
	for _, p := range all {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", &Error{Key: "shell.dollar"}
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			text, err := parts(p.Parts, true)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		default: // a variable, a command inside, arithmetic
			return "", &Error{Key: "shell.dollar"}
		}
	}
	return b.String(), nil
}

// unescape takes backslashes off as a shell does: in double quotes only those before a character that would mean something there.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if next := s[i+1]; !quoted || strings.IndexByte("$`\"\\\n", next) >= 0 {
				i++
				if next != '\n' {
					b.WriteByte(next)
				}
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Last splits a line that is still being written: the words before the last one, that word as it stands, and the text before it. ok is false inside quotes, where nothing is
// offered.
func Last(line string) (before []string, last, head string, ok bool) {
	at := strings.LastIndexAny(line, " \t") + 1
	if strings.ContainsAny(line[at:], `'"\|`) || strings.Contains(line, "|") {
		return nil, "", "", false
	}
	if strings.TrimSpace(line[:at]) == "" {
		return nil, line[at:], line[:at], true
	}
	l, err := Parse(line[:at])
	if err != nil {
		return nil, "", "", false
	}
	return l.Words, line[at:], line[:at], true
}
