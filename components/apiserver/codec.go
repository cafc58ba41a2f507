package apiserver

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore/mvcc"
)

// magic opens every stored value, as in etcd (am pkg/runtime/serializer/protobuf).
var magic = []byte{'k', '8', 's', 0}

// memoSize is how many decoded versions that are no longer the newest of their key are remembered. Servers lag behind each other by far less.
const memoSize = 1 << 14

// Codec turns objects into the bytes of the store and back. All API servers of a cluster and its announcer share one, so that a version is decoded once and
// held once. Loop only.
type Codec struct {
	// newest holds the newest version decoded of each key that exists.
	newest map[string]decoded
	// older holds some versions before it.
	older map[version]decoded
	ring  []version
	next  int
	// fieldSets holds the sets of managed fields once each: what one controller makes is managed alike, object by object.
	fieldSets map[string]*metav1.FieldsV1
	// rows are the kinds of objects that are in no table, by all that tells them apart, so that objects of one kind share one.
	rows map[definedRow]*kinds.Kind
}

type definedRow struct {
	group, version, kind, resource string
	namespaced                     bool
}

type version struct {
	key      string
	revision int64
}

// decoded is one version. value guards against a store that was replaced and reuses revision numbers.
type decoded struct {
	revision int64
	value    []byte
	obj      kinds.Object
}

// NewCodec makes an empty one.
func NewCodec() *Codec {
	return &Codec{newest: map[string]decoded{}, older: map[version]decoded{}, ring: make([]version, memoSize)}
}

// marshaler is what generated Kubernetes types offer.
type marshaler interface{ Marshal() ([]byte, error) }

type unmarshaler interface{ Unmarshal([]byte) error }

// Encode gives the bytes to store: protobuf in Kubernetes' envelope, without resourceVersion. obj is unchanged afterwards.
func (c *Codec) Encode(obj kinds.Object) ([]byte, error) {
	k, err := kinds.Of(obj)
	if err != nil {
		return nil, err
	}
	if custom, ok := obj.(*kinds.Custom); ok { // as JSON, as in etcd
		raw, err := custom.Stored()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", k, err)
		}
		return raw, nil
	}
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf form", obj)
	}
	rv := obj.GetResourceVersion()
	obj.SetResourceVersion("")
	raw, err := m.Marshal()
	obj.SetResourceVersion(rv)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", k, err)
	}
	return envelope(raw, k.APIVersion(), k.Kind)
}

// envelope wraps what is stored with what it is.
func envelope(raw []byte, apiVersion, kind string) ([]byte, error) {
	env := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	out := make([]byte, len(magic)+env.Size())
	copy(out, magic)
	if _, err := env.MarshalTo(out[len(magic):]); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	return out, nil
}

// Decode gives the object of kv with its resourceVersion. It is shared and immutable.
func (c *Codec) Decode(kv *mvcc.KV) (kinds.Object, error) {
	if d, ok := c.find(kv.Key, kv.ModRevision); ok && same(d.value, kv.Value) {
		return d.obj, nil
	}
	obj, err := c.decode(kv)
	if err != nil {
		return nil, err
	}
	c.shareFieldSets(obj)
	c.remember(kv.Key, decoded{kv.ModRevision, kv.Value, obj})
	return obj, nil
}

// fieldSetsMax bounds the sets held for sharing.
const fieldSetsMax = 1 << 13

// shareFieldSets lets the object's managed fields stand where those of others with the same ones do.
func (c *Codec) shareFieldSets(obj kinds.Object) {
	entries := obj.GetManagedFields()
	for i := range entries {
		f := entries[i].FieldsV1
		if f == nil {
			continue
		}
		if have, ok := c.fieldSets[string(f.GetRawBytes())]; ok {
			entries[i].FieldsV1 = have
			continue
		}
		if len(c.fieldSets) >= fieldSetsMax || c.fieldSets == nil {
			c.fieldSets = map[string]*metav1.FieldsV1{}
		}
		c.fieldSets[string(f.GetRawBytes())] = f
	}
}

