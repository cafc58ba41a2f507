package apiserver

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/btree"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Life of a watch (API-14): it ends after watchLife and up to as much again; bookmarks come once per bookmarkBuckets seconds.
const (
	watchLife       = 30 * time.Minute
	bookmarkBuckets = 60
)

// watchBacklog is how many undelivered changes a watcher may have before it is cut off; it then comes back from its last version.
const watchBacklog = 10_000

// watcher is one client's open watch.
type watcher struct {
	id      uint64
	rq      *request
	prefix  string // of the namespace; empty: all
	stream  *kubeapi.WatchStream
	until   time.Time
	backlog int
	// where it is registered: an index, or the kind's plain list.
	field, value string
	unregister   func()
	onEnd        func() // nil: nothing else is to be ended with it
	// reason of the end, where the server ends it.
	reason string
}

// watch opens a watch. Version "" and "0" begin with the present objects as additions, others with the changes after that version.
func (c *cache) watch(p *sim.Proc, rq *request, via *simnet.Addr) (*kubeapi.WatchStream, error) {
	if err := rq.checkListOptions(); err != nil {
		return nil, err
	}
	asked, err := askedVersion(rq.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if err := c.reach(p, asked); err != nil {
		return nil, err
	}
	// Without a wish, watches from no version in particular begin with what there is.
	initial := asked == 0
	if rq.SendInitialEvents != nil {
		initial = *rq.SendInitialEvents
	}
	if rq.SendInitialEvents != nil && initial && rq.ResourceVersion == "" {
		fresh, err := c.server.fresh(p, rq)
		if err != nil {
			return nil, err
		}
		if !fresh {
			return nil, tooLargeVersion(c.revision+1, c.revision)
		}
	}
	kc := c.kinds[rq.Kind]
	if !initial && asked > 0 && asked < kc.floor {
		return nil, apierrors.NewResourceExpired("too old resource version: " + strconv.FormatInt(asked, 10) + " (" + strconv.FormatInt(kc.floor, 10) + ")")
	}
	s := c.server
	c.nextWatcher++
	w := &watcher{id: c.nextWatcher, rq: rq, backlog: watchBacklog}
	w.until = p.Now().Add(watchLife + time.Duration(s.rng.Int64N(int64(watchLife))))
	if rq.WatchFor > 0 {
		w.until = p.Now().Add(rq.WatchFor)
		end := s.proc.Loop.After(rq.WatchFor, func() {
			if !s.proc.Group.Dead() {
				w.finish(watchTimeUp)
			}
		})
		w.onEnd = func() { end.Stop() }
	}
	w.stream = simnet.Open[kubeapi.WatchEvent](s.proc.Net, s.proc.Addr, rq.From, via, s.proc.Group)
	w.stream.Number = w.id
	if rq.Kind.Namespaced && rq.Namespace != "" {
		w.prefix = rq.Kind.Key(rq.Namespace, "")
	}
	switch {
	case initial:
		for _, obj := range c.list(rq, 0).Items {
			key := rq.Kind.Key(obj.GetNamespace(), obj.GetName())
			w.send(kubeapi.WatchEvent{Type: string(event.Added), Object: obj, ResourceVersion: obj.GetResourceVersion(), Cause: s.cfg.Announcer.RecordOf(key, revisionOf(obj))})
		}
		w.backlog += w.stream.Waiting()
		if rq.SendBookmarks {
			mark := w.bookmark(c)
			mark.Object.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
			w.send(mark)
		}
	case asked > 0:
		for i := kc.after(asked); i < len(kc.history); i++ {
			w.deliver(c, &kc.history[i])
		}
	}
	kc.register(c, w)
	c.announce(w, asked)
	return w.stream, nil
}

// after finds the first change in history after a revision.
func (kc *kindCache) after(revision int64) int {
	lo, hi := 0, len(kc.history)
	for lo < hi {
		mid := (lo + hi) / 2
		if kc.history[mid].revision <= revision {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (kc *kindCache) register(c *cache, w *watcher) {
	m := &kc.watchers
	for _, f := range append(kc.res.Index[:len(kc.res.Index):len(kc.res.Index)], "metadata.name") {
		if v, ok := exactField(w.rq.Request, f); ok {
			w.field, w.value = f, v
			if m = kc.indexed[f][v]; m == nil {
				m = &btree.Map[uint64, *watcher]{}
				kc.indexed[f][v] = m
			}
			break
		}
	}
	m.Set(w.id, w)
	minute := &c.minutes[w.id%bookmarkBuckets]
	minute.Set(w.id, w)
	w.unregister = func() {
		if w.onEnd != nil {
			w.onEnd()
		}
		minute.Delete(w.id)
		m.Delete(w.id)
		if w.field != "" && m.Len() == 0 && kc.indexed[w.field][w.value] == m {
			delete(kc.indexed[w.field], w.value)
		}
	}
	w.stream.OnClose(w.unregister)
}

// deliver hands a change to the watchers it concerns: those without an index, and those whose value the object has or had.
func (kc *kindCache) deliver(c *cache, ch *transition) {
	each := func(m *btree.Map[uint64, *watcher]) {
		if m != nil && m.Len() > 0 {
			for _, w := range m.Values() { // a copy: delivering may end a watcher
				w.deliver(c, ch)
			}
		}
	}
	each(&kc.watchers)
	for _, f := range append(kc.res.Index[:len(kc.res.Index):len(kc.res.Index)], "metadata.name") {
		byValue := kc.indexed[f]
		if len(byValue) == 0 {
			continue
		}
		now, _ := kc.res.Value(ch.now, f)
		each(byValue[now])
		if ch.before != nil {
			if before, _ := kc.res.Value(ch.before, f); before != now {
				each(byValue[before])
			}
		}
	}
}

// deliver sends a change to one watcher as its selectors see it: an object that begins to match is added, one that ceases to match is deleted.
func (w *watcher) deliver(c *cache, ch *transition) {
	if w.prefix != "" && !strings.HasPrefix(ch.key, w.prefix) {
		return
	}
	is := !ch.deleted && w.rq.matches(ch.now)
	was := ch.before != nil && w.rq.matches(ch.before)
	e := kubeapi.WatchEvent{Object: ch.now, ResourceVersion: strconv.FormatInt(ch.revision, 10)}
	switch {
	case is && was:
		e.Type = string(event.Modified)
	case is:
		e.Type = string(event.Added)
	case was:
		e.Type = string(event.Deleted)
		if !ch.deleted {
			e.Object = withRevision(ch.before, ch.revision)
		}
	default:
		return
	}
	e.Cause = c.server.cfg.Announcer.RecordOf(ch.key, ch.revision)
	w.send(e)
	if w.stream.Waiting() > w.backlog {
		w.finish(watchTooSlow)
	}
}

// bookmark tells how far the watch is. Its object has a version and nothing else.
func (w *watcher) bookmark(c *cache) kubeapi.WatchEvent {
	version := strconv.FormatInt(c.revision, 10)
	obj := w.rq.Kind.New()
	obj.SetResourceVersion(version)
	return kubeapi.WatchEvent{Type: kubeapi.Bookmark, Object: obj, ResourceVersion: version}
}

func (w *watcher) send(e kubeapi.WatchEvent) { w.stream.Send(e) }

// bookmarks tells each watcher once a minute how far it is, and ends those whose time is up.
func (c *cache) bookmarks(p *sim.Proc) {
	for second := uint64(0); ; second++ {
		p.Sleep(time.Second)
		m := &c.minutes[second%bookmarkBuckets]
		if m.Len() == 0 || !c.synced {
			continue
		}
		for _, w := range m.Values() {
			if w.rq.SendBookmarks {
				w.send(w.bookmark(c))
			}
			if !p.Now().Before(w.until) {
				w.finish(watchTimeUp)
			}
		}
	}
}

// finish ends a watch in good order, behind what is on its way.
func (w *watcher) finish(reason string) {
	w.reason = reason
	w.stream.Close(kubeapi.ErrWatchDone)
}

// endAll ends every watch with an error event. The client closes its stream when it has read that; closing it here would lose the event on its way.
func (c *cache) endAll(err error) {
	for i := range c.minutes {
		for _, w := range c.minutes[i].Values() {
			w.unregister()
			w.reason = watchBeginAnew
			w.send(kubeapi.WatchEvent{Type: kubeapi.WatchError, Err: err})
		}
	}
}

// open counts open watches.
func (c *cache) open() int {
	n := 0
	for i := range c.minutes {
		n += c.minutes[i].Len()
	}
	return n
}
