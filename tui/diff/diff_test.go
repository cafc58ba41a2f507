package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func lines(r Result) string {
	var out []string
	for _, c := range r.Changes {
		switch c.Op {
		case Added:
			out = append(out, "+ "+c.Field()+" "+c.New)
		case Removed:
			out = append(out, "- "+c.Field()+" "+c.Old)
		case Changed:
			out = append(out, "~ "+c.Field()+" "+c.Old+" > "+c.New)
		case Moved:
			out = append(out, "= "+c.Field()+" "+c.Old+" > "+c.New)
		}
	}
	if r.More > 0 {
		out = append(out, fmt.Sprintf("and %d", r.More))
	}
	return strings.Join(out, "\n")
}

func tree(t testing.TB, s string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestChangesReadAsWhatHappened(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", `{"a":1}`, `{"a":1}`, ""},
		{"book-keeping says nothing", `{"metadata":{"resourceVersion":"1","managedFields":[{}]}}`, `{"metadata":{"resourceVersion":"2"}}`, ""},
		{"what was asked for comes before what came of it", `{"metadata":{"generation":1},"status":{"n":1},"spec":{"n":1}}`, `{"metadata":{"generation":2},"status":{"n":2},"spec":{"n":2}}`,
			"~ spec.n 1 > 2\n~ status.n 1 > 2\n~ metadata.generation 1 > 2"},
		{"a condition put in front is one addition", `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, `{"status":{"conditions":[{"type":"Init","status":"True"},{"type":"Ready","status":"False"}]}}`,
			"~ status.conditions[Ready].status True > False\n+ status.conditions[Init].status True\n+ status.conditions[Init].type Init"},
		{"containers are known by name", `{"spec":{"containers":[{"name":"a","image":"x:1"},{"name":"b","image":"y"}]}}`, `{"spec":{"containers":[{"name":"b","image":"y"},{"name":"a","image":"x:2"}]}}`,
			"~ spec.containers[a].image x:1 > x:2\n= spec.containers a, b > b, a"},
		{"taints by key and effect", `{"spec":{}}`, `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"},{"key":"k","effect":"NoExecute"}]}}`,
			"+ spec.taints[k/NoSchedule].effect NoSchedule\n+ spec.taints[k/NoSchedule].key k\n+ spec.taints[k/NoExecute].effect NoExecute\n+ spec.taints[k/NoExecute].key k"},
		{"elements that share a key go by place", `{"env":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}`, `{"env":[{"name":"a","value":"1"},{"name":"a","value":"3"}]}`, "~ env[1].value 2 > 3"},
		{"texts are a set", `{"finalizers":["a","b"]}`, `{"finalizers":["b","c"]}`, "- finalizers[a] a\n+ finalizers[c] c"},
		{"odd names stand in brackets", `{"labels":{"app.kubernetes.io/name":"a"}}`, `{"labels":{"app.kubernetes.io/name":"b"}}`, "~ labels[app.kubernetes.io/name] a > b"},
		{"null is nothing", `{"a":null}`, `{}`, ""},
		{"an empty map that goes", `{"a":{}}`, `{}`, "- a {}"},
		{"a field that becomes another shape", `{"a":{"b":1}}`, `{"a":[1]}`, "~ a map[b:1] > [1]"},
		{"an empty text is seen", `{"a":"x"}`, `{"a":""}`, `~ a x > ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lines(Trees(tree(t, c.before), tree(t, c.after), 100)); got != c.want {
				t.Errorf("\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatDoesNotFitIsCounted(t *testing.T) {
	before, after := map[string]any{}, map[string]any{}
	for i := range 1000 {
		after[fmt.Sprint(i)] = i
	}
	r := Trees(before, after, 10)
	if len(r.Changes) != 10 || r.More != 990 {
		t.Errorf("%d changes and %d more", len(r.Changes), r.More)
	}
	long := Trees(map[string]any{}, map[string]any{"a": strings.Repeat("x", 1<<20)}, 10)
	if n := len(long.Changes[0].New); n > valueMax+8 {
		t.Errorf("a value of %d bytes is kept", n)
	}
}

func TestObjectsOfTheAPIAreCompared(t *testing.T) {
	a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: "1"}}
	b := a.DeepCopy()
	b.ResourceVersion, b.Spec.NodeName = "2", "worker-1"
	if got := lines(Of(a, b, 10)); got != "+ spec.nodeName worker-1" {
		t.Error(got)
	}
	if got := lines(Of(nil, b, 10)); !strings.Contains(got, "+ metadata.name p") {
		t.Errorf("a new object: %s", got)
	}
	if got := Of(nil, nil, 10); len(got.Changes) != 0 {
		t.Error("nothing against nothing")
	}
}

// strip takes noise and differences of writing out, so that what is left is equal if and only if there is no change.
func strip(m map[string]any) map[string]any {
	if meta, ok := m["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		delete(meta, "resourceVersion")
	}
	return m
}

// Laws: no change if and only if both are equal but for noise; the way back is the mirror of the way there; nothing panics.
func FuzzTrees(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"a":[{"name":"x"},{"name":"y","z":[]}]}`, `{"spec":{"containers":[{"name":"a"},{"name":"a"}]},"metadata":{"resourceVersion":"1"}}`, `{"a":{},"b":[[],{}],"c":null}`,
		`{"conditions":[{"type":"A"},{"type":"B"}]}`, `{"conditions":[{"type":"B"},{"type":"A"}]}`, `{"f":["a","b"]}`} {
		f.Add(s, `{"a":[{"name":"y"},{"name":"x"}],"f":["b","a"]}`)
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		var a, b map[string]any
		if len(x)+len(y) > 4096 || json.Unmarshal([]byte(x), &a) != nil || json.Unmarshal([]byte(y), &b) != nil || a == nil || b == nil {
			return
		}
		there, back := Trees(a, b, 1<<20), Trees(b, a, 1<<20)
		if few := Trees(a, b, 3); len(few.Changes)+few.More != len(there.Changes) {
			t.Errorf("%d and %d more, of %d", len(few.Changes), few.More, len(there.Changes))
		}
		equal := reflect.DeepEqual(strip(a), strip(b))
		null := strings.Contains(x, "null") || strings.Contains(y, "null") // as good as not there
		if equal != (len(there.Changes) == 0) && !emptyMeta(a, b) && !null {
			t.Errorf("equal %v, yet %s", equal, lines(there))
		}
		count := func(r Result) (n [4]int) {
			for _, c := range r.Changes {
				n[c.Op]++
			}
			return n
		}
		n, m := count(there), count(back)
		m[Added], m[Removed] = m[Removed], m[Added]
		if n != m {
			t.Errorf("there %v, back %v", n, m)
		}
	})
}

// emptyMeta: metadata of nothing but noise is not told from no metadata.
func emptyMeta(trees ...map[string]any) bool {
	for _, m := range trees {
		if meta, ok := m["metadata"].(map[string]any); ok && len(meta) == 0 {
			return true
		}
	}
	return false
}

func BenchmarkPod(b *testing.B) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "x"}}}}
	q := p.DeepCopy()
	q.Spec.NodeName = "w"
	for b.Loop() {
		Of(p, q, 64)
	}
}
