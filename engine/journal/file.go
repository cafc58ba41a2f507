package journal

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"example.com/kubeviz/engine/event"
)

// FileVersion is the version of the file format that this program writes, and the newest it reads.
const FileVersion = 1

// Header is the first line of a journal file.
type Header struct {
	// Kubeviz is "journal": what the file is.
	Kubeviz string `json:"kubeviz"`
	Version int    `json:"version"`
	// Program is the version of the program that wrote the file; for people.
	Program string `json:"program,omitempty"`
	// Start is the simulated instant at which the journal begins.
	Start time.Time `json:"start,omitzero"`
	// Repeatable: no wall time is in the file; the same scenario and seed make the same bytes.
	Repeatable bool `json:"repeatable,omitempty"`
}

// FileWriter writes a journal file. Every line is one Write on what is below, so a program that is killed loses at most the end of its last line; where that
// is too slow, put a bufio.Writer below and flush it at the end.
type FileWriter struct {
	w   io.Writer
	buf bytes.Buffer
	err error
}

var _ Writer = (*FileWriter)(nil)

// NewFile makes a writer that puts the header and then every record on w, one JSON object a line. Kubeviz and Version of the header are filled in here. An
// error in writing the header comes back from the first Write.
func NewFile(w io.Writer, h Header) *FileWriter {
	h.Kubeviz, h.Version = "journal", FileVersion
	if !h.Start.IsZero() {
		h.Start = h.Start.UTC().Round(0)
	}
	f := &FileWriter{w: w}
	head, err := marshal(h)
	if err == nil {
		_, err = w.Write(append(head, '\n'))
	}
	f.fail(err)
	return f
}

// Write adds one record. After an error nothing more is written and every call returns it.
func (f *FileWriter) Write(r event.Record) error {
	if f.err != nil {
		return f.err
	}
	f.buf.Reset()
	if f.err = appendRecord(&f.buf, r); f.err != nil {
		return f.err
	}
	if f.buf.Len() > MaxLine {
		f.err = fmt.Errorf("journal: write record %d (%s): its line of %d bytes is longer than the %d allowed", r.Seq, r.Event.Name(), f.buf.Len(), MaxLine)
		return f.err
	}
	_, err := f.w.Write(f.buf.Bytes())
	return f.fail(err)
}

// Err is the first error of the writer.
func (f *FileWriter) Err() error { return f.err }

func (f *FileWriter) fail(err error) error {
	if err != nil {
		f.err = fmt.Errorf("journal: write file: %w", err)
	}
	return f.err
}
