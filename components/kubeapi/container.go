package kubeapi

import (
	"context"
	"io"
	"time"

	"example.com/kubeviz/engine/sim"
)

// ContainerQuery names a container of the pod that a request is about.
type ContainerQuery struct {
	// Name of the container; empty: the pod's only one.
	Name string
	// Previous asks for the instance before the present one.
	Previous bool
	// Again: the same client has asked before and looks for news. It was journalled then.
	Again bool
	// Scheme ("http", "https"; empty: http) and Port (0: what the pod declares first, or that of the scheme) are where a proxied request goes.
	Scheme string
	Port   int
}

// Kubelet is the door of a kubelet, as API servers knock at it. It is called in a process of the kubelet. The errors are what it answers: a *KubeletError.
type Kubelet interface {
	// Logs finds the container whose log is to be read.
	Logs(p *sim.Proc, namespace, pod string, q ContainerQuery) (Container, error)
	// Running finds a container that runs, for commands in it and for its ports.
	Running(p *sim.Proc, namespace, pod string, q ContainerQuery) (Container, error)
}

// KubeletError is a refusal of a kubelet.
type KubeletError struct {
	Code    int // of HTTP
	Message string
}

func (e *KubeletError) Error() string { return e.Message }

// Container is a picture of a container, with what can be found out in it. Pictures are immutable: any goroutine may use them.
type Container interface {
	// ID differs between instances.
	ID() string
	// OpenLog begins to read its log; Close must follow.
	OpenLog() Log
	// Finished says that it has ended; nothing is added to its log any more.
	Finished() bool
	// Taken is when the picture was taken, simulated.
	Taken() time.Time
	// Exec runs a command in it and returns its exit code. An error means that it could not be started.
	Exec(ctx context.Context, c Command) (int, error)
	// Attach connects to the container's own program, where that reads its standard input, until it ends or the client leaves; false: it reads none.
	Attach(ctx context.Context, c Command) bool
	// Early: what it printed before somebody attached is for them too; it was made for one client, who reads from its beginning.
	Early() bool
	// Dial connects to a port in its pod's network; an error when nobody listens there.
	Dial(port int) (io.ReadWriteCloser, error)
}

// Log is read from its beginning. One goroutine.
type Log interface {
	// Next returns what a picture of the same container adds to what was read before.
	Next(c Container) []LogLine
	Close()
}

// LogLine is a line with its end, where the program wrote one.
type LogLine struct {
	At     time.Time
	Stderr bool
	Text   string
}

// Command to run in a container.
type Command struct {
	Argv     []string
	In       io.Reader // nil: none
	Out, Err io.Writer
	// TTY: In and Out are a terminal.
	TTY bool
	// Now is the simulated instant, and Sleep waits in that time.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}
