package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
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
}

// FileWriter writes a journal file. It buffers: Flush before anybody else looks at the file.
type FileWriter struct {
	w    *bufio.Writer
	buf  bytes.Buffer
	head []byte // not yet written
	err  error
}

var _ Writer = (*FileWriter)(nil)

// NewFile makes a writer that puts the header and then every record on w, one JSON object a line. Kubeviz and Version of the header are filled in here.
func NewFile(w io.Writer, h Header) *FileWriter {
	h.Kubeviz, h.Version = "journal", FileVersion
	if !h.Start.IsZero() {
		h.Start = h.Start.UTC().Round(0)
	}
	head, err := json.Marshal(h)
	return &FileWriter{w: bufio.NewWriterSize(w, 64<<10), head: append(head, '\n'), err: err}
}

// Write adds one record. After an error nothing more is written and every call returns it.
func (f *FileWriter) Write(r event.Record) error {
	f.begin()
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

// Flush hands everything written so far to the underlying writer.
func (f *FileWriter) Flush() error {
	f.begin()
	if f.err != nil {
		return f.err
	}
	return f.fail(f.w.Flush())
}

func (f *FileWriter) begin() {
	if f.head == nil || f.err != nil {
		return
	}
	_, err := f.w.Write(f.head)
	f.head = nil
	f.fail(err)
}

func (f *FileWriter) fail(err error) error {
	if err != nil {
		f.err = fmt.Errorf("journal: write file: %w", err)
	}
	return f.err
}
