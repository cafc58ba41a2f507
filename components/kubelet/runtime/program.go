package runtime

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
)

// Program starts what a container of some image runs.
type Program func(Launch) Running

// Launch is what a program gets when its container starts.
type Launch struct {
	Pod       *corev1.Pod // shared, immutable
	Container *corev1.Container
	// Cause is the record of the container's start.
	Cause event.Seq
	// Exited says that the program ended by itself: by its own will, a crash, or a kill of the process from outside. cause 0: its own doing. After Kill, or
	// called twice, it says nothing.
	Exited func(cause event.Seq, code int, message string)
}

// Running is a program at work.
type Running interface {
	// Stop is TERM: the program ends within grace and says so with Launch.Exited, or is killed.
	Stop(cause event.Seq, grace time.Duration)
	// Kill is KILL, or the loss of power: it ends now and says nothing.
	Kill(cause event.Seq)
}

// programOf finds what a container runs; an error means that it cannot be started.
func (r *Runtime) programOf(spec *corev1.Container) (Program, error) {
	if make, ok := r.cfg.Programs[Describe(spec.Image).Repository]; ok {
		return make, nil
	}
	argv := append(append([]string(nil), spec.Command...), spec.Args...)
	if len(argv) > 0 && missing(argv[0]) {
		return nil, fmt.Errorf("failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start "+
			"container process: error during container init: exec: %q: executable file not found in $PATH", argv[0])
	}
	b := behaviourOf(spec)
	return func(l Launch) Running { return r.runApp(l, b) }, nil
}

// missing tells names that stand for things that do not exist, in images' tags and commands alike.
func missing(name string) bool {
	return name == "does-not-exist" || strings.HasPrefix(name, "nosuch")
}

// How long an ordinary program takes to end after TERM.
const (
	stopMin = 50 * time.Millisecond
	stopMax = 900 * time.Millisecond
)

// app is the simulated program of an ordinary image.
type app struct {
	r      *Runtime
	launch Launch
	b      behaviour
	ended  bool
}

func (r *Runtime) runApp(l Launch, b behaviour) Running {
	a := &app{r: r, launch: l, b: b}
	if !b.forever {
		a.after(max(b.runs, minRun), b.code)
	}
	return a
}

// minRun is how long even `true` takes from start to exit.
const minRun = 20 * time.Millisecond

func (a *app) after(d time.Duration, code int) {
	a.r.cfg.Loop.After(d, func() { a.end(code) })
}

func (a *app) end(code int) {
	if !a.ended {
		a.ended = true
		a.launch.Exited(0, code, "")
	}
}

// Stop ends the program soon, unless it is one that does not listen to TERM.
func (a *app) Stop(event.Seq, time.Duration) {
	if !a.b.ignoresTerm {
		a.after(a.r.between(stopMin, stopMax), 0)
	}
}

// Kill ends it.
func (a *app) Kill(event.Seq) { a.ended = true }

// IsProgram reports whether images of a repository run a Program of Config.Programs.
func (r *Runtime) IsProgram(repository string) bool { _, ok := r.cfg.Programs[repository]; return ok }
