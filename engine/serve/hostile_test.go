package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What no honest client sends is answered with the code and reason of a real server, in words that no terminal obeys, and nothing of it is stored.
func TestHostileRequestsAreRefusedAndStoreNothing(t *testing.T) {
	c := open(t, 1, 0, "")
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	named := func(name string) string { return `{"metadata":{"name":` + quoted(name) + `},"data":{"a":"b"}}` }
	data := func(value string) string { return `{"metadata":{"name":"hostile"},"data":{"a":` + value + `}}` }
	const bad, invalid = http.StatusBadRequest, http.StatusUnprocessableEntity
	for _, tc := range []struct {
		what, path, media, body string
		code                    int
		reason                  metav1.StatusReason
	}{
		{"a NUL in a name", "", "", named("a\x00b"), invalid, metav1.StatusReasonInvalid},
		{"an escape sequence in a name", "", "", named("a\x1b[2Jb"), invalid, metav1.StatusReasonInvalid},
		{"a C1 control in a name", "", "", named("a\u009b2Jb"), invalid, metav1.StatusReasonInvalid},
		{"a text that runs backwards in a name", "", "", named("a\u202eb"), invalid, metav1.StatusReasonInvalid},
		{"a line break in a label", "", "", `{"metadata":{"name":"hostile","labels":{"a":"b\nc"}}}`, invalid, metav1.StatusReasonInvalid},
		{"a path for a name", "", "", named("../../secrets/x"), invalid, metav1.StatusReasonInvalid},
		{"a name of 300 characters", "", "", named(strings.Repeat("a", 300)), invalid, metav1.StatusReasonInvalid},
		{"a number that no float holds", "", "", data("1e999"), bad, metav1.StatusReasonBadRequest},
		{"a number of 10,000 digits", "", "", data(strings.Repeat("9", 10000)), bad, metav1.StatusReasonBadRequest},
		{"a number for an object", "", "", `{"metadata":7}`, bad, metav1.StatusReasonBadRequest},
		{"a list for an object", "", "", `[]`, bad, metav1.StatusReasonBadRequest},
		{"a control byte in a string", "", "", data("\"\x01\""), bad, metav1.StatusReasonBadRequest},
		{"half of a document", "", "", `{"metadata":{"name":"hostile"`, bad, metav1.StatusReasonBadRequest},
		{"nothing", "", "", ``, bad, metav1.StatusReasonBadRequest},
		{"nesting of 10,001 lists", "", "", data(strings.Repeat("[", 10001) + strings.Repeat("]", 10001)), bad, metav1.StatusReasonBadRequest},
		{"nesting in YAML", "", "application/yaml", "a: " + strings.Repeat("[", 10001) + strings.Repeat("]", 10001), bad, metav1.StatusReasonBadRequest},
		{"a YAML that names itself", "", "application/yaml", "a: &a [*a]\n", bad, metav1.StatusReasonBadRequest},
		{"a protobuf that is none", "", "application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff\xff", bad, metav1.StatusReasonBadRequest},
		{"a protobuf of a length that lies", "", "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\xff\xff\xff\xff\x0f", bad, metav1.StatusReasonBadRequest},
		{"a media type that is none", "", "text/plain", named("hostile"), http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType},
		{"a dry run of a kind that is none", "?dryRun=Some", "", named("hostile"), invalid, metav1.StatusReasonInvalid},
		{"a validation that is none", "?fieldValidation=Some", "", named("hostile"), invalid, metav1.StatusReasonInvalid},
		{"a manager with a control byte", "?fieldManager=a%00b", "", named("hostile"), invalid, metav1.StatusReasonInvalid},
		{"a manager of 200 characters", "?fieldManager=" + strings.Repeat("a", 200), "", named("hostile"), invalid, metav1.StatusReasonInvalid},
	} {
		media := tc.media
		if media == "" {
			media = "application/json"
		}
		r := c.do(ask{method: "POST", path: configMaps + tc.path, body: tc.body, header: map[string]string{"Content-Type": media}})
		var st metav1.Status
		if err := json.Unmarshal(r.body, &st); err != nil || r.code != tc.code || st.Reason != tc.reason {
			t.Errorf("%s: %d %v %.300s, want %d %s", tc.what, r.code, err, r.body, tc.code, tc.reason)
		}
		// JSON quotes control bytes; kubectl prints what they were.
		for _, text := range append([]string{st.Message}, func() (all []string) {
			if st.Details != nil {
				for _, cause := range st.Details.Causes {
					all = append(all, cause.Message)
				}
			}
			return all
		}()...) {
			if strings.ContainsFunc(text, func(x rune) bool { return unicode.IsControl(x) && x != '\n' }) {
				t.Errorf("%s: a control byte in %q", tc.what, text)
			}
		}
	}
	var left struct {
		Items []metav1.PartialObjectMetadata
	}
	if err := json.Unmarshal(c.must(ask{method: "GET", path: configMaps}).body, &left); err != nil {
		t.Fatal(err)
	}
	for _, m := range left.Items {
		if m.Name != "kube-root-ca.crt" {
			t.Errorf("%q is stored", m.Name)
		}
	}
	for _, path := range []string{"/a%00b", "/a%1b%5b2J", "/%2e%2e%2fsecrets", "/%ff%fe", "/" + strings.Repeat("a", 5000)} {
		if r := c.get(configMaps + path); r.code != http.StatusNotFound && r.code != bad {
			t.Errorf("%q: %d %.300s", path, r.code, r.body)
		}
	}
	for _, query := range []string{"labelSelector=" + strings.Repeat("(", 1000), "labelSelector=a+in+(", "labelSelector=" + strings.Repeat("a", 70) + "%3Db", "fieldSelector=spec.x%3Dy", "fieldSelector=%00", "limit=99999999999999999999",
		"continue=%00%ff", "resourceVersion=-1", "resourceVersion=99999999999999999999", "resourceVersion=%00", "resourceVersionMatch=Some&resourceVersion=1", "watch=1&timeoutSeconds=1e9"} {
		if r := c.get(configMaps + "?" + query); r.code != bad && r.code != invalid {
			t.Errorf("%.80s: %d %.300s", query, r.code, r.body)
		}
	}
}