// DecodeEvent gives the objects of a change: now after it (for a deletion the last state, with the deletion's resourceVersion) and before it (nil for a
// creation). Both are shared and immutable.
func (c *Codec) DecodeEvent(e *mvcc.Event) (now, before kinds.Object, err error) {
	if e.Prev != nil {
		if before, err = c.Decode(e.Prev); err != nil {
			return nil, nil, err
		}
	}
	if !e.Deleted {
		now, err = c.Decode(&e.KV)
		return now, before, err
	}
	if before == nil {
		return nil, nil, fmt.Errorf("deletion of %s carries no last state", e.KV.Key)
	}
	// A server that lags decodes old versions anew after the announcer has been here, so each deletion clears up.
	if n, ok := c.newest[e.KV.Key]; ok && n.revision < e.KV.ModRevision {
		delete(c.newest, e.KV.Key)
		c.keep(version{e.KV.Key, n.revision}, n)
	}
	gone := version{e.KV.Key, e.KV.ModRevision}
	if d, ok := c.older[gone]; ok && same(d.value, e.Prev.Value) {
		return d.obj, before, nil
	}
	now = withRevision(before, e.KV.ModRevision)
	c.keep(gone, decoded{e.KV.ModRevision, e.Prev.Value, now})
	return now, before, nil
}

// value gives the stored bytes of an object that came out of Decode.
func (c *Codec) value(key string, obj kinds.Object) ([]byte, error) {
	if rev, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64); err == nil {
		if d, ok := c.find(key, rev); ok && d.obj == obj {
			return d.value, nil
		}
	}
	return c.Encode(obj.DeepCopyObject().(kinds.Object))
}

func (c *Codec) find(key string, revision int64) (decoded, bool) {
	if d, ok := c.newest[key]; ok && d.revision == revision {
		return d, true
	}
	d, ok := c.older[version{key, revision}]
	return d, ok
}

func (c *Codec) remember(key string, d decoded) {
	n, ok := c.newest[key]
	if ok && n.revision > d.revision {
		c.keep(version{key, d.revision}, d)
		return
	}
	if ok {
		c.keep(version{key, n.revision}, n)
	}
	c.newest[key] = d
}

func (c *Codec) keep(v version, d decoded) {
	if _, ok := c.older[v]; !ok {
		delete(c.older, c.ring[c.next])
		c.ring[c.next] = v
		c.next = (c.next + 1) % len(c.ring)
	}
	c.older[v] = d
}

func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(a, b))
}

// row is the kind of objects that are in no table.
func (c *Codec) row(group, version, kind, resource string, namespaced bool) *kinds.Kind {
	at := definedRow{group, version, kind, resource, namespaced}
	k := c.rows[at]
	if k == nil {
		if c.rows == nil {
			c.rows = map[definedRow]*kinds.Kind{}
		}
		k = kinds.Defined(group, version, kind, resource, namespaced)
		c.rows[at] = k
	}
	return k
}

func (c *Codec) decode(kv *mvcc.KV) (kinds.Object, error) {
	k, ok := kinds.ForKey(kv.Key)
	if !ok {
		custom, err := kinds.DecodeCustom(kv.Key, kv.Value, c.row)
		if err != nil {
			return nil, err
		}
		custom.SetResourceVersion(strconv.FormatInt(kv.ModRevision, 10))
		return custom, nil
	}
	if !bytes.HasPrefix(kv.Value, magic) {
		return nil, fmt.Errorf("value of %s is not Kubernetes protobuf", kv.Key)
	}
	var env runtime.Unknown
	if err := env.Unmarshal(kv.Value[len(magic):]); err != nil {
		return nil, fmt.Errorf("envelope of %s: %w", kv.Key, err)
	}
	obj := k.New()
	if err := obj.(unmarshaler).Unmarshal(env.Raw); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kv.Key, err)
	}
	obj.SetResourceVersion(strconv.FormatInt(kv.ModRevision, 10))
	return obj, nil
}

// withRevision is a copy of obj, one level deep, with another resourceVersion; all else stays shared.
func withRevision(obj kinds.Object, revision int64) kinds.Object {
	out := shallow(obj)
	out.SetResourceVersion(strconv.FormatInt(revision, 10))
	return out
}

// shallow is a copy of obj, one level deep.
func shallow(obj kinds.Object) kinds.Object {
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to.Interface().(kinds.Object)
}
