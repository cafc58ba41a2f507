package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"example.com/kubeviz/engine/command"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

func TestWhenAMasterDiesTheNextRequestGoesThroughAnother(t *testing.T) {
	c := open(t, 3, 0, "")
	masters := map[string]string{}
	for _, p := range c.s.ports[1:] {
		masters[p.door.Name] = "https://" + p.addr
	}
	for name, url := range masters {
		c.until("the listener of "+name, func() bool {
			r, err := c.try(ask{method: "GET", path: "/readyz", host: url})
			return err == nil && r.code == http.StatusOK
		})
	}
	c.e.Do(command.Power{Verb: command.Kill, Target: "master-1"})
	c.until("the listener of the dead master refuses", func() bool {
		_, err := c.try(ask{method: "GET", path: "/readyz", host: masters["master-1"]})
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	c.until("another answers through the balancer", func() bool {
		r, err := c.try(ask{method: "POST", path: configMaps, body: object("v1", "ConfigMap", fmt.Sprintf("after-%d", time.Now().UnixNano()), "data", nil)})
		return err == nil && r.code == http.StatusCreated
	})
	if r := c.do(ask{method: "GET", path: configMaps, host: masters["master-2"]}); r.code != http.StatusOK {
		t.Errorf("master-2: %d", r.code)
	}
	c.e.Do(command.Power{Verb: command.Start, Target: "master-1"})
	c.until("the master listens again", func() bool {
		r, err := c.try(ask{method: "GET", path: "/readyz", host: masters["master-1"]})
		return err == nil && r.code == http.StatusOK
	})
}

func TestAWatchEndsWithTheServerThatServesIt(t *testing.T) {
	c := open(t, 1, 0, "")
	w := c.watch(configMaps + "?watch=true")
	c.e.Do(command.Power{Verb: command.Kill, Target: "master-1/apiserver"})
	for {
		if _, err := w.next(); err != nil {
			return
		}
	}
}

func TestWhileTimeStandsStillReadsAreAnsweredAndNothingElse(t *testing.T) {
	c := open(t, 1, 0, "")
	c.must(ask{method: "POST", path: configMaps, body: configMap("before")})
	c.e.Do(command.Pause{})
	c.until("the pause", func() bool { return c.s.out.Gateway.Still() })
	r := c.get(configMaps + "/before")
	if w := r.header.Get("Warning"); r.code != http.StatusOK || !strings.Contains(w, "paused") {
		t.Errorf("a read: %d, warning %q", r.code, w)
	}
	if r := c.do(ask{method: "POST", path: configMaps, body: configMap("during")}); r.code != http.StatusServiceUnavailable || !strings.Contains(r.status(t).Message, "resume") {
		t.Errorf("a write: %d %s", r.code, r.body)
	}
	if r := c.get("/apis"); r.code != http.StatusOK {
		t.Errorf("discovery: %d %s", r.code, r.body)
	}
	c.e.Do(command.Resume{})
	c.until("writes work again", func() bool {
		return c.do(ask{method: "POST", path: configMaps, body: configMap("after")}).code != http.StatusServiceUnavailable
	})
	if r := c.get(configMaps + "/during"); r.code != http.StatusNotFound {
		t.Errorf("what was refused was done: %d", r.code)
	}
}

func TestAgesReadRightAtEveryRate(t *testing.T) {
	c := open(t, 1, 0, "")
	made := c.e.Now()
	old := map[string]string{"Kubectl-Session": "old", "User-Agent": "kubectl/v1"}
	c.must(ask{method: "POST", path: configMaps, body: configMap("a"), header: old})
	created := func(session string) time.Time {
		r := c.must(ask{method: "GET", path: configMaps + "/a", header: map[string]string{"Kubectl-Session": session, "User-Agent": "kubectl/v1"}})
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(r.body, &o); err != nil {
			t.Fatal(err)
		}
		return o.CreationTimestamp.Time
	}
	c.e.Do(command.Speed{Rate: 600})
	c.until("ten simulated minutes", func() bool { return c.e.Now().Sub(made) > 10*time.Minute })
	c.e.Do(command.Pause{})
	c.until("the pause", func() bool { return c.s.out.Gateway.Still() })
	lived := c.e.Now().Sub(made)
	if got := time.Since(created("new")); (got - lived).Abs() > 5*time.Second {
		t.Errorf("by the client's clock it lived %v, by that of the cluster %v", got, lived)
	}
	var table metav1.Table
	r := c.must(ask{method: "GET", path: configMaps + "/a", header: map[string]string{"Accept": asTable, "Kubectl-Session": "table", "User-Agent": "kubectl/v1"}})
	if err := json.Unmarshal(r.body, &table); err != nil {
		t.Fatal(err)
	}
	age := table.Rows[0].Cells[2]
	if !slices.ContainsFunc([]time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, func(d time.Duration) bool { return age == duration.HumanDuration(lived-d) }) {
		t.Errorf("the table says %v, want about %s", age, duration.HumanDuration(lived))
	}
}

func TestBodiesAndAnswersInEachForm(t *testing.T) {
	c := open(t, 1, 0, "")
	yaml := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yam}\ndata: {a: b}\n"
	c.must(ask{method: "POST", path: configMaps, body: yaml, header: map[string]string{"Content-Type": "application/yaml"}})
	r := c.must(ask{method: "GET", path: configMaps + "/yam", header: map[string]string{"Accept": "application/yaml"}})
	if !strings.Contains(string(r.body), "\n  a: b\n") || r.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("YAML: %s: %s", r.header.Get("Content-Type"), r.body)
	}
	proto := "application/vnd.kubernetes.protobuf"
	r = c.must(ask{method: "GET", path: configMaps + "/yam", header: map[string]string{"Accept": proto}})
	if !bytes.HasPrefix(r.body, []byte("k8s\x00")) || r.header.Get("Content-Type") != proto {
		t.Fatalf("protobuf: %s: %q", r.header.Get("Content-Type"), r.body)
	}
	if r := c.do(ask{method: "PUT", path: configMaps + "/yam", body: r.body, header: map[string]string{"Content-Type": proto, "Accept": proto}}); r.code != http.StatusOK || !bytes.HasPrefix(r.body, []byte("k8s\x00")) {
		t.Errorf("protobuf body: %d %q", r.code, r.body)
	}
	for accept, want := range map[string]int{"text/html": http.StatusNotAcceptable, "text/html, application/*": http.StatusOK, "*/*": http.StatusOK, "application/json;as=Nonsense;v=v1;g=meta.k8s.io": http.StatusNotAcceptable,
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1": http.StatusOK} {
		if r := c.do(ask{method: "GET", path: configMaps, header: map[string]string{"Accept": accept}}); r.code != want {
			t.Errorf("%s: %d, want %d", accept, r.code, want)
		}
	}
	big := strings.Repeat("x", 200<<10)
	c.must(ask{method: "POST", path: configMaps, body: object("v1", "ConfigMap", "big", "data", map[string]any{"a": big})})
	r = c.must(ask{method: "GET", path: configMaps + "/big", header: map[string]string{"Accept-Encoding": "gzip"}})
	if r.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not compressed: %v", r.header)
	}
	z, err := gzip.NewReader(bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || !bytes.Contains(plain, []byte(big)) {
		t.Errorf("compressed answer: %v, %d bytes", err, len(plain))
	}
	if r := c.must(ask{method: "GET", path: configMaps + "/yam", header: map[string]string{"Accept-Encoding": "gzip"}}); r.header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

func TestPagesOfAListAreOfOneRevision(t *testing.T) {
	c := open(t, 1, 0, "")
	const all, limit = 25, 10
	for i := range all {
		c.must(ask{method: "POST", path: configMaps, body: object("v1", "ConfigMap", fmt.Sprintf("page-%02d", i), "data", nil)})
	}
	var names []string
	revision, token := "", ""
	for page := 0; ; page++ {
		r := c.must(ask{method: "GET", path: fmt.Sprintf("%s?limit=%d&continue=%s", configMaps, limit, token)})
		var l metav1.PartialObjectMetadataList
		if err := json.Unmarshal(r.body, &l); err != nil {
			t.Fatal(err)
		}
		for _, o := range l.Items {
			names = append(names, o.Name)
		}
		if page == 0 {
			revision = l.ResourceVersion
			c.must(ask{method: "POST", path: configMaps, body: object("v1", "ConfigMap", "page-99", "data", nil)})
		}
		if l.ResourceVersion != revision {
			t.Errorf("page %d is of %s, the first one of %s", page, l.ResourceVersion, revision)
		}
		if token = l.Continue; token == "" {
			break
		}
		if left := l.RemainingItemCount; left == nil || int(*left)+len(names) != all+others(names) {
			t.Errorf("page %d: %v left behind %d", page, left, len(names))
		}
	}
	if mine := slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "page-") }); len(mine) != all || slices.Contains(mine, "page-99") {
		t.Errorf("listed %v", mine)
	}
	if r := c.get(configMaps + "?labelSelector=nope&limit=1"); r.code != http.StatusOK || strings.Contains(string(r.body), "remainingItemCount") {
		t.Errorf("with a selector: %d %s", r.code, r.body)
	}
}

