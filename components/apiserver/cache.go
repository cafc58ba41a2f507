package apiserver

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/btree"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// registryPrefix is where all objects live in the store.
const registryPrefix = "/registry/"

// History kept per kind (API-14): at least historyAge, and never fewer than historyMin changes, never more than historyMax.
const (
	historyAge = 75 * time.Second
	historyMin = 100
	historyMax = 102400
)

// Back-off before the cache turns to the store again.
const refillRetry = time.Second

// cache is a server's picture of the whole registry, fed by one watch on its member of the store. It answers lists and carries all watches.
type cache struct {
	server   *Server
	kinds    map[*kinds.Kind]*kindCache
	order    []*kindCache
	revision int64
	synced   bool
	moved    sim.Cond // revision or synced changed
	ended    sim.Queue[error]
	feeding  int // number of the present watch; deliveries of earlier ones are dropped

	nextWatcher uint64
	minutes     [bookmarkBuckets]btree.Map[uint64, *watcher]
}

// kindCache holds one kind.
type kindCache struct {
	res   *resource.Resource
	items btree.Map[string, kinds.Object]
	// byValue holds the same objects by the values of indexed fields: a kubelet's list costs its own pods, not all.
	byValue map[string]map[string]*btree.Map[string, kinds.Object]
	// history of changes, oldest first, after revision floor.
	history []transition
	floor   int64

	// tell is who in the server itself lives on the picture: it hears of each change, before clients do. before is nil for what is new, now for what is gone. nil: nobody.
	tell func(now, before kinds.Object)

	watchers btree.Map[uint64, *watcher]                        // those no index serves
	indexed  map[string]map[string]*btree.Map[uint64, *watcher] // field, value
}

// transition is one change of one object.
type transition struct {
	key      string
	revision int64
	at       time.Time
	now      kinds.Object // for a deletion the last state
	before   kinds.Object // nil for a creation
	deleted  bool
}

func newCache(s *Server) *cache {
	c := &cache{server: s, kinds: map[*kinds.Kind]*kindCache{}}
	for _, k := range kinds.All() {
		if s.resources[k] == nil {
			continue
		}
		kc := newKindCache(s.resources[k])
		kc.clear(0)
		c.kinds[k] = kc
		c.order = append(c.order, kc)
	}
	return c
}

func newKindCache(res *resource.Resource) *kindCache {
	kc := &kindCache{res: res, indexed: map[string]map[string]*btree.Map[uint64, *watcher]{}}
	for _, f := range append([]string{"metadata.name"}, res.Index...) {
		kc.indexed[f] = map[string]*btree.Map[uint64, *watcher]{}
	}
	return kc
}

// of is the part of the picture that a key of the store belongs to; nil: it is nobody's object.
func (c *cache) of(key string) *kindCache {
	if k, ok := kinds.ForKey(key); ok {
		return c.kinds[k]
	}
	if prefix, ok := kinds.CustomPrefix(key); ok {
		return c.server.customs.cacheAt(prefix)
	}
	return nil
}

