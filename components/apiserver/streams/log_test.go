package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// box is a container that has written so many lines, one a second.
type box struct {
	lines int
	ended bool
}

func (b box) ID() string                                 { return "1" }
func (b box) OpenLog() kubeapi.Log                       { return &boxLog{} }
func (b box) Finished() bool                             { return b.ended }
func (b box) Taken() time.Time                           { return began.Add(time.Duration(b.lines) * time.Second) }
func (box) Attach(context.Context, kubeapi.Command) bool { return false }
func (box) Early() bool                                  { return false }

func (b box) Exec(_ context.Context, c kubeapi.Command) (int, error) {
	switch c.Argv[0] {
	case "cat":
		_, err := io.Copy(c.Out, c.In)
		return 0, err
	case "exit":
		fmt.Fprint(c.Err, "bye")
		return 3, nil
	}
	return 0, errors.New("no such program")
}
func (b box) Dial(int) (io.ReadWriteCloser, error) {
	return nil, errors.New("connect: connection refused")
}

type boxLog struct{ read int }

func (l *boxLog) Close() {}
func (l *boxLog) Next(c kubeapi.Container) (out []kubeapi.LogLine) {
	for ; l.read < c.(box).lines; l.read++ {
		out = append(out, kubeapi.LogLine{At: began.Add(time.Duration(l.read) * time.Second), Text: fmt.Sprintf("line %d\n", l.read), Stderr: l.read%2 == 1})
	}
	return out
}

func TestWhatIsReadOfALog(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"", "line 0\nline 1\nline 2\nline 3\n"},
		{"tailLines=1", "line 3\n"},
		{"tailLines=0", ""},
		{"sinceSeconds=2", "line 2\nline 3\n"},
		{"sinceTime=2026-01-01T01:00:03Z", "line 3\n"},
		{"limitBytes=9", "line 0\nli"},
		{"stream=Stderr", "line 1\nline 3\n"},
		{"timestamps=true&tailLines=1", "2026-01-01T01:00:03.000000000Z line 3\n"},
		{"limitBytes=0", `PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0`},
		{"tailLines=-1", `PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`},
		{"tailLines=x", `strconv.ParseInt: parsing "x": invalid syntax`},
	} {
		t.Run(c.query, func(t *testing.T) {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/?"+c.query, nil)
			o, err := ParseLog(r.URL.Query(), "p")
			if err == nil {
				err = Log(w, r, o, time.Hour, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) { return box{lines: 4}, nil })
			}
			got := w.Body.String()
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoFollowsReadsUntilTheContainerEnds(t *testing.T) {
	asked := 0
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/?follow=true", nil)
	o, err := ParseLog(r.URL.Query(), "p")
	if err == nil {
		err = Log(w, r, o, 0, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) {
			switch asked++; asked {
			case 2: // time stands still
				return nil, nil
			case 4:
				return box{lines: 4, ended: true}, nil
			}
			return box{lines: asked}, nil
		})
	}
	if want := "line 0\nline 1\nline 2\nline 3\n"; err != nil || w.Body.String() != want || asked != 4 {
		t.Errorf("%v after %d: %q", err, asked, w.Body.String())
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add("follow=true&tailLines=10&sinceTime=2026-01-01T00:00:00Z")
	f.Add("limitBytes=1&timestamps=0&stream=Stdout")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		if o, err := ParseLog(q, "p"); err == nil && (o.LimitBytes != nil && *o.LimitBytes < 1 || !strings.Contains("All Stdout Stderr", o.Stream)) {
			t.Fatalf("%q: %+v", text, o)
		}
	})
}
