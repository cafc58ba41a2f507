package runtime

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubelet/userland"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// State of a container, as CRI has it.
type State int

const (
	StateCreated State = iota + 1
	StateRunning
	StateExited
)

func (s State) String() string {
	switch s {
	case StateCreated:
		return "CONTAINER_CREATED"
	case StateRunning:
		return "CONTAINER_RUNNING"
	case StateExited:
		return "CONTAINER_EXITED"
	}
	return "CONTAINER_UNKNOWN"
}

// Exit codes that the runtime gives.
const (
	exitKilled  = 137 // SIGKILL
	exitUnknown = 255 // found dead after a loss of power
	exitStart   = 128 // could not be started
)

// ContainerStatus is a picture of a container.
type ContainerStatus struct {
	ID, SandboxID string
	Name          string
	Image         string // as written in the pod
	ImageID       string
	State         State
	// Stopping: TERM was sent.
	Stopping                   bool
	Created, Started, Finished time.Time
	ExitCode                   int
	// Reason of an exit: Completed, Error, OOMKilled, StartError, Unknown.
	Reason, Message string
	// Attempt counts restarts of the container of that name in its pod.
	Attempt int
	// Record describes the last change of state.
	Record event.Seq
}

type container struct {
	ContainerStatus
	sandbox *sandbox
	spec    *corev1.Container
	run     Running
	kill    *clock.Timer
	lost    bool // ran when power went
	stopped sim.Future[struct{}]
	health  Health
	term    time.Time           // when TERM was sent
	disk    *userland.Disk      // what was written in it
	main    *userland.Main      // the program, where it reads its input
	probes  []userland.ProbeRun // HTTP probes that its program has answered, for its log
}

// Health of the program in a container, as its probes would find it.
type Health struct {
	NotReady, NotLive bool
	// Cause is the record of what broke or mended it.
	Cause event.Seq
}

// CreateContainer makes a container of a pod in a sandbox; attempt is its number of restarts.
func (r *Runtime) CreateContainer(p *sim.Proc, sandboxID string, spec *corev1.Container, attempt int) (string, error) {
	return work(r, p, r.between(30*time.Millisecond, 100*time.Millisecond), func(cause event.Seq) (string, error) {
		s := r.sandbox(sandboxID)
		if s == nil || !s.ready {
			return "", ErrNotFound
		}
		img, ok := r.images[Describe(spec.Image).Ref]
		if !ok {
			return "", fmt.Errorf("rpc error: code = NotFound desc = failed to create containerd container: image %q: not found", spec.Image)
		}
		c := &container{sandbox: s, spec: spec, disk: userland.NewDisk(), ContainerStatus: ContainerStatus{ID: r.hexID(32), SandboxID: s.id, Name: spec.Name, Image: spec.Image,
			ImageID: img.ID, State: StateCreated, Created: r.now(), Attempt: attempt}}
		s.containers = append(s.containers, c)
		r.collect(s.pod.UID, spec.Name)
		r.changed(c, cause, event.ContainerCreated)
		return c.ID, nil
	})
}

// StartContainer starts a created container.
func (r *Runtime) StartContainer(p *sim.Proc, id string) error {
	_, err := work(r, p, r.between(100*time.Millisecond, 500*time.Millisecond), func(cause event.Seq) (struct{}, error) {
		c := r.container(id)
		if c == nil || c.State != StateCreated || !c.sandbox.ready {
			return struct{}{}, ErrNotFound
		}
		make, err := r.programOf(c.spec)
		if err != nil {
			c.Started = r.now()
			r.exited(c, cause, exitStart, "StartError", err.Error())
			return struct{}{}, err
		}
		c.State, c.Started = StateRunning, r.now()
		boot := r.boot
		r.changed(c, cause, event.ContainerRunning)
		c.run = make(Launch{Pod: c.sandbox.pod, Container: c.spec, Cause: c.Record, Exited: func(why event.Seq, code int, message string) {
			if r.boot == boot && r.up && c.State == StateRunning {
				r.exited(c, max(why, c.Record), code, reasonOf(code), message)
			}
		}})
		if a, ok := c.run.(*app); ok && a.b.reads {
			box := r.box(c)
			argv := box.Command()
			if len(argv) == 0 {
				argv = []string{shellOf(box.Repository)}
			}
			c.main = userland.NewMain(box, argv, func(code int) { r.cfg.Loop.Post(func() { a.end(code) }) })
		}
		return struct{}{}, nil
	})
	return err
}

