package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/kubeviz/engine/event"
)

// MaxLine is the longest line of a file in bytes. The largest object of a cluster is 1.5 MiB, and its line is little longer.
const MaxLine = 8 << 20

// MaxRecords is the most records that Load takes into memory.
const MaxRecords = 5_000_000

// Reader reads a journal file from its beginning.
type Reader struct {
	name   string
	in     *bufio.Reader
	closer io.Closer
	header Header
	line   int // number of the last line read, from 1
	last   event.Seq
	torn   string
	err    error
}

// Open opens a journal file and checks its first line. The error says what to do where the reader can do something.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	r, err := NewReader(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// NewReader reads a journal from in; name is what errors call it.
func NewReader(name string, in io.Reader) (*Reader, error) {
	r := &Reader{name: name, in: bufio.NewReaderSize(in, 64<<10)}
	text, complete, err := r.next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty; a journal begins with a header line", name)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.header); err != nil || r.header.Kubeviz != "journal" {
		if !complete && err != nil {
			return nil, r.errorf("the header is cut off; the file holds no records")
		}
		return nil, r.errorf(`this is not a kubeviz journal: the first line must be {"kubeviz":"journal","version":%d}`, FileVersion)
	}
	switch v := r.header.Version; {
	case v > FileVersion:
		return nil, r.errorf("the file has format version %d, this kubeviz reads up to version %d: open it with a newer kubeviz", v, FileVersion)
	case v < 1:
		return nil, r.errorf("the header names no format version")
	}
	return r, nil
}

// Header is the file's first line.
func (r *Reader) Header() Header { return r.header }

// Line is the number of the line read last, from 1.
func (r *Reader) Line() int { return r.line }

// Next returns the next record, io.EOF at the end. A last line that was cut off (the writer was killed) counts as the end; Torn tells of it.
func (r *Reader) Next() (event.Record, error) {
	if r.err != nil {
		return event.Record{}, r.err
	}
	rec, err := r.record()
	r.err = err
	return rec, err
}

func (r *Reader) record() (event.Record, error) {
	text, complete, err := r.next()
	if err != nil {
		return event.Record{}, err
	}
	rec, err := parseLine(text)
	switch {
	case err != nil && !complete:
		r.torn = fmt.Sprintf("%s line %d: the last line is cut off (%d bytes); it was left out", r.name, r.line, len(text))
		return event.Record{}, io.EOF
	case err != nil:
		return event.Record{}, r.errorf("%w", err)
	case r.last != 0 && rec.Seq != r.last+1:
		return event.Record{}, r.errorf("record %d follows record %d; records between them are missing or out of order", rec.Seq, r.last)
	}
	r.last = rec.Seq
	return rec, nil
}

// Torn describes a last line that was cut off, in one sentence; empty when the file ended well.
func (r *Reader) Torn() string { return r.torn }

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// next reads one line without its end; complete is false when the file ended before the line did.
func (r *Reader) next() (text []byte, complete bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > MaxLine {
			r.line++
			return nil, false, r.errorf("the line is longer than %d bytes", MaxLine)
		}
		switch {
		case err == nil:
			r.line++
			return text[:len(text)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(text) > 0:
			r.line++
			return text, false, nil
		case err == io.EOF:
			return nil, false, io.EOF
		default:
			return nil, false, fmt.Errorf("%s line %d: %w", r.name, r.line+1, err)
		}
	}
}

func (r *Reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s line %d: %w", r.name, r.line, fmt.Errorf(format, args...))
}

// Load reads all that is left of r into a journal that keeps everything and that nobody adds to.
func Load(r *Reader) (*Journal, error) {
	j := New(Options{Capacity: MaxRecords + chunkSize})
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return j, nil
		}
		if err != nil {
			return nil, err
		}
		if j.last == 0 { // a file may begin later than its cluster
			j.first, j.last = rec.Seq, rec.Seq-1
		}
		if rec.Seq-j.first >= MaxRecords {
			return nil, fmt.Errorf("%s: more than %d records; cut the file into pieces first", r.name, MaxRecords)
		}
		j.Append(rec)
	}
}
