package term

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"
)

// Guard is how goroutines are started: a panic in one is kept as a report and stops the program, so that the terminal is given back before anybody reads it.
type Guard struct {
	mu     sync.Mutex
	report *Report
	stop   []func()
}

// Report of a panic.
type Report struct {
	Who   string
	Value any
	Stack []byte
	At    time.Time
}

// CrashError is a panic that was caught. Exit code 1.
type CrashError struct {
	Report *Report
	// File that the report was written to; empty if that failed.
	File string
}

func (e *CrashError) Error() string {
	s := fmt.Sprintf("crashed in %s: %v", e.Report.Who, e.Report.Value)
	if e.File != "" {
		s += "; the report is in " + e.File
	}
	return s
}

// OnPanic calls f when something has panicked; at once if it already has.
func (g *Guard) OnPanic(f func()) {
	g.mu.Lock()
	has := g.report != nil
	g.stop = append(g.stop, f)
	g.mu.Unlock()
	if has {
		f()
	}
}

// Go runs f in a goroutine.
func (g *Guard) Go(who string, f func()) {
	go func() {
		defer g.Recover(who)
		f()
	}()
}

// Recover is to be deferred. The first panic is kept, later ones are its echo.
func (g *Guard) Recover(who string) {
	v := recover()
	if v == nil {
		return
	}
	g.mu.Lock()
	if g.report == nil {
		g.report = &Report{Who: who, Value: v, Stack: debug.Stack(), At: time.Now()}
	}
	stop := g.stop
	g.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// Crash is what was caught, written to a file in dir ("": the temporary directory); nil when nothing was.
func (g *Guard) Crash(dir string) error {
	g.mu.Lock()
	r := g.report
	g.mu.Unlock()
	if r == nil {
		return nil
	}
	if dir == "" {
		dir = os.TempDir()
	}
	e := &CrashError{Report: r}
	name := filepath.Join(dir, fmt.Sprintf("kubeviz-crash-%s-%d.txt", r.At.Format("20060102-150405"), os.Getpid()))
	if os.WriteFile(name, []byte(r.String()), 0o600) == nil {
		e.File = name
	}
	return e
}

func (r *Report) String() string {
	return fmt.Sprintf("kubeviz crashed in %s at %s\n\n%v\n\n%s", r.Who, r.At.Format(time.RFC3339), r.Value, r.Stack)
}
