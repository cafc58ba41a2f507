package record

import "container/list"

// lru is a map that forgets what was used longest ago.
type lru[V any] struct {
	size  int
	order *list.List // front: used last
	by    map[string]*list.Element
}

type lruEntry[V any] struct {
	key   string
	value V
}

func newLRU[V any](size int) *lru[V] {
	return &lru[V]{size: size, order: list.New(), by: map[string]*list.Element{}}
}

func (l *lru[V]) get(key string) (V, bool) {
	e, ok := l.by[key]
	if !ok {
		var zero V
		return zero, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruEntry[V]).value, true
}

func (l *lru[V]) add(key string, v V) {
	if e, ok := l.by[key]; ok {
		e.Value.(*lruEntry[V]).value = v
		l.order.MoveToFront(e)
		return
	}
	l.by[key] = l.order.PushFront(&lruEntry[V]{key, v})
	if l.order.Len() > l.size {
		oldest := l.order.Back()
		l.order.Remove(oldest)
		delete(l.by, oldest.Value.(*lruEntry[V]).key)
	}
}
