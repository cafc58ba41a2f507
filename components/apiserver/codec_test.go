package apiserver

import (
	"bytes"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore/mvcc"
)

func TestStoredBytesAreThoseOfKubernetesProtobuf(t *testing.T) {
	for _, k := range kinds.All() {
		obj := k.New()
		obj.SetName("a")
		obj.SetLabels(map[string]string{"b": "1", "a": "2"})
		got, err := NewCodec().Encode(obj)
		if err != nil {
			t.Fatal(err)
		}
		obj.GetObjectKind().SetGroupVersionKind(k.GVK())
		var want bytes.Buffer
		if err := protobuf.NewSerializer(kinds.Scheme(), kinds.Scheme()).Encode(obj, &want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %q, want %q", k, got, want.Bytes())
		}
	}
}

func pod(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func stored(t testing.TB, c *Codec, name string, revision int64) *mvcc.KV {
	value, err := c.Encode(pod(name))
	if err != nil {
		t.Fatal(err)
	}
	return &mvcc.KV{Key: "/registry/pods/default/" + name, Value: value, ModRevision: revision}
}

func TestAVersionIsDecodedOnce(t *testing.T) {
	c := NewCodec()
	kv := stored(t, c, "a", 5)
	one, err := c.Decode(kv)
	if err != nil || one.GetResourceVersion() != "5" {
		t.Fatal(one.GetResourceVersion(), err)
	}
	again := *kv
	again.Value = bytes.Clone(kv.Value) // another member's copy
	if two, _ := c.Decode(&again); two != one {
		t.Error("two servers hold two objects")
	}
	replaced := stored(t, c, "b", 5)
	replaced.Key = kv.Key
	if three, _ := c.Decode(replaced); three == one {
		t.Error("a store that was replaced is answered with the old store's object")
	}
}

func TestADeletionShowsTheLastStateAtItsOwnVersion(t *testing.T) {
	c := NewCodec()
	kv := stored(t, c, "a", 5)
	e := mvcc.Event{Deleted: true, KV: mvcc.KV{Key: kv.Key, ModRevision: 9}, Prev: kv}
	now, before, err := c.DecodeEvent(&e)
	if err != nil || now.GetResourceVersion() != "9" || before.GetResourceVersion() != "5" || now.GetName() != "a" {
		t.Fatalf("%v %v %v", now, before, err)
	}
	if again, _, _ := c.DecodeEvent(&e); again != now {
		t.Error("two servers hold two objects")
	}
}

func TestTheCodecForgetsWhatIsGone(t *testing.T) {
	c := NewCodec()
	for i := range int64(3 * memoSize) {
		kv := stored(t, c, fmt.Sprintf("p-%d", i), 2*i+1)
		if _, err := c.Decode(kv); err != nil {
			t.Fatal(err)
		}
		e := mvcc.Event{Deleted: true, KV: mvcc.KV{Key: kv.Key, ModRevision: 2*i + 2}, Prev: kv}
		for range 2 { // the announcer and a server that lags
			if _, _, err := c.DecodeEvent(&e); err != nil {
				t.Fatal(err)
			}
			c.older = map[version]decoded{} // as if much else had happened in between
		}
	}
	if n := len(c.newest); n > 0 {
		t.Errorf("%d objects that no longer exist are held", n)
	}
}

func TestDamagedValuesAreErrors(t *testing.T) {
	c := NewCodec()
	good := stored(t, c, "a", 5)
	for what, kv := range map[string]*mvcc.KV{
		"no known kind": {Key: "/registry/nothing/a", Value: good.Value},
		"no envelope":   {Key: good.Key, Value: []byte("hello")},
		"cut short":     {Key: good.Key, Value: good.Value[:len(good.Value)-3]},
		"empty":         {Key: good.Key},
	} {
		if _, err := c.Decode(kv); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func BenchmarkDecodePod(b *testing.B) {
	c := NewCodec()
	kv := stored(b, c, "a", 5)
	b.ReportAllocs()
	for i := range b.N {
		kv.ModRevision = int64(i)
		if _, err := c.Decode(kv); err != nil {
			b.Fatal(err)
		}
	}
}
