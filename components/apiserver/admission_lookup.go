package apiserver

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore/mvcc"
)

// Plugins look at other objects in the watch cache, as those of Kubernetes look into informers. Like those they may see the past of a moment ago; where that matters they ask the store.

// seen finds an object in the cache.
func seen[T kinds.Object](a *attributes, k *kinds.Kind, namespace, name string) (T, bool) {
	obj, ok := a.server.cache.kinds[k].items.Get(k.Key(namespace, name))
	if !ok {
		var none T
		return none, false
	}
	return obj.(T), true
}

// fetched finds an object in the cache, or in the store where the cache has not seen it yet. found is false, without an error, when there is none.
func fetched[T kinds.Object](a *attributes, k *kinds.Kind, namespace, name string) (obj T, found bool, err error) {
	if obj, found = seen[T](a, k, namespace, name); found {
		return obj, true, nil
	}
	res, err := a.server.door.read(a.proc, mvcc.Range{Key: k.Key(namespace, name)}, a.rq.deadline)
	if err != nil || len(res.KVs) == 0 {
		return obj, false, err
	}
	decoded, err := a.server.codec.Decode(&res.KVs[0])
	if err != nil {
		return obj, false, apierrors.NewInternalError(err)
	}
	return decoded.(T), true, nil
}

// eachSeen hears the cached objects of a kind in a namespace ("" for all) in the order of their keys until it returns false.
func eachSeen[T kinds.Object](a *attributes, k *kinds.Kind, namespace string, hear func(T) bool) {
	prefix := k.Key(namespace, "")
	a.server.cache.kinds[k].items.Ascend(prefix, func(key string, obj kinds.Object) bool {
		return strings.HasPrefix(key, prefix) && hear(obj.(T))
	})
}
