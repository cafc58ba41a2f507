package apiserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// eachLine decodes every line of a file of recorded cases.
func eachLine[T any](t *testing.T, file string, fn func(T)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		fn(v)
	}
}

func kindOf(t *testing.T, resource string) *kinds.Kind {
	k, ok := kinds.Named(resource)
	if !ok {
		t.Fatalf("no kind %s", resource)
	}
	return k
}

func TestMinimalObjectsAreStoredAsARealClusterStoresThem(t *testing.T) {
	type recorded struct {
		Kind   string          `json:"kind"`
		Sent   json.RawMessage `json:"sent"`
		Stored map[string]any  `json:"stored"`
	}
	all := func(fn func(recorded)) {
		eachLine(t, "testdata/defaults.jsonl", fn)
		eachLine(t, "testdata/services.jsonl", fn)
	}
	all(func(r recorded) {
		k := kindOf(t, r.Kind)
		obj := k.New()
		if err := json.Unmarshal(r.Sent, obj); err != nil {
			t.Fatal(err)
		}
		t.Run(r.Kind+" "+obj.GetName(), func(t *testing.T) {
			c := apitest.New(t)
			stored, err := c.TryCreate(obj)
			if err != nil {
				t.Fatal(err)
			}
			if stored.GetUID() == "" || stored.GetCreationTimestamp().Time.IsZero() {
				t.Errorf("no UID or time of creation: %q %v", stored.GetUID(), stored.GetCreationTimestamp())
			}
			b, _ := json.Marshal(stored)
			b = drawn.ReplaceAll(b, []byte("kube-api-access-<5>"))
			var got map[string]any
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			meta := got["metadata"].(map[string]any)
			for _, f := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
				delete(meta, f)
			}
			compare(t, "", dropEmpty(got), dropEmpty(r.Stored))
		})
	})
}

