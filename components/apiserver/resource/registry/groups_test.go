package registry

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// uid stands for the UIDs of the recording, which are left out there.
const uid = "5f0c7a52-9d7e-4c38-8d3e-2b1a6f1f0001"

// row is a creation as it was recorded at a real API server: what was sent, and what was stored or answered.
type row struct {
	Sent   struct{ Body json.RawMessage }
	Body   json.RawMessage
	Stored map[string]any
	Answer struct{ Message string }
}

func rows(t *testing.T, file string, fn func(row)) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r row
		if err := json.Unmarshal([]byte(strings.NewReplacer("<uid>", uid, "<time>", madeAt).Replace(sc.Text())), &r); err != nil {
			t.Fatal(err)
		}
		fn(r)
	}
}

// made prepares the object of a body as a creation does.
func made(t *testing.T, body []byte) (*resource.Resource, kinds.Object) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(body, &head); err != nil {
		t.Fatal(err)
	}
	k, err := kinds.ForGVK(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	if err != nil {
		t.Fatal(err)
	}
	obj := k.New()
	if err := json.Unmarshal(body, obj); err != nil {
		t.Fatal(err)
	}
	res := New()[k]
	if res.Default != nil {
		res.Default(obj)
	}
	if k.Namespaced {
		obj.SetNamespace("default")
	}
	obj.SetUID(uid)
	at, err := time.Parse(time.RFC3339, madeAt)
	if err != nil {
		t.Fatal(err)
	}
	obj.SetCreationTimestamp(metav1.NewTime(at))
	if res.Generation {
		obj.SetGeneration(1)
	}
	if res.PrepareCreate != nil {
		res.PrepareCreate(obj)
	}
	return res, obj
}

func TestGroupsAreStoredAsARealServerStoresThem(t *testing.T) {
	stored(t, "testdata/groups-defaults.jsonl")
}

// Of these the recording holds what admission adds as well, which is left out: finalizers of volumes and claims, the first taint of nodes.
func TestCoreIsStoredAsARealServerStoresIt(t *testing.T) {
	stored(t, "testdata/core-defaults.jsonl")
}

// madeAt is when the recorded objects were made.
const madeAt = "2026-12-01T19:54:49Z"

func stored(t *testing.T, file string) {
	rows(t, file, func(r row) {
		res, obj := made(t, r.Sent.Body)
		t.Run(res.Kind.Kind+" "+obj.GetName(), func(t *testing.T) {
			if res.Validate != nil {
				if errs := res.Validate(obj); len(errs) > 0 {
					t.Fatal(errs)
				}
			}
			meta := r.Stored["metadata"].(map[string]any)
			raw, _ := json.Marshal(obj)
			var got map[string]any
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"creationTimestamp", "namespace"} {
				delete(got["metadata"].(map[string]any), name)
				delete(meta, name)
			}
			if !reflect.DeepEqual(got, r.Stored) {
				want, _ := json.Marshal(r.Stored)
				have, _ := json.Marshal(got)
				t.Errorf("got\n%s\nwant\n%s", have, want)
			}
		})
	})
}

func TestGroupsRefuseInTheWordsOfARealServer(t *testing.T) {
	rows(t, "testdata/groups-errors.jsonl", func(r row) {
		res, obj := made(t, r.Body)
		t.Run(strings.ReplaceAll(r.Answer.Message, "/", " "), func(t *testing.T) {
			if got := apierrors.NewInvalid(res.Kind.GVK().GroupKind(), obj.GetName(), res.Validate(obj)).Error(); got != r.Answer.Message {
				t.Errorf("got\n%s\nwant\n%s", got, r.Answer.Message)
			}
		})
	})
}