// StopContainer sends TERM, and KILL when grace has passed; grace 0 kills at once. A second call can only shorten the grace. The answer comes when the
// container has exited.
func (r *Runtime) StopContainer(cause event.Seq, id string, grace time.Duration) *sim.Future[struct{}] {
	c := r.container(id)
	if c == nil || !r.up || c.State == StateExited {
		var done sim.Future[struct{}]
		done.Set(struct{}{})
		return &done
	}
	if c.State == StateCreated || grace <= 0 {
		r.kill(c, cause)
		return &c.stopped
	}
	if due := r.now().Add(grace); c.kill == nil || due.Before(c.kill.Due()) {
		c.kill.Stop()
		boot := r.boot
		c.kill = r.cfg.Loop.After(grace, func() {
			if r.boot == boot {
				r.kill(c, c.Record)
			}
		})
	}
	if !c.Stopping {
		c.Stopping, c.term = true, r.now()
		r.changed(c, cause, event.ContainerStopping)
		c.run.Stop(c.Record, grace)
	}
	return &c.stopped
}

func (r *Runtime) kill(c *container, cause event.Seq) {
	switch c.State {
	case StateCreated:
		r.exited(c, cause, exitKilled, "Error", "")
	case StateRunning:
		c.State = StateExited // whatever the program still says is not heard
		c.run.Kill(cause)
		r.exited(c, cause, exitKilled, "Error", "")
	}
}

// Crash ends the running container of a pod from inside, as a bug in its program would, or the kernel (reason "OOMKilled", code 137). false: it does not run.
func (r *Runtime) Crash(cause event.Seq, pod types.UID, name string, code int, reason string) bool {
	c := r.latest(pod, name)
	if c == nil || c.State != StateRunning {
		return false
	}
	if reason == "" {
		reason = reasonOf(code)
	}
	c.State = StateExited
	c.run.Kill(cause)
	r.exited(c, cause, code, reason, "")
	return true
}

// Break sets what probes find in the running container of a pod until it restarts. false: it does not run.
func (r *Runtime) Break(pod types.UID, name string, h Health) bool {
	c := r.latest(pod, name)
	if c == nil || c.State != StateRunning {
		return false
	}
	c.health = h
	return true
}

// HealthOf tells what the simulated program in a container answers to probes.
func (r *Runtime) HealthOf(id string) Health {
	c := r.container(id)
	if c == nil || c.State != StateRunning {
		return Health{NotReady: true, NotLive: true}
	}
	return c.health
}

// Probed notes that the program in a container has answered an HTTP probe, so that its log can tell.
func (r *Runtime) Probed(id string, kind userland.ProbeKind, period time.Duration, ok bool) {
	if c := r.container(id); c != nil {
		c.probes = userland.AddProbe(c.probes, kind, r.now(), period, ok)
	}
}

// Account is what is known of a container's life, for its log and for commands in it. false: there is no such container.
func (r *Runtime) Account(id string) (*userland.Account, bool) {
	c := r.container(id)
	if c == nil {
		return nil, false
	}
	a := &userland.Account{ID: id, Now: r.now(), Term: c.term, ExitCode: c.ExitCode, Probes: slices.Clone(c.probes), Main: c.main, Container: r.box(c)}
	if c.State == StateExited {
		a.Finished = c.Finished
		a.Killed = c.ExitCode == exitKilled || c.Reason == "Unknown"
		a.NeverRan = c.Reason == "StartError"
	}
	return a, true
}

