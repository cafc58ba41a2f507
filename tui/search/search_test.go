package search

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/tui/words"
)

func TestFindIsFuzzyWithSmartCase(t *testing.T) {
	const pod = "bound nginx-874bd98df-4zvsv to worker-1 (4 of 7 fit)"
	for _, c := range []struct {
		typed, text string
		found       bool
	}{
		{"", pod, true},
		{"nginx", pod, true},
		{"NGINX", pod, false},
		{"Ready", "worker-1 is Ready", true},
		{"ready", "worker-1 is Ready", true},
		{"Ready", "not ready", false},
		{"ngx", pod, true},       // letters left out
		{"ngx4z", pod, true},     // parts of a name
		{"wk1", pod, true},       // the start of a part
		{"to worker", pod, true}, // a phrase
		{"tgf", pod, false},      // letters of several words
		{"zq", pod, false},       // not there
		{"gn", "nginx", false},   // the wrong order
		{"nz", pod, false},       // too short for letters
		{"лидер", "стал Лидером", true},
		{strings.Repeat("x", 300), pod, false},
	} {
		if _, ok := Find(c.typed, c.text); ok != c.found {
			t.Errorf("%q in %q: %v", c.typed, c.text, ok)
		}
	}
}

func TestABetterMatchScoresHigher(t *testing.T) {
	order := []string{"pods", "pods of nginx", "static pods", "tripods", "p-o-d-s"}
	last := 1 << 30
	for _, text := range order {
		h, ok := Find("pods", text)
		if !ok || h.Score >= last {
			t.Errorf("%q scores %d (%v), the better one before it %d", text, h.Score, ok, last)
		}
		last = h.Score
	}
}

func TestMarksShowWhereItMatched(t *testing.T) {
	q, _ := Parse(`nginx !gone "is Ready" ngx`, nil)
	const text = "nginx-1 is Ready"
	var got []string
	for _, m := range q.Marks(text) {
		got = append(got, text[m[0]:m[1]])
	}
	if strings.Join(got, "|") != "nginx|is Ready" {
		t.Errorf("%q", got)
	}
}

var fields = []Field{{Name: "by"}, {Name: "about"}, {Name: "kind"}, {Name: "actor"}, {Name: "weight", Values: []string{"headline", "notable"}}, {Name: "since", Span: true}}

func thing(name string) []string {
	return map[string][]string{"by": {"scheduler"}, "about": {"pod/nginx-1", "default/nginx-1"}, "kind": {"Pod"}, "actor": {"scheduler/master-3"}, "weight": {"notable"}}[name]
}

func TestAllTermsOfAQueryMustMatch(t *testing.T) {
	for query, want := range map[string]bool{
		"":                                      true,
		"bound":                                 true,
		"bound nginx":                           true,
		"bound web":                             false,
		"by:scheduler":                          true,
		"by:sched":                              true,
		"by:kubelet":                            false,
		"by:kubelet,scheduler":                  true,
		"about:pod/nginx*":                      true,
		"about:pod/web*":                        false,
		"about:default/nginx-1":                 true,
		"kind:pod":                              true,
		"kind:Deployment":                       false,
		"actor:scheduler/master-3":              true,
		"weight:notable":                        true,
		"weight:headline":                       false,
		"!web":                                  true,
		"!bound":                                false,
		"!bnd":                                  true, // what is kept out must really be there
		"!by:scheduler":                         false,
		"!by:kubelet bound":                     true,
		`"nginx-1 to"`:                          true,
		`"to nginx-1"`:                          false,
		"since:5m":                              true, // the caller's
		"nginx:1.27":                            false,
		"by:scheduler kind:Pod about:*nginx* 1": true,
	} {
		q, wrong := Parse(query, fields)
		if wrong != nil {
			t.Errorf("%q: %v", query, wrong)
		}
		if got := q.Match("bound nginx-1 to worker-1", thing); got != want {
			t.Errorf("%q matches: %v", query, got)
		}
	}
}

func TestSpan(t *testing.T) {
	q, _ := Parse("since:5m since:30s x", fields)
	if d, ok := q.Span("since"); !ok || d != 30*time.Second {
		t.Errorf("%v %v", d, ok)
	}
}

func TestErrorsAreToldInWordsAndTheRestIsStillSearched(t *testing.T) {
	for query, want := range map[string]string{
		"by:":              "by: what should come after the colon",
		"bye:scheduler":    "no field bye: (there are about: actor: by:",
		"weight:heavy":     "weight:heavy is not known; there are headline, notable",
		"since:tomorrow":   "since:tomorrow is not a span of time",
		"since:-5m":        "since:-5m is not a span of time",
		"! nginx":          "missing after the !",
		`"is Ready`:        "a quotation mark is not closed",
		"kinds:Pod nginx":  "no field kinds:",
		"by:\x1b[31m bye:": "no field bye:",
	} {
		q, wrong := Parse(query, fields)
		if wrong == nil || !strings.Contains(wrong.Say(words.English()), want) {
			t.Errorf("%q: %v, want %q", query, wrong, want)
		}
		if strings.HasSuffix(query, "nginx") && (q.Empty() || q.Match("web", thing)) {
			t.Errorf("%q: its other words are not searched for", query)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{{"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true}, {"a*b*c", "axxbyyc", true}, {"a*b", "abc", false}, {"ab*ba", "aba", false}, {"", "", true}} {
		if got := Glob(c.pattern, c.text); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.text, got)
		}
	}
}

func FuzzParseAndMatch(f *testing.F) {
	for _, s := range []string{"by:x !y", `"`, "!", "a:b:c", "since:9999999h", "é*", "\xff"} {
		f.Add(s, "some Text with nginx-1")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, _ := Parse(query, fields)
		q.Match(text, thing)
		end := 0
		for _, m := range q.Marks(text) {
			if m[0] < end || m[1] <= m[0] || m[1] > len(text) {
				t.Errorf("%q in %q: marks %v", query, text, m)
			}
			end = m[1]
		}
	})
}

func BenchmarkFourThousandSentences(b *testing.B) {
	q, _ := Parse("ngx !gone by:scheduler", fields)
	text := "bound nginx-874bd98df-4zvsv to worker-1 (4 of 7 fit), and some more words that sentences have"
	for range b.N {
		for range 4000 {
			q.Match(text, thing)
		}
	}
}
