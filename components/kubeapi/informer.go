package kubeapi

import (
	"errors"
	"time"

	"github.com/tidwall/btree"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Key names an object within its kind: "namespace/name", or "name" for kinds without namespaces.
type Key string

// KeyOf is an object's key.
func KeyOf(o kinds.Object) Key { return MakeKey(o.GetNamespace(), o.GetName()) }

// MakeKey joins namespace and name.
func MakeKey(namespace, name string) Key {
	if namespace == "" {
		return Key(name)
	}
	return Key(namespace + "/" + name)
}

// Split gives namespace and name.
func (k Key) Split() (namespace, name string) {
	for i := range len(k) {
		if k[i] == '/' {
			return string(k[:i]), string(k[i+1:])
		}
	}
	return "", string(k)
}

// Change is what a handler hears. Old is the zero value for additions, New for deletions.
type Change[T kinds.Object] struct {
	Old, New T
	Type     event.ChangeType
	// Cause is the record of the change.
	Cause event.Seq
}

// Key of the object that changed.
func (c Change[T]) Key() Key {
	if c.Type == event.Deleted {
		return KeyOf(c.Old)
	}
	return KeyOf(c.New)
}

// InformerOptions narrow what an informer holds.
type InformerOptions struct {
	Namespace string
	Labels    labels.Selector
	Fields    fields.Selector
}

// Informer keeps a local picture of a kind by list and watch, and tells handlers of each change, as client-go's shared informers do: it relists after 410 Expired,
// retries with a jittered back-off of 0.8-30 s, and meanwhile goes on with what it has (fidelity API-17). Lists are ordered by key, so that what components
// do repeats from a seed.
type Informer[T kinds.Object] struct {
	proc     *Process
	kind     *kinds.Kind
	opts     InformerOptions
	items    btree.Map[Key, T]
	indexes  map[string]*index[T]
	handlers []func(Change[T])
	synced   sim.Future[struct{}]
	revision string
	watch    interface{ Close(error) } // nil while there is none
	stopped  bool
}

type index[T kinds.Object] struct {
	values func(T) []string
	by     map[string]*btree.Map[Key, T]
}

// NewInformer makes an informer; Start runs it.
func NewInformer[T kinds.Object](pr *Process, k *kinds.Kind, o InformerOptions) *Informer[T] {
	return &Informer[T]{proc: pr, kind: k, opts: o, indexes: map[string]*index[T]{}}
}

// Index makes ByIndex(name, …) work. Before Start.
func (i *Informer[T]) Index(name string, values func(T) []string) {
	i.indexes[name] = &index[T]{values: values, by: map[string]*btree.Map[Key, T]{}}
}

// Handle adds a handler. It runs in the informer's process and must not park: handlers enqueue keys. Before Start.
func (i *Informer[T]) Handle(fn func(Change[T])) { i.handlers = append(i.handlers, fn) }

// Start runs the informer in the program's group.
func (i *Informer[T]) Start() { i.proc.Go("informer "+i.kind.Resource, i.run) }

// Stop ends the informer: handlers hear no more, the picture stays as it is.
func (i *Informer[T]) Stop() {
	i.stopped = true
	if i.watch != nil {
		i.watch.Close(errWatchClosed)
	}
}

// WaitSynced parks p until the first list is in.
func (i *Informer[T]) WaitSynced(p *sim.Proc) { i.synced.Await(p) }

// Synced reports that the first list is in.
func (i *Informer[T]) Synced() bool { return i.synced.Ready() }

// Get returns an object of the local picture.
func (i *Informer[T]) Get(k Key) (T, bool) { return i.items.Get(k) }

// Len counts objects.
func (i *Informer[T]) Len() int { return i.items.Len() }

// All lists the local picture by key.
func (i *Informer[T]) All() []T {
	out := make([]T, 0, i.items.Len())
	i.items.Scan(func(_ Key, v T) bool { out = append(out, v); return true })
	return out
}

// Each calls fn for each object by key until it returns false.
func (i *Informer[T]) Each(fn func(T) bool) { i.items.Scan(func(_ Key, v T) bool { return fn(v) }) }

// ByIndex lists the objects whose index values include value, by key.
func (i *Informer[T]) ByIndex(name, value string) []T {
	m := i.indexes[name].by[value]
	if m == nil {
		return nil
	}
	out := make([]T, 0, m.Len())
	m.Scan(func(_ Key, v T) bool { out = append(out, v); return true })
	return out
}

// Back-off of a reflector between attempts (cg tools/cache/reflector.go).
const (
	reflectBackoffMin = 800 * time.Millisecond
	reflectBackoffMax = 30 * time.Second
	reflectReset      = 2 * time.Minute
)

func (i *Informer[T]) run(p *sim.Proc) {
	backoff := reflectBackoffMin
	for !i.stopped {
		began := p.Now()
		err := i.listAndWatch(p)
		if p.Now().Sub(began) > reflectReset {
			backoff = reflectBackoffMin
		}
		if err == nil {
			continue
		}
		p.Sleep(backoff + time.Duration(p.Rand().Float64()*float64(backoff)))
		backoff = min(2*backoff, reflectBackoffMax)
	}
}

// listAndWatch lists if there is nothing to resume from, then follows the watch until it ends. nil: the watch ended in good order.
func (i *Informer[T]) listAndWatch(p *sim.Proc) error {
	if i.revision == "" {
		if err := i.list(p); err != nil || i.stopped {
			return err
		}
	}
	stream, err := i.proc.Client.Watch(p, &Request{Kind: i.kind, Namespace: i.opts.Namespace, Labels: i.opts.Labels, Fields: i.opts.Fields,
		ResourceVersion: i.revision, SendBookmarks: true})
	if err != nil {
		return i.expired(err)
	}
	i.watch = stream
	defer func() {
		i.watch = nil
		stream.Close(errWatchClosed)
	}()
	if i.stopped {
		return nil // while the watch was opened
	}
	before := p.Cause
	defer func() { p.Cause = before }()
	for {
		e, err := stream.Recv(p)
		if errors.Is(err, ErrWatchDone) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Type == WatchError {
			return i.expired(e.Err)
		}
		i.revision = e.ResourceVersion
		if e.Type == Bookmark {
			continue
		}
		p.Cause = e.Cause
		i.apply(event.ChangeType(e.Type), e.Object.(T), e.Cause)
	}
}

// ErrWatchDone ends a watch in good order (its time is up); the client reopens from its last version.
var ErrWatchDone = errors.New("watch ended by the server")

// ErrTooSlow ends a watch whose client does not take in what it is sent.
var ErrTooSlow = errors.New("the client was too slow")

var errWatchClosed = errors.New("watch closed by the client")

// expired forgets the resume point where the server no longer has it.
func (i *Informer[T]) expired(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		i.revision = ""
	}
	return err
}