// others counts what the cluster itself keeps in the namespace; all of it sorts before the pages of the test.
func others(names []string) (n int) {
	for _, x := range names {
		if !strings.HasPrefix(x, "page-") {
			n++
		}
	}
	return n
}

// watching is an open watch as a client reads it.
type watching struct {
	t     testing.TB
	lines *bufio.Scanner
	close func()
}

type change struct {
	Type   string
	Object struct {
		Metadata          metav1.ObjectMeta
		Code              int
		ColumnDefinitions []any
		Rows              []any
	}
}

// watch opens a watch; at most half a minute long.
func (c *cluster) watch(path string, header ...string) *watching {
	c.t.Helper()
	r := c.request(ask{method: "GET", path: path})
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	resp, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		cancel()
		c.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body)
		cancel()
		c.t.Fatalf("%s: %d %s", path, resp.StatusCode, data)
	}
	w := &watching{t: c.t, lines: bufio.NewScanner(resp.Body), close: func() { cancel(); _ = resp.Body.Close() }}
	w.lines.Buffer(nil, 4<<20)
	c.t.Cleanup(w.close)
	return w
}

// next is the next change; an error when the watch has ended.
func (w *watching) next() (change, error) {
	var e change
	if !w.lines.Scan() {
		if err := w.lines.Err(); err != nil {
			return e, err
		}
		return e, io.EOF
	}
	return e, json.Unmarshal(w.lines.Bytes(), &e)
}

