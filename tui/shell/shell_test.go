package shell

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestALineIsReadAsAShellReadsIt(t *testing.T) {
	for line, want := range map[string]Line{
		`kubectl get pods`:                            {Words: []string{"kubectl", "get", "pods"}},
		`k  get   pods -l 'app in (a,b)'`:             {Words: []string{"k", "get", "pods", "-l", "app in (a,b)"}},
		`k get pod -o jsonpath='{.items[*].name}'`:    {Words: []string{"k", "get", "pod", "-o", "jsonpath={.items[*].name}"}},
		`k get pod -o jsonpath={.items[*].name}`:      {Words: []string{"k", "get", "pod", "-o", "jsonpath={.items[*].name}"}},
		`k run x -- sh -c "echo \"hi\" \n a\ b"`:      {Words: []string{"k", "run", "x", "--", "sh", "-c", `echo "hi" \n a\ b`}},
		`k get a\ b ""`:                               {Words: []string{"k", "get", "a b", ""}},
		`k get pods --field-selector status.phase!=R`: {Words: []string{"k", "get", "pods", "--field-selector", "status.phase!=R"}},
	} {
		if got, err := Parse(line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q %+v %v", line, got.Words, got.Pipe, err)
		}
	}
}

func TestWhatOnlyAShellCanDoIsToldByName(t *testing.T) {
	for line, want := range map[string]string{
		`k get 'pods`:                "shell.quote",
		`k get "pods`:                "shell.quote",
		"k get `":                    "shell.quote",
		`k get pods > f`:             "shell.redirect",
		`k get pods 2>&1`:            "shell.redirect",
		`k apply -f - < f`:           "shell.stdin",
		`k apply -f - <<< x`:         "shell.stdin",
		`k get pods | jq .`:          "shell.pipe",
		`k get pods | sort`:          "shell.pipe",
		`k get pods | grep a | wc`:   "shell.pipe-flag",
		`k get pods | grep -r a`:     "shell.pipe-flag",
		`k get pods | grep a b`:      "shell.pipe-flag",
		`k get pods | grep`:          "shell.pipe-flag",
		`k get pods | head -c 3`:     "shell.pipe-flag",
		`k get pods | tail -f`:       "shell.pipe-flag",
		`k get pods | grep 'a\(b'`:   "shell.regexp",
		`k get pods | grep '[a'`:     "shell.regexp",
		`k get pods; k get nodes`:    "shell.only",
		`k get pods && k get nodes`:  "shell.only",
		`k get pods &`:               "shell.only",
		`A=b k get pods`:             "shell.only",
		`k get $X`:                   "shell.dollar",
		`k get "$(id)"`:              "shell.dollar",
		strings.Repeat("x", 1<<13):   "shell.long",
		`for i in a; do k get; done`: "shell.only",
	} {
		var wrong *Error
		if l, err := Parse(line); !errors.As(err, &wrong) || wrong.Key != want {
			t.Errorf("%.30s: %+v %v, want %s", line, l, err, want)
		}
	}
}

func TestTheLastWordOfALineThatIsBeingWritten(t *testing.T) {
	for line, want := range map[string]struct {
		before     []string
		last, head string
		ok         bool
	}{
		"kubectl ":             {[]string{"kubectl"}, "", "kubectl ", true},
		"kubectl get po":       {[]string{"kubectl", "get"}, "po", "kubectl get ", true},
		"k get -l 'a b' --nam": {[]string{"k", "get", "-l", "a b"}, "--nam", "k get -l 'a b' ", true},
		"k":                    {nil, "k", "", true},
		"k get 'po":            {},
		"k get 'a po":          {},
		"k get pods | gr":      {},
	} {
		before, last, head, ok := Last(line)
		if !reflect.DeepEqual(before, want.before) || last != want.last || head != want.head || ok != want.ok {
			t.Errorf("%q: %q %q %q %v", line, before, last, head, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "k get pods", `k "a`, "k | grep x", "k <<E", "k $((1))", "{a,b}", "\xff", "a\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if l, err := Parse(s); err == nil && len(l.Words) == 0 {
			t.Errorf("%q: no words and no error", s)
		}
		Last(s)
	})
}