// Bytes that are no UTF-8 are replaced on the way in, as the real server's decoder does: what is stored is text.
func TestBytesThatAreNoTextAreNotStored(t *testing.T) {
	c := open(t, 1, 0, "")
	r := c.do(ask{method: "POST", path: configMaps, body: "{\"metadata\":{\"name\":\"text\"},\"data\":{\"a\":\"\xff\xfe\"}}"})
	if r.code != http.StatusCreated {
		t.Fatalf("%d %s", r.code, r.body)
	}
	if got := c.get(configMaps + "/text").object(t)["data"].(map[string]any)["a"]; got != "\ufffd\ufffd" {
		t.Errorf("stored %q", got)
	}
}

// What a client says of the length of its body is not believed, and many headers are as bad as a large one.
func TestLiesAboutLengthAndFloodsOfHeadersAreRefused(t *testing.T) {
	c := open(t, 1, 0, "")
	body := `{"metadata":{"name":"lie"},"data":{"a":"b"}}`
	says := func(head, sent string) string {
		t.Helper()
		conn := c.insecure("http/1.1")
		go func() { // the server may hang up before it has read all
			_, _ = io.WriteString(conn, head+sent)
		}()
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // so that a failure ends
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return strings.TrimSpace(line)
	}
	post := "POST " + configMaps + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for what, x := range map[string]struct{ head, sent, want string }{
		"two lengths":          {post + "Content-Length: 44\r\nContent-Length: 2\r\n\r\n", body, "400"},
		"a negative length":    {post + "Content-Length: -1\r\n\r\n", body, "400"},
		"a length and chunks":  {post + "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\n", body, "501"},
		"chunks that are none": {post + "Transfer-Encoding: chunked\r\n\r\n", "zz\r\n" + body, ""},
		"100,000 headers":      {"GET /version HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-A: b\r\n", 400000) + "\r\n", "", "431"},
		"no host":              {"GET /version HTTP/1.1\r\n\r\n", "", "400"},
	} {
		got := says(x.head, x.sent)
		if !strings.Contains(got, x.want) || strings.Contains(got, " 2") || strings.Contains(got, " 500") {
			t.Errorf("%s: %q", what, got)
		}
	}
	// A length that is too short cuts the body; what is left is no request.
	if got := says(post+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)-5), body); got != "" && !strings.Contains(got, "401") && !strings.Contains(got, "400") && !strings.Contains(got, "403") {
		t.Errorf("a length that is too short: %q", got)
	}
	if r := c.get(configMaps + "/lie"); r.code != http.StatusNotFound {
		t.Errorf("it was stored: %d", r.code)
	}
}

// A connection carries as many requests at a time as one to a real server; a client that has more opens another.
func TestAConnectionCarriesAHundredRequestsAtATime(t *testing.T) {
	c := open(t, 1, 0, "")
	c.http.CloseIdleConnections()
	client := c.apart()
	connections := func() int {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		return c.s.conns
	}
	began := connections()
	for i := range streamsMax + 1 {
		resp, err := client.Do(c.request(ask{method: "GET", path: configMaps + "?watch=1"}).WithContext(t.Context()))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("watch %d: %v %v", i, err, resp)
		}
		defer func() { _ = resp.Body.Close() }()
		if want := 1 + i/streamsMax; connections() > began+want {
			t.Fatalf("%d connections for %d watches", connections()-began, i+1)
		}
	}
	c.until("a second connection is there", func() bool { return connections() >= began+1 })
}
