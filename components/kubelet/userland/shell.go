package userland

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// shell is one that reads its commands line by line: variables, functions and the directory stay from one to the next.
type shell struct {
	p     *Process
	r     *interp.Runner
	err   io.Writer
	steps atomic.Int64
	stop  context.CancelCauseFunc // of the commands at work
}

// newShell makes a shell; what its commands read comes from std.in, unless they are led elsewhere. asFile: the interpreter itself reads it too (the builtin read), and takes all of it.
func (p *Process) newShell(std stdio, params []string, asFile bool) (*shell, error) {
	s := &shell{p: p, err: std.err}
	r, err := p.runner(std, params, asFile)
	if err != nil {
		return nil, err
	}
	s.r = r
	_ = interp.CallHandler(func(hc context.Context, args []string) ([]string, error) {
		if s.steps.Add(1) > stepsMax || variables(hc) > variablesMax {
			s.stop(errLimit)
			return nil, errLimit
		}
		switch args[0] { // builtins that would look at the machine below
		case "cd":
			return []string{"true"}, p.cd(args[1:], std.err)
		case "pwd", "echo":
			return append([]string{"/bin/" + args[0]}, args[1:]...), nil
		case "source", ".", "pushd", "popd", "dirs":
			return []string{"false"}, nil
		}
		return args, nil
	})(r)
	return s, nil
}

func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "sh")
}

// run runs a text; left says that it ended the shell.
func (s *shell) run(ctx context.Context, prog *syntax.File, err error) (code int, left bool) {
	if err != nil {
		fmt.Fprintf(s.err, "sh: syntax error: %v\n", err)
		return 2, false
	}
	if unsupported(prog) {
		fmt.Fprintln(s.err, "sh: syntax error: unexpected \"(\"")
		return 2, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.stop = cancel
	s.steps.Store(0)
	err = s.r.Run(ctx, prog)
	if code := interp.ExitStatus(0); errors.As(err, &code) {
		return int(code), s.r.Exited()
	}
	if err != nil {
		return 137, false
	}
	return 0, s.r.Exited()
}

// interact is the shell of somebody who types, until it is left; its code is that of the last command.
func (p *Process) interact(ctx context.Context, std stdio) int {
	t := openTerminal(ctx, std.in, p.Out)
	s, err := p.newShell(stdio{t, std.out, std.err, std.env}, nil, false)
	if err != nil {
		fmt.Fprintf(std.err, "sh: %v\n", err)
		return 2
	}
	last, begun := 0, "" // what is begun needs more lines
	var history []string
	for ctx.Err() == nil {
		prompt := p.prompt()
		if begun != "" {
			prompt = "> "
		}
		text, interrupted, ok := t.edit(prompt, history)
		switch {
		case !ok:
			return last
		case interrupted:
			last, begun = 130, ""
			continue
		case text == "" && begun == "":
			continue
		case text == "exit", text == "logout":
			return last
		}
		if text != "" {
			if history = append(history, text); len(history) > historyMax {
				history = history[1:]
			}
		}
		begun += text + "\n"
		prog, err := parse(begun)
		if syntax.IsIncomplete(err) && len(begun) < scriptMax {
			continue
		}
		begun = ""
		var left bool
		if t.foreground(ctx, func(ctx context.Context) { last, left = s.run(ctx, prog, err) }) {
			last = 130
		}
		if left {
			return last
		}
	}
	return 137
}

// aheadParse is how long a text may be that is parsed again with each line that comes; beyond that all of it is read first.
const aheadParse = 64 << 10

// follow runs what comes from the input as it comes, as a shell does that is given a pipe; commands in it read on where it stands.
func (p *Process) follow(ctx context.Context, std stdio) int {
	in := bufio.NewReader(std.in)
	s, err := p.newShell(stdio{in, std.out, std.err, std.env}, nil, false)
	if err != nil {
		fmt.Fprintf(std.err, "sh: %v\n", err)
		return 2
	}
	last, begun := 0, ""
	for ctx.Err() == nil {
		text, end := in.ReadString('\n')
		if begun += text; len(begun) > scriptMax {
			return 2
		}
		if strings.TrimSpace(begun) == "" || end == nil && len(begun) > aheadParse {
			if end != nil {
				return last
			}
			continue
		}
		prog, err := parse(begun)
		if end == nil && syntax.IsIncomplete(err) {
			continue
		}
		begun = ""
		var left bool
		if last, left = s.run(ctx, prog, err); left || end != nil {
			return last
		}
	}
	return 137
}

// prompt is what shells of common images print.
func (p *Process) prompt() string {
	if busybox(p.Container.Repository) {
		return p.cwd + " # "
	}
	return "root@" + p.Container.Hostname() + ":" + p.cwd + "# "
}
