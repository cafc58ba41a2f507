package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/running"
	"example.com/kubeviz/engine/serve"
	"example.com/kubeviz/tui"
)

// outside opens the API of the screen's cluster: at once with --listen, else when the console's kubectl first needs it, so that a start pays for none of it. Once open it
// is in the list of running clusters either way: kubectl needs the folder that comes with that, and who has typed kubectl here expects to find the cluster from a shell too.
type outside struct {
	name   string
	listen string
	way    *serve.Way

	mu      sync.Mutex
	serving *serve.Serving
	entry   *running.Entry
	access  tui.Access
	over    bool
}

// openOutside lays the way in; with an address it opens it.
func openOutside(e *engine.Engine, name, listen string) (*outside, error) {
	o := &outside{name: name, listen: listen, way: serve.Prepare(e)}
	if listen == "" {
		o.listen = "127.0.0.1:0"
		return o, nil
	}
	_, err := o.Open(context.Background())
	return o, err
}

// Open opens the API where it is not open yet. Any goroutine.
func (o *outside) Open(context.Context) (tui.Access, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return tui.Access{}, errors.New("the cluster is ending")
	}
	if o.serving == nil {
		s, err := o.way.Listen(serve.Options{Listen: o.listen})
		if err != nil {
			return tui.Access{}, err
		}
		o.serving = s
	}
	if o.entry == nil {
		entry, err := enlist(o.name, o.serving)
		if err != nil {
			return tui.Access{}, err
		}
		k, err := insideKubectl(&entry.Cluster)
		if err != nil {
			return tui.Access{}, errors.Join(err, entry.Close())
		}
		o.entry = entry
		o.access = tui.Access{Name: entry.Name, Address: strings.TrimPrefix(o.serving.URL, "https://"), Kubeconfig: o.serving.Kubeconfig, Kubectl: k}
	}
	return o.access, nil
}

// show gives the way to the screen.
func (o *outside) show(to *tui.Options) {
	to.Outside, to.Abandon = o.Open, o.abandon
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entry != nil {
		a := o.access
		to.Access = &a
	}
}

// tell says in a line where the API is, if it is open.
func (o *outside) tell(w io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entry == nil {
		return nil
	}
	return announce(w, o.entry.Name, o.serving)
}

// abandon takes the files back and leaves the rest to the end of the process.
func (o *outside) abandon() {
	if !o.mu.TryLock() { // it is being opened: the next to look for clusters sweeps it
		return
	}
	defer o.mu.Unlock()
	if o.entry != nil {
		_ = o.entry.Close()
	}
	if o.serving != nil {
		_ = o.serving.Forget()
	}
}

// Close ends it. The engine must still run.
func (o *outside) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	if o.entry != nil {
		_ = o.entry.Close() // what could not be removed is swept by who looks next
	}
	if o.serving == nil {
		return nil
	}
	return o.serving.Close()
}