// box is the place that a container's program runs in.
func (r *Runtime) box(c *container) userland.Container {
	img := Describe(c.Image)
	box := userland.Container{Pod: c.sandbox.pod, Spec: c.spec, Repository: img.Repository, Tag: img.Tag, IP: c.sandbox.ip, Gateway: r.cfg.NodeIP, Node: r.cfg.Node, NodeIP: r.cfg.NodeIP, Started: c.Started, Disk: c.disk}
	if !c.sandbox.host && r.cfg.PodCIDR.IsValid() {
		box.Gateway = r.cfg.PodCIDR.Masked().Addr().Next().String()
	}
	return box
}

// closeMain ends the program of a container that has ended.
func (c *container) closeMain() {
	c.disk.Close()
	if c.main != nil {
		c.main.Close()
	}
}

func reasonOf(code int) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// exited is the end of a container, however it came.
func (r *Runtime) exited(c *container, cause event.Seq, code int, reason, message string) {
	c.kill.Stop()
	c.closeMain()
	c.State, c.Stopping, c.Finished = StateExited, false, r.now()
	c.ExitCode, c.Reason, c.Message = code, reason, message
	r.settle(c)
	r.changed(c, cause, event.ContainerExited)
	c.stopped.Set(struct{}{})
}

// changed journals a state and tells the kubelet.
func (r *Runtime) changed(c *container, cause event.Seq, s event.ContainerState) {
	c.Record = r.emit(cause, event.ContainerChanged{Pod: podRef(c.sandbox.pod), Container: c.Name, State: s, Image: c.Image,
		ExitCode: c.ExitCode, Restarts: c.Attempt, Reason: c.Reason})
	if s != event.ContainerCreated && s != event.ContainerStopping {
		r.notify(Event{Pod: c.sandbox.pod.UID, Container: c.Name, State: c.State, Cause: c.Record})
	}
}

// forget journals that a container does not exist any more.
func (r *Runtime) forget(c *container, cause event.Seq, reason string) {
	c.kill.Stop()
	c.Record = r.emit(cause, event.ContainerChanged{Pod: podRef(c.sandbox.pod), Container: c.Name, State: event.ContainerGone, Image: c.Image,
		ExitCode: c.ExitCode, Restarts: c.Attempt, Reason: reason})
}

func (c *container) losePower(r *Runtime, cause event.Seq) {
	if c.State == StateExited {
		return
	}
	was := c.State
	c.closeMain()
	c.State, c.Stopping, c.lost = StateExited, false, true
	c.ExitCode, c.Reason, c.Finished = exitUnknown, "Unknown", r.now()
	if was == StateRunning {
		c.run.Kill(cause)
	}
	r.forget(c, cause, "power lost")
}

// collect keeps the newest container of a name and the one before; older dead ones are removed (the kubelet's maximum-dead-containers-per-container is 1).
func (r *Runtime) collect(pod types.UID, name string) {
	keep := 2
	for _, s := range slices.Backward(r.byPod[pod]) {
		for i := len(s.containers) - 1; i >= 0; i-- {
			if c := s.containers[i]; c.Name == name {
				if keep--; keep < 0 && c.State == StateExited {
					s.containers = slices.Delete(s.containers, i, i+1)
				}
			}
		}
	}
}

// ListContainers lists the containers of a pod, oldest first.
func (r *Runtime) ListContainers(pod types.UID) []ContainerStatus {
	var out []ContainerStatus
	for _, s := range r.byPod[pod] {
		for _, c := range s.containers {
			out = append(out, c.ContainerStatus)
		}
	}
	return out
}

// Container returns the status of one container.
func (r *Runtime) Container(id string) (ContainerStatus, bool) {
	if c := r.container(id); c != nil {
		return c.ContainerStatus, true
	}
	return ContainerStatus{}, false
}

// LastContainer returns the status of the newest container of that name in a pod.
func (r *Runtime) LastContainer(pod types.UID, name string) (ContainerStatus, bool) {
	if c := r.latest(pod, name); c != nil {
		return c.ContainerStatus, true
	}
	return ContainerStatus{}, false
}

func (r *Runtime) container(id string) *container {
	for _, s := range r.sandboxes {
		for _, c := range s.containers {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}

func (r *Runtime) latest(pod types.UID, name string) *container {
	for _, s := range slices.Backward(r.byPod[pod]) {
		for _, c := range slices.Backward(s.containers) {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}