// list replaces the picture; handlers hear the difference. The first list of a program may come from the API server's cache, as client-go asks (resourceVersion 0).
func (i *Informer[T]) list(p *sim.Proc) error {
	version := ""
	if !i.synced.Ready() {
		version = "0"
	}
	items, causes, revision, err := fetchList[T](p, i.proc.Client, i.kind, ListOptions{Namespace: i.opts.Namespace, Labels: i.opts.Labels, Fields: i.opts.Fields, ResourceVersion: version})
	if err != nil {
		return err
	}
	seen := make(map[Key]bool, len(items))
	for n, o := range items {
		k := KeyOf(o)
		seen[k] = true
		if old, ok := i.items.Get(k); ok && old.GetResourceVersion() == o.GetResourceVersion() {
			continue
		}
		i.apply(event.Modified, o, max(p.Cause, causes[n])) // what changed since this program began follows from its own change
	}
	for _, old := range i.All() {
		if !seen[KeyOf(old)] {
			i.apply(event.Deleted, old, p.Cause)
		}
	}
	i.revision = revision
	i.synced.Set(struct{}{})
	return nil
}

// apply changes the picture and tells the handlers.
func (i *Informer[T]) apply(t event.ChangeType, obj T, cause event.Seq) {
	k := KeyOf(obj)
	old, had := i.items.Get(k)
	c := Change[T]{Cause: cause}
	if had {
		i.unindex(k, old)
		c.Old = old
	}
	switch {
	case t == event.Deleted:
		i.items.Delete(k)
		c.Type = event.Deleted
		c.Old = obj
	default:
		i.items.Set(k, obj)
		i.index(k, obj)
		c.New, c.Type = obj, event.Modified
		if !had {
			c.Type = event.Added
		}
	}
	for _, h := range i.handlers {
		h(c)
	}
}

func (i *Informer[T]) index(k Key, obj T) {
	for _, x := range i.indexes {
		for _, v := range x.values(obj) {
			m := x.by[v]
			if m == nil {
				m = &btree.Map[Key, T]{}
				x.by[v] = m
			}
			m.Set(k, obj)
		}
	}
}

func (i *Informer[T]) unindex(k Key, obj T) {
	for _, x := range i.indexes {
		for _, v := range x.values(obj) {
			if m := x.by[v]; m != nil {
				m.Delete(k)
				if m.Len() == 0 {
					delete(x.by, v)
				}
			}
		}
	}
}