func (w *watching) want(kind, name string) change {
	w.t.Helper()
	e, err := w.next()
	for err == nil && e.Type == "BOOKMARK" && kind != "BOOKMARK" { // they come now and then
		e, err = w.next()
	}
	if err != nil || e.Type != kind || e.Object.Metadata.Name != name {
		w.t.Fatalf("%v: %s %s, want %s %s", err, e.Type, e.Object.Metadata.Name, kind, name)
	}
	return e
}

func TestWatchesBeginGoOnAndEndAsAsked(t *testing.T) {
	c := open(t, 1, 0, "")
	labelled := func(name, app string) map[string]any {
		m := configMap(name)
		m["metadata"].(map[string]any)["labels"] = map[string]any{"app": app}
		return m
	}
	c.must(ask{method: "POST", path: configMaps, body: labelled("a", "x")})
	w := c.watch(configMaps + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app%3Dx")
	w.want("ADDED", "a")
	if e := w.want("BOOKMARK", ""); e.Object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] != "true" || e.Object.Metadata.ResourceVersion == "" {
		t.Errorf("bookmark: %+v", e.Object.Metadata)
	}
	c.must(ask{method: "POST", path: configMaps, body: labelled("other", "y")})
	c.must(ask{method: "POST", path: configMaps, body: labelled("b", "x")})
	w.want("ADDED", "b")
	patch := ask{method: "PATCH", path: configMaps + "/b", body: `{"data":{"c":"d"}}`, header: map[string]string{"Content-Type": "application/merge-patch+json"}}
	c.must(patch)
	w.want("MODIFIED", "b")
	patch.body = `{"metadata":{"labels":{"app":"z"}}}`
	c.must(patch)
	w.want("DELETED", "b")
	patch.path = configMaps + "/other"
	patch.body = `{"metadata":{"labels":{"app":"x"}}}`
	c.must(patch)
	w.want("ADDED", "other")
	c.must(ask{method: "DELETE", path: configMaps + "/a"})
	w.want("DELETED", "a")
	w.close()

	// A watch for a time ends in good order.
	w = c.watch(configMaps + "?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone")
	if e, err := w.next(); err != io.EOF {
		t.Errorf("after its time: %v %+v", err, e)
	}
	// As a Table the columns come once.
	w = c.watch(configMaps+"?watch=true", "Accept", asTable)
	for i := range 2 {
		e, err := w.next()
		if err != nil || len(e.Object.Rows) != 1 || (len(e.Object.ColumnDefinitions) > 0) != (i == 0) {
			t.Errorf("row %d: %v, %d columns, %d rows", i, err, len(e.Object.ColumnDefinitions), len(e.Object.Rows))
		}
	}
	// From a revision that is not there yet, and from none.
	if r := c.get(configMaps + "?watch=true&resourceVersion=abc"); r.code != http.StatusBadRequest {
		t.Errorf("no revision: %d %s", r.code, r.body)
	}
	if r := c.get(configMaps + "?watch=true&sendInitialEvents=true"); r.code != http.StatusUnprocessableEntity {
		t.Errorf("initial events without a match: %d %s", r.code, r.body)
	}
	if r := c.do(ask{method: "GET", path: configMaps + "?watch=true&timeoutSeconds=1", header: map[string]string{"Accept": "application/vnd.kubernetes.protobuf"}}); r.header.Get("Content-Type") != "application/vnd.kubernetes.protobuf;stream=watch" ||
		len(r.body) < 8 || int(r.body[3])|int(r.body[2])<<8|int(r.body[1])<<16+4 > len(r.body) {
		t.Errorf("protobuf: %v, %d bytes", r.header, len(r.body))
	}
}