// drawn names differ from pod to pod.
var drawn = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}\b`)

// dropEmpty takes out members without content: whether {} and null are printed is the HTTP encoding's affair.
func dropEmpty(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		if l, ok := v.([]any); ok {
			for i := range l {
				l[i] = dropEmpty(l[i])
			}
		}
		return v
	}
	for k, x := range m {
		switch x := dropEmpty(x).(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			if len(x) == 0 && k != "securityContext" && k != "emptyDir" {
				delete(m, k)
			}
		}
	}
	return m
}

// given stands in recordings for what servers choose: addresses of services and ports of nodes.
var given = map[string]*regexp.Regexp{"10.96.x.x": regexp.MustCompile(`^"10\.(9[6-9]|10\d|11[01])\.\d+\.\d+"$`), "<port>": regexp.MustCompile(`^3[0-2]\d{3}$`)}

func compare(t *testing.T, at string, got, want any) {
	t.Helper()
	if text, ok := want.(string); ok && given[text] != nil {
		if b, _ := json.Marshal(got); !given[text].Match(b) {
			t.Errorf("%s is %s, want %s", at, b, text)
		}
		return
	}
	if list, ok := want.([]any); ok {
		if l, ok := got.([]any); ok && len(l) == len(list) {
			for i := range list {
				compare(t, fmt.Sprintf("%s[%d]", at, i), l[i], list[i])
			}
			return
		}
	}
	g, ok1 := got.(map[string]any)
	w, ok2 := want.(map[string]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(got, want) {
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			t.Errorf("%s is %s, want %s", at, a, b)
		}
		return
	}
	for k := range w {
		if _, ok := g[k]; !ok {
			t.Errorf("%s.%s is missing, want %v", at, k, w[k])
		}
	}
	for k := range g {
		if _, ok := w[k]; !ok {
			t.Errorf("%s.%s is %v, want nothing", at, k, g[k])
			continue
		}
		compare(t, at+"."+k, g[k], w[k])
	}
}

// mistake is one request that users get wrong, with the answer of a real API server.
type mistake struct {
	Case            string                `json:"case"`
	Verb            kubeapi.Verb          `json:"verb"`
	Kind            string                `json:"kind"`
	Namespace       string                `json:"namespace"`
	Name            string                `json:"name"`
	Subresource     string                `json:"subresource"`
	User            string                `json:"user"` // "-": nobody
	Group           string                `json:"group"`
	ResourceVersion string                `json:"resourceVersion"`
	FieldSelector   string                `json:"fieldSelector"`
	Continue        string                `json:"continue"`
	ContentType     string                `json:"contentType"`
	Body            json.RawMessage       `json:"body"`
	Code            int32                 `json:"code"`
	Message         string                `json:"message"`
	Reason          metav1.StatusReason   `json:"reason"`
	Details         *metav1.StatusDetails `json:"details"`
}

func (m mistake) request(t *testing.T) *kubeapi.Request {
	r := &kubeapi.Request{Verb: m.Verb, Kind: kindOf(t, m.Kind), Namespace: m.Namespace, Name: m.Name, Subresource: m.Subresource, ResourceVersion: m.ResourceVersion,
		Continue: m.Continue, DryRun: true}
	if m.FieldSelector != "" {
		r.Fields = fields.ParseSelectorOrDie(m.FieldSelector)
	}
	switch m.Verb {
	case kubeapi.Create, kubeapi.Update:
		switch m.Subresource {
		case "binding":
			r.Object = &corev1.Binding{}
		case "scale":
			r.Object = &autoscalingv1.Scale{}
		default:
			r.Object = r.Kind.New()
		}
		if err := json.Unmarshal(m.Body, r.Object); err != nil {
			t.Fatal(err)
		}
		r.Name = r.Object.GetName()
		if m.Name != "" {
			r.Name = m.Name
		}
	case kubeapi.Patch:
		r.PatchType = types.PatchType(m.ContentType)
		r.Patch = m.Body
	case kubeapi.Delete:
		if m.Body != nil {
			r.Delete = &metav1.DeleteOptions{}
			if err := json.Unmarshal(m.Body, r.Delete); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// volatile parts of texts differ from run to run.
var volatile = regexp.MustCompile(`current: \d+|@@ -\d+,\d+ \+\d+,\d+ @@`)

func TestMistakesAreAnsweredInTheWordsOfARealServer(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(3)
	have := apitest.Pod("have")
	have.Spec.NodeName = "worker-3"
	have.Spec.Containers[0].Image = "nginx"
	c.Create(have)
	dep := apitest.Deployment("have", 1)
	c.Create(dep)
	yes := true
	c.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "have"}, Data: map[string]string{"a": "1"}, Immutable: &yes})
	c.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "have"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
	admin := c.Client.User
	all := func(fn func(mistake)) {
		eachLine(t, "testdata/errors.jsonl", fn)
		eachLine(t, "testdata/core-errors.jsonl", fn) // recorded with addresses of services in 10.96.0.0/16, here in kubeadm's 10.96.0.0/12
	}
	all(func(m mistake) {
		t.Run(m.Case, func(t *testing.T) {
			r := m.request(t)
			user := admin
			if m.User != "" {
				user = kubeapi.User{Name: strings.TrimPrefix(m.User, "-"), Groups: []string{m.Group}}
			}
			client := &kubeapi.Client{Transport: c.Client.Transport, User: user, Manager: "test"}
			var err error
			c.Do(func(p *sim.Proc, _ *kubeapi.Client) { _, err = client.Do(p, r) })
			if m.Code < 400 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			st, ok := err.(apierrors.APIStatus)
			if !ok {
				t.Fatalf("answered %v, want %d %s", err, m.Code, m.Message)
			}
			got := st.Status()
			if got.Code != m.Code || got.Reason != m.Reason {
				t.Errorf("answered %d %s, want %d %s", got.Code, got.Reason, m.Code, m.Reason)
			}
			g, w := volatile.ReplaceAllString(got.Message, "~"), volatile.ReplaceAllString(m.Message, "~")
			if strings.Contains(w, "pod updates may not change") {
				g, _, _ = strings.Cut(g, "~") // what stands around a change depends on the fields of the version
				w, _, _ = strings.Cut(w, "~")
			} else if m.Details != nil && len(m.Details.Causes) > 0 && m.Code == 422 {
				compareCauses(t, got.Details, m.Details)
			}
			if g != w {
				t.Errorf("says\n%s\nwant\n%s", g, w)
			}
		})
	})
}

func compareCauses(t *testing.T, got, want *metav1.StatusDetails) {
	t.Helper()
	if got == nil || !reflect.DeepEqual(got.Causes, want.Causes) {
		t.Errorf("details %+v\nwant %+v", got, want)
	}
}
