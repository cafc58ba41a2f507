package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Each contender lives in a process of its own, so that neither pays for the other's garbage and the memory of each can be read. The parent
// tells one at a time what to do, as a line of JSON, and gets a line back.

// order is what a contender is told to do.
type order struct {
	Do      string
	Writers int           // write
	For     time.Duration // write
	Count   int           // hold: keys; watch: watches; read: reads
}

// reply is what came of it. Durations are in nanoseconds.
type reply struct {
	Err string
	// Writes in Elapsed, and the latencies that half and 99 % of them stayed below.
	Writes   int
	Elapsed  time.Duration
	P50, P99 time.Duration
	// Processor is how long processors were busy with it.
	Processor time.Duration
	// Outage is from the kill of the leader to the first acknowledged write.
	Outage time.Duration
	// Heap is what the program's live objects take after a collection, Resident what the system counts for the process then.
	Heap, Resident uint64
	// Delivered events.
	Delivered int
}

// child is a contender's process, as the parent sees it.
type child struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	dir  string
}

// spawn starts a contender on a new folder below base.
func spawn(name, base string, sync bool) (*child, error) {
	dir, err := os.MkdirTemp(base, "bench-"+name+"-")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, dir: dir, cmd: exec.Command(self, "-contender", name, "-dir", dir, fmt.Sprintf("-sync=%t", sync))}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(out)
	return c, c.cmd.Start()
}

func (c *child) tell(o order) (reply, error) {
	var r reply
	if err := json.NewEncoder(c.in).Encode(o); err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := c.out.Decode(&r); err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	if r.Err != "" {
		return r, fmt.Errorf("%s: %s: %s", c.name, o.Do, r.Err)
	}
	return r, nil
}

// end stops the process and deletes its folder.
func (c *child) end() error {
	c.in.Close()
	return errors.Join(c.cmd.Wait(), os.RemoveAll(c.dir))
}

// serve is the child's side: it opens the contender and does what it is told until its input ends.
func serve(name, dir string, sync bool) error {
	s, err := open(name, dir, sync)
	if err != nil {
		return err
	}
	ctx := context.Background()
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		r, err := obey(ctx, s, o)
		if err != nil {
			r.Err = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return s.close()
}

func obey(ctx context.Context, s contender, o order) (reply, error) {
	switch o.Do {
	case "write":
		return write(ctx, s, o.Writers, o.For)
	case "read":
		return read(ctx, s, o.Writers, o.For)
	case "fail over":
		return failOver(ctx, s)
	case "hold":
		return hold(ctx, s, o.Count)
	case "watch":
		return fanOut(ctx, s, o.Count, o.For)
	}
	return reply{}, fmt.Errorf("unknown order %q", o.Do)
}