func TestBookmarksComeByThemselves(t *testing.T) {
	c := open(t, 1, 0, "")
	w := c.watch("/api/v1/namespaces/default/secrets?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone")
	if e := w.want("BOOKMARK", ""); e.Object.Metadata.ResourceVersion == "" {
		t.Errorf("%+v", e)
	}
}

func TestDryRunsAndFieldsThatAKindDoesNotHave(t *testing.T) {
	c := open(t, 1, 0, "")
	if r := c.do(ask{method: "POST", path: configMaps + "?dryRun=All", body: configMap("dry")}); r.code != http.StatusCreated || r.object(t)["metadata"].(map[string]any)["uid"] == nil {
		t.Errorf("dry run: %d %s", r.code, r.body)
	}
	if r := c.get(configMaps + "/dry"); r.code != http.StatusNotFound {
		t.Errorf("the dry run stored something: %d", r.code)
	}
	odd := `{"metadata":{"name":"odd"},"datta":{},"data":{"a":"1","a":"2"}}`
	for mode, want := range map[string]struct {
		code     int
		warnings []string
	}{
		"Strict": {http.StatusBadRequest, nil},
		"Warn":   {http.StatusCreated, []string{`299 - "unknown field \"datta\""`, `299 - "duplicate field \"data.a\""`}},
		"":       {http.StatusCreated, []string{`299 - "unknown field \"datta\""`, `299 - "duplicate field \"data.a\""`}},
		"Ignore": {http.StatusCreated, nil},
	} {
		r := c.do(ask{method: "POST", path: configMaps + "?dryRun=All&fieldValidation=" + mode, body: odd})
		got := r.header.Values("Warning")
		slices.Sort(got)
		slices.Sort(want.warnings)
		if r.code != want.code || !slices.Equal(got, want.warnings) {
			t.Errorf("%q: %d %q %s", mode, r.code, got, r.body)
		}
		if mode == "Strict" && r.status(t).Message != `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta", duplicate field "data.a"` {
			t.Errorf("strict: %s", r.status(t).Message)
		}
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	c := open(t, 1, 0, "")
	r := c.do(ask{method: "POST", path: configMaps, body: object("v1", "ConfigMap", "huge", "data", map[string]any{"a": strings.Repeat("x", 3<<20)})})
	if st := r.status(t); r.code != http.StatusRequestEntityTooLarge || st.Message != "Request entity too large: limit is 3145728" || st.Reason != metav1.StatusReasonRequestEntityTooLarge {
		t.Errorf("body: %d %+v", r.code, st)
	}
	if r := c.get(configMaps + "/huge"); r.code != http.StatusNotFound {
		t.Errorf("it was stored: %d", r.code)
	}
	conn := c.insecure("http/1.1")
	go func() { // the server may hang up before it has read all
		_, _ = fmt.Fprintf(conn, "GET /version HTTP/1.1\r\nHost: localhost\r\nX-Large: %s\r\n\r\n", strings.Repeat("x", 2<<20))
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "431") {
		t.Errorf("header: %v %q", err, line)
	}
	deep := `{"metadata":{"name":"deep","annotations":` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000) + "}}"
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i, prev := range "abcdefgh" {
		bomb += fmt.Sprintf("  %c: &%c [%s]\n", 'b'+i, 'b'+i, strings.TrimSuffix(strings.Repeat("*"+string(prev)+",", 9), ","))
	}
	for what, x := range map[string]ask{"nesting": {body: deep}, "aliases": {body: bomb, header: map[string]string{"Content-Type": "application/yaml"}}} {
		x.method, x.path = "POST", configMaps
		if r := c.do(x); r.code != http.StatusBadRequest {
			t.Errorf("%s: %d %.200s", what, r.code, r.body)
		}
	}
}

