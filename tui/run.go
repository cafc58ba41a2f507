package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/theme"
)

// watchdog is how long the screen may take to end after a signal or a panic.
const watchdog = 3 * time.Second

// Run shows the screen until the user quits, the context ends, or something ends it; the terminal is as it was before in every case. It returns nil when the
// user quit, and otherwise an error that ExitCode understands: *term.NoTerminalError, *term.SignalError, *term.CrashError, or the context's.
//
// Starting and stopping the engine is the caller's business; start its goroutines by Options.Guard, so that a panic there ends the screen first.
func Run(ctx context.Context, o Options) error {
	named := o.Palette
	if named == nil {
		named = theme.Named
	}
	palette, err := named(o.Theme)
	if err != nil {
		return err
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Guard == nil {
		o.Guard = &term.Guard{}
	}
	t, err := term.Open(o.In, o.Out, os.Getenv)
	if err != nil {
		return err
	}
	depth, _, err := theme.Detect(cmp.Or(o.Color, "auto"), os.Getenv)
	if err != nil {
		return err
	}
	if o.NoColor {
		depth = theme.Mono
	}
	o.theme = theme.New(palette, depth)
	if o.Log == "" {
		o.Log = filepath.Join(os.TempDir(), fmt.Sprintf("kubeviz-%d.log", os.Getpid()))
		defer removeEmpty(o.Log)
	}
	back, err := term.CaptureStderr(o.Log)
	if err != nil {
		return err
	}
	defer back()
	err = run(ctx, o, t)
	t.Restore()
	if crash := o.Guard.Crash(o.CrashDir); crash != nil {
		return crash
	}
	return err
}

func run(ctx context.Context, o Options, t *term.Terminal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var signalled atomic.Int32
	ended := make(chan struct{})
	defer close(ended)
	abandon := o.Abandon
	if abandon == nil {
		abandon = func() {}
	}
	dog := func(code int) { // nobody may hold the terminal longer than this
		select {
		case <-ended:
		case <-time.After(watchdog):
			t.Restore()
			abandon()
			os.Exit(code)
		}
	}
	signals, stop := term.Signals()
	defer stop()
	out := term.NewOutput(o.Out)
	o.terminal = out
	m := newModel(o)
	m.outside.ctx = ctx
	defer m.end()
	input := term.NewInput(o.In, func(error) { signals <- term.Hangup })
	m.typing = input.Typing
	m.suspend = term.HasShell
	with := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithoutBracketedPaste(),
		tea.WithFPS(30), tea.WithFilter(dropMotion)}
	if !o.NoMouse {
		with = append(with, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(&safe{m: m, guard: o.Guard}, with...)
	o.Guard.OnPanic(func() {
		cancel()
		m.outside.lent.recall()
		o.Guard.Go("watchdog", func() { dog(1) })
	})
	o.Guard.Go("signals", func() {
		hangup := time.NewTicker(time.Second)
		defer hangup.Stop()
		for {
			var sig os.Signal
			select {
			case <-ended:
				return
			case <-hangup.C:
				if !t.HungUp() {
					continue
				}
				sig = term.Hangup
			case sig = <-signals:
			}
			n, ok := number(sig)
			if !ok || m.outside.lent.out() && fromKeyboard(sig) { // another program has the terminal, and its keys
				continue
			}
			if !signalled.CompareAndSwap(0, n) {
				if sig == term.Hangup { // a vanished terminal is noticed in three ways at once, and nobody is in a hurry
					continue
				}
				t.Restore() // a second signal does not wait
				abandon()
				os.Exit(128 + int(n))
			}
			cancel()
			m.outside.lent.recall()
			o.Guard.Go("watchdog", func() { dog(128 + int(n)) })
		}
	})
	_, err := p.Run()
	switch n := signalled.Load(); {
	case n != 0:
		return signalError(n)
	case m.ending || err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled):
		return ctx.Err()
	}
	return fmt.Errorf("the screen: %w", err)
}

// dropMotion keeps movements of the mouse with no button held from costing a frame each.
func dropMotion(_ tea.Model, msg tea.Msg) tea.Msg {
	if m, ok := msg.(tea.MouseMsg); ok && m.Action == tea.MouseActionMotion && m.Button == tea.MouseButtonNone {
		return nil
	}
	return msg
}

// safe is the model under a guard: a panic in it ends the screen and is told after the terminal was given back, not into the alternate screen.
type safe struct {
	m     *model
	guard *term.Guard
	dead  bool
}

func (s *safe) Init() (cmd tea.Cmd) {
	defer s.guard.Recover("the screen's start")
	return s.m.Init()
}

func (s *safe) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	if s.dead {
		return s, tea.Quit
	}
	s.dead = true
	defer s.guard.Recover("the screen's update")
	_, cmd = s.m.Update(msg)
	s.dead = false
	return s, cmd
}

func (s *safe) View() (text string) {
	if s.dead {
		return ""
	}
	s.dead = true
	defer s.guard.Recover("the screen's drawing")
	text = s.m.View()
	s.dead = false
	return text
}

// ExitCode is what a program should end with after Run: 0, 2 without a terminal, 128 plus the number of a signal, else 1.
func ExitCode(err error) int {
	var none *term.NoTerminalError
	var sig *term.SignalError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &none):
		return 2
	case errors.As(err, &sig):
		return sig.Code()
	}
	return 1
}

func removeEmpty(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		_ = os.Remove(path)
	}
}
