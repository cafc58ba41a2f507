package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Line is one line of a history file: exactly one field is set. An Op or Watch that comes again replaces what an earlier line said of it, so that a program that may be killed can write
// down a call before it is made and again when it is answered.
type Line struct {
	Name     string        `json:"name,omitempty"`
	Op       *Op           `json:"op,omitempty"`
	Watch    *Watch        `json:"watch,omitempty"`
	Batch    *InWatch      `json:"batch,omitempty"`
	Applied  *Applied      `json:"applied,omitempty"`
	Role     *Role         `json:"role,omitempty"`
	Note     *Note         `json:"note,omitempty"`
	Final    *Final        `json:"final,omitempty"`
	Restored *Restored     `json:"restored,omitempty"`
	Complete bool          `json:"complete,omitempty"`
	Took     time.Duration `json:"took,omitempty"`
}

// InWatch is a batch of a watch that was written down before.
type InWatch struct {
	Watch int64
	Batch
}

// Lines calls yield with every line of the history.
func (h *History) Lines(yield func(Line) error) error {
	lines := []Line{{Name: h.Name}}
	for _, o := range h.Ops {
		lines = append(lines, Line{Op: o})
	}
	for _, w := range h.Watches {
		lines = append(lines, Line{Watch: w})
	}
	for i := range h.Applied {
		lines = append(lines, Line{Applied: &h.Applied[i]})
	}
	for i := range h.Roles {
		lines = append(lines, Line{Role: &h.Roles[i]})
	}
	for i := range h.Notes {
		lines = append(lines, Line{Note: &h.Notes[i]})
	}
	for i := range h.Finals {
		lines = append(lines, Line{Final: &h.Finals[i]})
	}
	if h.Restored != nil {
		lines = append(lines, Line{Restored: h.Restored})
	}
	lines = append(lines, Line{Took: h.Took, Complete: h.Complete})
	for _, l := range lines {
		if err := yield(l); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the history as JSON lines.
func (h *History) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	if err := h.Lines(func(l Line) error { return enc.Encode(l) }); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return b.Flush()
}

// Save writes the history into a new file in dir and returns its path.
func (h *History) Save(dir, name string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save history: %w", err)
	}
	path := filepath.Join(dir, name+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("save history: %w", err)
	}
	defer f.Close()
	if err := h.Write(f); err != nil {
		return "", err
	}
	return path, f.Close()
}

// Read reads what Write wrote, or what a Recorder's sink did. A last line that was cut short, as a kill does, is left out.
func Read(r io.Reader) (*History, error) {
	var g Gather
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		b, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return g.History(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		var l Line
		if err := json.Unmarshal(b, &l); err != nil {
			return nil, fmt.Errorf("read history: line %d: %w", n, err)
		}
		g.Add(l)
	}
}

// Gather puts lines together again. The zero value is ready.
type Gather struct {
	h       History
	ops     map[int64]int
	watches map[int64]int
}

// Add takes one line.
func (g *Gather) Add(l Line) {
	if g.ops == nil {
		g.ops, g.watches = make(map[int64]int), make(map[int64]int)
	}
	h := &g.h
	switch {
	case l.Op != nil:
		if i, again := g.ops[l.Op.ID]; again {
			h.Ops[i] = l.Op
			return
		}
		g.ops[l.Op.ID] = len(h.Ops)
		h.Ops = append(h.Ops, l.Op)
	case l.Watch != nil:
		if i, again := g.watches[l.Watch.ID]; again {
			l.Watch.Batches = append(h.Watches[i].Batches, l.Watch.Batches...)
			h.Watches[i] = l.Watch
			return
		}
		g.watches[l.Watch.ID] = len(h.Watches)
		h.Watches = append(h.Watches, l.Watch)
	case l.Batch != nil:
		if i, known := g.watches[l.Batch.Watch]; known {
			h.Watches[i].Batches = append(h.Watches[i].Batches, l.Batch.Batch)
		}
	case l.Applied != nil:
		h.Applied = append(h.Applied, *l.Applied)
	case l.Role != nil:
		h.Roles = append(h.Roles, *l.Role)
	case l.Note != nil:
		h.Notes = append(h.Notes, *l.Note)
	case l.Final != nil:
		h.Finals = append(h.Finals, *l.Final)
	case l.Restored != nil:
		h.Restored = l.Restored
	case l.Took > 0:
		h.Took, h.Complete = l.Took, l.Complete
	case l.Name != "":
		h.Name = l.Name
	}
}

// History returns what was gathered.
func (g *Gather) History() *History { return &g.h }
