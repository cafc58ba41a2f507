package tui

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/theme"
)

// saver writes files and the clipboard.
type saver struct {
	dir      string    // for files without a folder; empty: the working directory
	terminal io.Writer // takes whole sequences between frames; nil: there is no terminal
	record   string    // file that the journal is written to anyway
	lost     bool      // the recording cannot be written, and that was said
	busy     bool      // a recording is being written
}

func newSaver(o Options) saver { return saver{dir: o.SaveDir, terminal: o.terminal, record: o.Record} }

// savedMsg says what became of a file.
type savedMsg struct {
	path  string
	bytes int64
	first event.Seq // of the records in it
	err   error
}

// The kinds of files.
const (
	saveText      = "text"
	saveSVG       = "svg"
	saveRecording = "recording"
)

// suffix of a kind of file.
var suffix = map[string]string{saveText: ".txt", saveSVG: ".svg", saveRecording: ".jsonl"}

// save writes a file; path empty: under a name of its own that is free.
func (m *model) save(what, path string) tea.Cmd {
	if path == "" {
		path = "kubeviz-" + m.clock().Format("20060102-150405") + suffix[what]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.saver.dir, path)
	}
	if what == saveRecording {
		if m.saver.busy {
			m.say(m.words.Say("not.saving"), theme.Waiting)
			return nil
		}
		m.saver.busy = true
		j, version := m.journal, m.version
		return func() tea.Msg { return saveJournal(j, version, path) }
	}
	m.draw()
	text := m.grid.Render(nil, m.ascii)
	if what == saveSVG {
		text = svg(m.grid, m.theme, m.ascii)
	}
	m.dirty = true
	return func() tea.Msg {
		n, err := writeNew(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		return savedMsg{path: path, bytes: n, err: err}
	}
}

// saveJournal writes what is in memory of a journal as a recording.
func saveJournal(j *journal.Journal, version, path string) savedMsg {
	first, last := j.First(), j.Last()
	start, ok := j.Get(first)
	if !ok {
		return savedMsg{path: path, err: errors.New("nothing has been recorded yet")}
	}
	n, err := writeNew(path, func(w io.Writer) error {
		f := journal.NewFile(w, journal.Header{Program: version, Start: start.At})
		for seq := first; seq <= last; {
			recs, lost := j.Read(nil, seq, 4096)
			for _, r := range recs {
				if r.Seq > last {
					break
				}
				if err := f.Write(r); err != nil {
					return err
				}
			}
			if len(recs) == 0 {
				break
			}
			seq += event.Seq(lost + len(recs))
		}
		return f.Err()
	})
	return savedMsg{path: path, bytes: n, first: first, err: err}
}

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(path string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(write(b), b.Flush()); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	return size, f.Close()
}

// saved says what became of a file.
func (m *model) saved(s savedMsg) {
	m.saver.busy = false
	switch {
	case s.err != nil:
		m.say(m.words.Say("toast.save-failed", "error", s.err.Error()), theme.Failing)
	case s.first > 1:
		m.say(m.words.Say("toast.saved-part", "path", s.path, "first", uint64(s.first)), theme.Waiting)
	default:
		m.say(m.words.Say("toast.saved", "path", s.path, "size", size(s.bytes)), theme.OK)
	}
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// clipMax bounds what is put on the clipboard in bytes: terminals drop longer sequences. Source: xterm and tmux take about 100 kB.
const clipMax = 74_000

// clip puts a text on the clipboard of the terminal by OSC 52. Whether the terminal allows it, it does not say.
func (m *model) clip(text string) tea.Cmd {
	switch {
	case m.saver.terminal == nil:
		m.say(m.words.Say("not.no-terminal"), theme.Waiting)
		return nil
	case len(text) > clipMax:
		m.say(m.words.Say("not.too-long", "n", len(text), "max", clipMax), theme.Waiting)
		return nil
	}
	m.say(m.words.Say("toast.copied", "n", len([]rune(text))), theme.OK)
	out := m.saver.terminal
	return func() tea.Msg {
		_, _ = io.WriteString(out, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\x07")
		return nil
	}
}