func TestWebPagesAreRefused(t *testing.T) {
	c := open(t, 1, 0, "")
	for _, tc := range []struct {
		header, value string
		code          int
	}{
		{"Host", "evil.example", http.StatusForbidden}, {"Host", "127.0.0.1.evil.example:443", http.StatusForbidden}, {"Host", "localhost", http.StatusOK}, {"Host", "[::1]:6443", http.StatusOK},
		{"Origin", "https://evil.example", http.StatusForbidden}, {"Origin", "null", http.StatusForbidden}, {"Origin", "http://localhost:3000", http.StatusOK},
	} {
		if r := c.do(ask{method: "GET", path: "/version", header: map[string]string{tc.header: tc.value}}); r.code != tc.code {
			t.Errorf("%s %s: %d, want %d", tc.header, tc.value, r.code, tc.code)
		}
	}
}

// A connection that says nothing, or that stops in the middle of a body, is not kept.
func TestSlowClientsAreLetGo(t *testing.T) {
	c := openWith(t, 1, 0, "", &patience{header: 100 * time.Millisecond, idle: 100 * time.Millisecond, request: 300 * time.Millisecond})
	ends := func(what, sent string) string {
		t.Helper()
		conn := c.insecure("http/1.1")
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // so that a failure ends
		got, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return string(got)
	}
	ends("half a header", "GET /version HTTP/1.1\r\nHost: local")
	if got := ends("an idle connection", "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"); !strings.Contains(got, "200 OK") {
		t.Errorf("before it was idle: %q", got)
	}
	conn := c.insecure("http/1.1")
	if _, err := io.WriteString(conn, "POST "+configMaps+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "504") {
		t.Errorf("half a body: %v %q", err, line)
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	for _, at := range []string{"", "x", "127.0.0.1", "0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0"} {
		var usage *UsageError
		if err := (Options{Listen: at}).Check(); !errors.As(err, &usage) {
			t.Errorf("%q: %v", at, err)
		}
	}
	for _, at := range []string{"127.0.0.1:0", "localhost:6443", "[::1]:0", "127.9.9.9:1"} {
		if err := (Options{Listen: at}).Check(); err != nil {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// A write that takes off the last finalizer of what is deleted is answered with what it wrote, as of any kind; the deletion itself is told as it is of that kind.
func TestWhoTakesOffTheLastFinalizerIsAnsweredWithTheObject(t *testing.T) {
	c := open(t, 1, 0, "")
	held := configMap("held")
	held["metadata"].(map[string]any)["finalizers"] = []string{"example.com/hold"}
	c.must(ask{method: "POST", path: configMaps, body: held})
	c.must(ask{method: "DELETE", path: configMaps + "/held"})
	r := c.must(ask{method: "PATCH", path: configMaps + "/held", body: map[string]any{"metadata": map[string]any{"finalizers": nil}}, header: map[string]string{"Content-Type": "application/merge-patch+json"}})
	got := r.object(t)
	if meta, _ := got["metadata"].(map[string]any); got["kind"] != "ConfigMap" || meta["name"] != "held" || meta["finalizers"] != nil {
		t.Errorf("answered with %v", got)
	}
	if r := c.get(configMaps + "/held"); r.code != http.StatusNotFound {
		t.Errorf("read afterwards: %d", r.code)
	}
}