// run keeps the picture: a list, then a watch, resumed where it broke off, begun anew when that is not possible.
func (c *cache) run(p *sim.Proc) {
	for {
		if !c.synced && !c.fill(p) {
			p.Sleep(refillRetry)
			continue
		}
		err := c.follow(p)
		if errors.Is(err, raftstore.ErrStopped) || errors.Is(err, raftstore.ErrNoLeader) {
			// The member is away. Clients' watches stay open and silent; when it is back, its watch goes on from where this one ended (API-16).
			p.Sleep(refillRetry)
			continue
		}
		c.synced = false
		c.endAll(apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old."))
	}
}

// fill reads everything, as of one revision.
func (c *cache) fill(p *sim.Proc) bool {
	s := c.server
	res, err := s.door.read(p, mvcc.Range{Key: registryPrefix, End: mvcc.PrefixEnd(registryPrefix)}, p.Now().Add(requestTimeout))
	if err != nil {
		return false
	}
	for _, kc := range c.order {
		kc.clear(res.Revision)
	}
	s.access.clear()
	s.customs.clear()
	c.revision = res.Revision
	for i := range res.KVs {
		kv := &res.KVs[i]
		kc := c.of(kv.Key)
		if kc == nil {
			continue
		}
		obj, err := s.codec.Decode(kv)
		if err != nil {
			continue // an object nobody can read is not served; writes to it say why
		}
		kc.set(kv.Key, obj)
	}
	c.revision, c.synced = res.Revision, true
	c.moved.Broadcast()
	return true
}

// follow watches the member from the picture's revision on until that ends.
func (c *cache) follow(p *sim.Proc) error {
	s := c.server
	c.feeding++
	mine := c.feeding
	cancel := s.cfg.Store.Watch(raftstore.WatchRequest{Prefix: registryPrefix, From: c.revision + 1, Progress: true}, func(b raftstore.WatchBatch) {
		s.proc.Loop.Post(func() {
			if c.feeding == mine && !s.proc.Group.Dead() {
				c.feed(b)
			}
		})
	})
	defer cancel()
	err, _ := c.ended.Get(p)
	c.feeding++ // what is still on its way belongs to the watch that ended
	return err
}

// feed takes a delivery of the store's watch in.
func (c *cache) feed(b raftstore.WatchBatch) {
	if b.Err != nil {
		c.ended.Put(b.Err)
		return
	}
	for i := range b.Events {
		c.take(&b.Events[i])
	}
	if b.Revision > c.revision {
		c.revision = b.Revision
	}
	c.moved.Broadcast()
}

func (c *cache) take(e *mvcc.Event) {
	s := c.server
	kc := c.of(e.KV.Key)
	if kc == nil {
		return
	}
	now, before, err := s.codec.DecodeEvent(e)
	if err != nil {
		return
	}
	ch := transition{key: e.KV.Key, revision: e.KV.ModRevision, at: s.proc.Loop.Now(), now: now, before: before, deleted: e.Deleted}
	if e.Deleted {
		kc.remove(ch.key)
	} else {
		kc.set(ch.key, now)
	}
	c.revision = max(c.revision, ch.revision)
	kc.remember(ch)
	kc.deliver(c, &ch)
}

// clear empties the picture; it is then complete as of revision.
func (kc *kindCache) clear(revision int64) {
	kc.items.Clear()
	kc.history, kc.floor = nil, revision
	kc.byValue = map[string]map[string]*btree.Map[string, kinds.Object]{}
	for _, f := range kc.res.Index {
		kc.byValue[f] = map[string]*btree.Map[string, kinds.Object]{}
	}
}

func (kc *kindCache) set(key string, obj kinds.Object) {
	before, had := kc.items.Set(key, obj)
	if kc.tell != nil {
		kc.tell(obj, before)
	}
	for _, f := range kc.res.Index {
		v, _ := kc.res.Value(obj, f)
		if had {
			if was, _ := kc.res.Value(before, f); was != v {
				kc.unindex(f, was, key)
			}
		}
		m := kc.byValue[f][v]
		if m == nil {
			m = &btree.Map[string, kinds.Object]{}
			kc.byValue[f][v] = m
		}
		m.Set(key, obj)
	}
}

func (kc *kindCache) remove(key string) {
	before, had := kc.items.Delete(key)
	if !had {
		return
	}
	if kc.tell != nil {
		kc.tell(nil, before)
	}
	for _, f := range kc.res.Index {
		was, _ := kc.res.Value(before, f)
		kc.unindex(f, was, key)
	}
}

func (kc *kindCache) unindex(field, value, key string) {
	m := kc.byValue[field][value]
	if m == nil {
		return
	}
	m.Delete(key)
	if m.Len() == 0 {
		delete(kc.byValue[field], value)
	}
}

// held is an object as the picture has it; nil when it has none.
func (c *cache) held(k *kinds.Kind, namespace, name string) kinds.Object {
	obj, _ := c.kinds[k].items.Get(k.Key(namespace, name))
	return obj
}

// candidates is the smallest part of the picture that holds all objects the request can match.
func (kc *kindCache) candidates(rq *request) *btree.Map[string, kinds.Object] {
	for _, f := range kc.res.Index {
		if v, ok := exactField(rq.Request, f); ok {
			if m := kc.byValue[f][v]; m != nil {
				return m
			}
			return &btree.Map[string, kinds.Object]{}
		}
	}
	return &kc.items
}

// remember keeps a change for watches that begin in the past, and drops what is too old.
func (kc *kindCache) remember(ch transition) {
	kc.history = append(kc.history, ch)
	drop := 0
	for n := len(kc.history); n-drop > historyMin && (n-drop > historyMax || ch.at.Sub(kc.history[drop].at) > historyAge); drop++ {
	}
	// Dropping in large steps keeps this constant on average.
	if drop > 0 && (drop >= len(kc.history)/2 || len(kc.history) > historyMax) {
		kc.floor = kc.history[drop-1].revision
		kc.history = append([]transition(nil), kc.history[drop:]...)
	}
}

// reach waits until the cache has version rv; 0 asks for nothing.
func (c *cache) reach(p *sim.Proc, rv int64) error {
	if !c.synced {
		return reinitializing()
	}
	if !c.waitFor(p, rv) {
		return tooLargeVersion(rv, c.revision)
	}
	return nil
}

// waitFor parks until the cache has reached revision; false when that takes too long.
func (c *cache) waitFor(p *sim.Proc, revision int64) bool {
	deadline := p.Now().Add(freshWait)
	for c.revision < revision {
		left := deadline.Sub(p.Now())
		if left <= 0 || (!c.moved.WaitFor(p, left) && c.revision < revision) {
			return false
		}
	}
	return true
}

// list answers from the picture, which is at c.revision.
func (c *cache) list(rq *request, limit int) *kubeapi.Response {
	kc := c.kinds[rq.Kind]
	prefix := rq.Kind.Key(rq.Namespace, "")
	out := &kubeapi.Response{ResourceVersion: strconv.FormatInt(c.revision, 10)}
	all := prefix == rq.Kind.Prefix
	if all && rq.Labels == nil && rq.Fields == nil {
		out.Items = make([]kinds.Object, 0, kc.items.Len())
	}
	if name, ok := exactField(rq.Request, "metadata.name"); ok && (rq.Namespace != "" || !rq.Kind.Namespaced) {
		if obj, ok := kc.items.Get(rq.Kind.Key(rq.Namespace, name)); ok && rq.matches(obj) {
			out.Items = append(out.Items, obj)
		}
		return out
	}
	last, more := "", int64(0)
	kc.candidates(rq).Ascend(prefix, func(key string, obj kinds.Object) bool {
		if !all && !strings.HasPrefix(key, prefix) {
			return false
		}
		if !rq.matches(obj) {
			return true
		}
		if limit > 0 && len(out.Items) == limit {
			if out.Continue == "" {
				out.Continue = pageAfter(last, prefix, c.revision)
			}
			more++
			return rq.everything() // then what follows is counted
		}
		last = key
		out.Items = append(out.Items, obj)
		return true
	})
	if more > 0 && rq.everything() {
		out.RemainingItemCount = &more
	}
	return out
}

// exactField is the one value that the request's field selector asks of a field, if it does.
func exactField(rq *kubeapi.Request, name string) (string, bool) {
	if rq.Fields == nil {
		return "", false
	}
	return rq.Fields.RequiresExactMatch(name)
}
