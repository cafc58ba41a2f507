package tui

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/timebar"
	"example.com/kubeviz/tui/view/listview"
)

// settle runs a command and gives the model what comes of it.
func (r *rig) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if msg := cmd(); msg != nil {
		r.Update(msg)
	}
}

func saving(t *testing.T) *rig {
	r := newRig(t, fixture.Trouble(4).Records)
	r.saver.dir = t.TempDir()
	return r
}

func (r *rig) saved(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.saver.dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v (%v); the screen:\n%s", files, err, r.screen())
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.screen(), "saved ") {
		t.Errorf("nothing says so:\n%s", r.screen())
	}
	return string(data)
}

func TestTheScreenIsSavedAsTextAndAsAPicture(t *testing.T) {
	r := saving(t)
	r.settle(r.act(intent.Save{What: saveText}))
	if text := r.saved(t); !strings.Contains(text, "master-2") || strings.Contains(text, "\x1b") {
		t.Errorf("saved\n%s", text)
	}
	r = saving(t)
	r.settle(r.save(saveSVG, "map.svg"))
	if text := r.saved(t); !strings.HasPrefix(text, "<svg") || !strings.Contains(text, "master-2") {
		t.Errorf("saved\n%.200s", text)
	}
}

func TestASavedRecordingIsTheJournal(t *testing.T) {
	r := saving(t)
	r.settle(r.act(intent.Save{What: saveRecording}))
	r.saved(t)
	files, _ := filepath.Glob(filepath.Join(r.saver.dir, "*.jsonl"))
	in, err := journal.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if j.Last() != r.journal.Last() {
		t.Errorf("%d records of %d", j.Last(), r.journal.Last())
	}
	m := newModel(Options{Journal: j, Replay: true, Location: time.UTC, theme: theme.New(theme.Dark, theme.Mono)})
	m.resize(120, 40)
	m.reader.GoLive()
	m.pump(true)
	if !strings.Contains(plain(m.View()), "quorum 2 of 3") {
		t.Error("the recording's end is not the screen's")
	}
}

func TestWhatIsThereIsNotOverwritten(t *testing.T) {
	r := saving(t)
	path := filepath.Join(r.saver.dir, "mine.txt")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.settle(r.save(saveText, path))
	if data, _ := os.ReadFile(path); string(data) != "precious" {
		t.Error("it is gone")
	}
	if !strings.Contains(r.screen(), "not saved") || !strings.Contains(r.screen(), "file exists") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
	r.settle(r.save(saveText, filepath.Join(r.saver.dir, "no", "such", "folder.txt")))
	if !strings.Contains(r.screen(), "no such file or directory") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
}

func TestARecordingWithoutItsBeginningSaysSo(t *testing.T) {
	j := journal.New(journal.Options{Capacity: 1024})
	for _, rec := range fixture.Trouble(4).Records {
		j.Append(rec)
	}
	for range 40_000 {
		j.Append(event.Record{At: fixture.Start.Add(time.Hour), Actor: event.Engine, Event: event.LeaseRenewed{Namespace: "a", Lease: "b"}})
	}
	r := saving(t)
	r.journal = j
	r.settle(r.act(intent.Save{What: saveRecording}))
	if !strings.Contains(r.screen(), "from record ") {
		t.Errorf("nothing says so:\n%s", r.screen())
	}
}

func TestCopyingGoesThroughTheTerminal(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("y")
	if !r.overlay.Open() || !strings.Contains(r.screen(), "the whole screen") {
		t.Fatalf("nothing is offered:\n%s", r.screen())
	}
	r.overlay = listview.List{}
	r.act(intent.Clip{Text: "x"})
	if !strings.Contains(r.screen(), "no terminal to copy to") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
	var out bytes.Buffer
	r.saver.terminal = &out
	r.settle(r.act(intent.Clip{Text: "pod nginx\x1b[31m"}))
	if want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("pod nginx\x1b[31m")) + "\x07"; out.String() != want {
		t.Errorf("sent %q", out.String())
	}
	out.Reset()
	r.settle(r.act(intent.Clip{Text: strings.Repeat("x", clipMax+1)}))
	if out.Len() != 0 || !strings.Contains(r.screen(), "a clipboard takes") {
		t.Errorf("too much is sent, or nothing said:\n%s", r.screen())
	}
}

func TestTheMenuOfMarksNamesThem(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("t")
	for _, k := range r.sources.marks.All()[max(len(r.sources.marks.All())-3, 0):] {
		sign, _ := timebar.Sign(k.Kind)
		if !strings.Contains(r.screen(), string(sign)+" "+k.Word) {
			t.Errorf("%s is missing:\n%s", k.Word, r.screen())
		}
	}
}
