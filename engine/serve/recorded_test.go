package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mistake is one request that users get wrong, with the answer of a real API server of v1.37.2.
type mistake struct {
	Title, Verb, Path, ContentType string
	Headers                        map[string]string
	Body                           json.RawMessage
	Code                           int
	Warning                        string
	Answer                         json.RawMessage
}

// differs are rows whose answer is another one, with the reason.
var differs = map[string]string{
	"bad clusterIP": otherRange,
}

const otherRange = "the recorded cluster has the addresses 10.96.0.0/16 for services, this one kubeadm's 10.96.0.0/12"

// volatile parts of texts differ from run to run; the rest of a change in a pod depends on the fields that a version has.
var volatile = regexp.MustCompile(`current: \d+|[0-9a-f]{8}-[0-9a-f-]{27}|<uid>|(?s:@@ -\d+,\d+ \+\d+,\d+ @@.*)`)

// what exists when the mistakes are made.
var circumstances = []struct {
	path string
	body string
}{
	{"/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`},
	{"/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"have"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"have"}},"template":{"metadata":{"labels":{"app":"have"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}}}`},
	{"/api/v1/namespaces/default/pods", `{"metadata":{"name":"have"},"spec":{"nodeName":"worker-3","containers":[{"name":"c","image":"nginx"}]}}`},
	{"/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"have"},"data":{"a":"b"},"immutable":true}`},
	{"/api/v1/namespaces/default/services", `{"metadata":{"name":"have"},"spec":{"ports":[{"port":80}]}}`},
	{"/api/v1/namespaces", `{"metadata":{"name":"tight"}}`},
	{"/api/v1/namespaces/tight/serviceaccounts", `{"metadata":{"name":"default"}}`},
	{"/api/v1/namespaces/tight/resourcequotas", `{"metadata":{"name":"small"},"spec":{"hard":{"pods":"0","requests.cpu":"1"}}}`},
}

func TestMistakesOverHTTPAreAnsweredAsByARealServer(t *testing.T) {
	c := open(t, 1, 3, "")
	for _, x := range circumstances {
		if r := c.do(ask{method: "POST", path: x.path, body: x.body, header: map[string]string{"User-Agent": agent}}); r.code != http.StatusCreated && r.code != http.StatusConflict {
			t.Fatalf("%s: %d %s", x.path, r.code, r.body)
		}
	}
	for _, of := range []string{"worker-1", "worker-2"} { // kubelets make theirs a moment after the API is ready
		c.until("there is the lease of "+of, func() bool {
			return c.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+of).code == http.StatusOK
		})
	}
	f, err := os.Open("testdata/errors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var m mistake
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		t.Run(m.Title, func(t *testing.T) {
			wrong := c.wrong(t, m)
			switch why, known := differs[m.Title]; {
			case known && len(wrong) == 0:
				t.Errorf("is as recorded, though it should not be: %s", why)
			case !known && len(wrong) > 0:
				t.Error(strings.Join(wrong, "\n"))
			}
		})
	}
}

// agent of the recording, which is the field manager of what it made.
const agent = "Python-urllib/3.12"

// wrong makes a mistake and lists what is not as recorded.
func (c *cluster) wrong(t *testing.T, m mistake) (all []string) {
	a := ask{method: m.Verb, path: m.Path, header: map[string]string{"User-Agent": agent}}
	for k, v := range m.Headers {
		a.header[k] = v
	}
	switch m.Title {
	case "no token":
		a.client = c.stranger()
	case "wrong token":
		a.client, a.header["Authorization"] = c.stranger(), "Bearer wrong"
	}
	if string(m.Body) != "null" && len(m.Body) > 0 {
		a.body = []byte(m.Body)
		var text string
		if json.Unmarshal(m.Body, &text) == nil {
			a.body = text
		}
	}
	if b, ok := a.body.([]byte); ok && m.Verb == http.MethodPut { // it was read before, and changed
		have := c.get(strings.TrimSuffix(strings.TrimSuffix(m.Path, "?dryRun=All"), "/scale")).object(t)["metadata"].(map[string]any)
		b = bytes.ReplaceAll(b, []byte(`"4027"`), []byte(`"`+have["resourceVersion"].(string)+`"`))
		if m.Title != "other uid" {
			b = bytes.ReplaceAll(b, []byte("<uid>"), []byte(have["uid"].(string)))
		}
		a.body = b
	}
	if m.ContentType != "" {
		a.header["Content-Type"] = m.ContentType
	}
	r := c.do(a)
	if r.code != m.Code {
		return []string{"answered " + http.StatusText(r.code) + ", want " + http.StatusText(m.Code) + ": " + string(r.body)}
	}
	var plain string
	var want metav1.Status
	switch {
	case json.Unmarshal(m.Answer, &plain) == nil:
		if plain != "" && string(r.body) != plain {
			return []string{"says " + string(r.body) + ", want " + plain}
		}
		return nil
	case json.Unmarshal(m.Answer, &want) != nil:
		t.Fatalf("recorded: %s", m.Answer)
	}
	if w := r.header.Get("Warning"); w != m.Warning {
		all = append(all, "warning "+w+", want "+m.Warning)
	}
	if m.Code < 400 {
		return all
	}
	got := r.status(t)
	say := func(what, got, want string) {
		if got != want {
			all = append(all, what+"\n"+got+"\nwant\n"+want)
		}
	}
	even := func(s string) string { return volatile.ReplaceAllString(s, "~") }
	say("message", even(got.Message), even(want.Message))
	say("reason", string(got.Reason), string(want.Reason))
	g, _ := json.Marshal(got.Details)
	w, _ := json.Marshal(want.Details)
	say("details", even(string(g)), even(string(w)))
	return all
}

// served is what discovery.json records of a resource.
type served struct {
	Kind, Scope, Singular         string
	Verbs, ShortNames, Categories []string
	Subresources                  map[string]struct {
		Group, Version, Kind string
		Verbs                []string
	}
}

// notServed are groups and resources of the real server that are left out, with the reason.
var notServed = map[string]string{
	"flowcontrol.apiserver.k8s.io/v1":                      "priority and fairness has no objects here: there are the limits of requests in flight",
	"apiregistration.k8s.io/v1":                            "nothing is aggregated",
	"resource.k8s.io/v1":                                   "no devices are simulated",
	"storagemigration.k8s.io/v1":                           "the store holds one version of each kind",
	"certificates.k8s.io/v1/clustertrustbundles":           "nothing reads them",
	"certificates.k8s.io/v1/podcertificaterequests":        "kubelets do not ask for certificates of pods",
	"certificates.k8s.io/v1/podcertificaterequests/status": "the same",
}

// beside are the groups that add-ons serve: the recorded cluster had none.
var beside = map[string]map[string]served{"metrics.k8s.io/v1beta1": {
	"nodes": {Kind: "NodeMetrics", Scope: "Cluster", Verbs: []string{"get", "list"}}, "pods": {Kind: "PodMetrics", Scope: "Namespaced", Verbs: []string{"get", "list"}}}}

func TestDiscoveryIsThatOfTheRealServer(t *testing.T) {
	c := open(t, 1, 0, "")
	data, err := os.ReadFile("testdata/discovery.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]served
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for gv, resources := range beside {
		want[gv] = resources
	}
	for gv, resources := range want {
		path := "/apis/" + gv
		if !strings.Contains(gv, "/") {
			path = "/api/" + gv
		}
		r := c.get(path)
		if _, left := notServed[gv]; left {
			if r.code != http.StatusNotFound {
				t.Errorf("%s is served, though it should not be", gv)
			}
			continue
		}
		var l metav1.APIResourceList
		if err := json.Unmarshal(r.body, &l); err != nil || r.code != http.StatusOK {
			t.Errorf("%s: %d %v", path, r.code, err)
			continue
		}
		got := map[string]metav1.APIResource{}
		for _, x := range l.APIResources {
			got[x.Name] = x
		}
		known := map[string]bool{}
		for name, w := range resources {
			if _, left := notServed[gv+"/"+name]; left {
				continue
			}
			known[name] = true
			g, ok := got[name]
			scope := "Cluster"
			if g.Namespaced {
				scope = "Namespaced"
			}
			if !ok || g.Kind != w.Kind || scope != w.Scope || g.SingularName != w.Singular || !same(g.Verbs, w.Verbs) || !same(g.ShortNames, w.ShortNames) || !same(g.Categories, w.Categories) {
				t.Errorf("%s %s: %+v\nwant %+v", gv, name, g, w)
			}
			for sub, ws := range w.Subresources {
				full := name + "/" + sub
				if _, left := notServed[gv+"/"+full]; left {
					continue
				}
				known[full] = true
				gs, ok := got[full]
				if !ok || gs.Kind != ws.Kind || gs.Group != ws.Group || gs.Version != ws.Version || !same(gs.Verbs, ws.Verbs) {
					t.Errorf("%s %s: %+v\nwant %+v", gv, full, gs, ws)
				}
			}
		}
		for name := range got {
			if !known[name] {
				t.Errorf("%s: %s is served and the real server has none", gv, name)
			}
		}
	}
	// The same in one document.
	r := c.do(ask{method: "GET", path: "/apis", header: map[string]string{"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}})
	var whole struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource, Scope string
					Subresources    []struct{ Subresource string }
				}
			}
		}
	}
	if err := json.Unmarshal(r.body, &whole); err != nil {
		t.Fatal(err)
	}
	for _, g := range whole.Items {
		for _, v := range g.Versions {
			gv := g.Metadata.Name + "/" + v.Version
			for _, x := range v.Resources {
				w, ok := want[gv][x.Resource]
				if !ok || w.Scope != x.Scope {
					t.Errorf("aggregated: %s %s %s", gv, x.Resource, x.Scope)
				}
				for _, sub := range x.Subresources {
					if _, ok := w.Subresources[sub.Subresource]; !ok {
						t.Errorf("aggregated: %s %s/%s", gv, x.Resource, sub.Subresource)
					}
				}
			}
		}
	}
}

// same compares sets.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
