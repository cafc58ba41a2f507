// Package headless runs a cluster without a terminal, as fast as it can, and says what became of it.
//
// Owns: Run, the Summary. Imports of ours: engine, engine/scenario, engine/world, engine/journal. Goroutines: Run is the loop of its engine until it returns. Time: the
// run's length is simulated; WallTime is real.
package headless

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/world"
)

// Options of a run.
type Options struct {
	Scenario scenario.Scenario
	// Do are further steps, after the scenario's own.
	Do []scenario.Step
	// For is the simulated length.
	For     time.Duration
	Store   string
	DataDir string
	Seed    uint64
	// Start is the simulated beginning; zero: engine.RepeatableStart.
	Start time.Time
	// Notice, when set, hears what is to be known of the data directory (engine.Engine.Notice).
	Notice func(string)
	// HeldRate is the pace at which the clock is held while the raft store is at work; 0: 1 (see engine.Options).
	HeldRate sim.Rate
	Version  string
	// Journal, if not nil, gets every record as a JSONL file.
	Journal io.Writer
	// Keep asks for the newest records in Result.Records, journal.DefaultCapacity at most.
	Keep bool
}

// DefaultFor is how long a run is when nobody says: this long, and this much beyond the last step.
const DefaultFor = 2 * time.Minute

// Result of a run: the summary and whether a command failed.
type Result struct {
	Summary Summary
	World   *world.World
	Records []event.Record
	// End is the simulated instant at which the run ended.
	End time.Time
	// Crashed are components that panicked: faults of kubeviz, never of what was asked of it.
	Crashed []event.Crashed
	// Late counts steps that lie after the end of the run and so were never given.
	Late   int
	Failed bool
}

// Run runs it.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Start.IsZero() {
		o.Start = engine.RepeatableStart
	}
	o.Scenario.Steps = append(append([]scenario.Step(nil), o.Scenario.Steps...), o.Do...)
	steps, err := o.Scenario.Timed()
	if err != nil {
		return Result{}, err
	}
	if o.For == 0 {
		o.For = DefaultFor
		if n := len(steps); n > 0 {
			o.For += steps[n-1].At
		}
	}
	late := 0
	for _, s := range steps {
		if s.At > o.For {
			late++
		}
	}
	repeatable := o.Store == engine.StoreMemory
	w := &world.World{}
	live := &fold{w: w}
	writers := []journal.Writer{live}
	var file *bufio.Writer
	if o.Journal != nil {
		file = bufio.NewWriterSize(o.Journal, 1<<16)
		writers = append(writers, journal.NewFile(file, journal.Header{Program: o.Version, Start: o.Start, Repeatable: repeatable}))
	}
	capacity := 1 << 14
	if o.Keep {
		capacity = journal.DefaultCapacity
	}
	began := time.Now()
	e, err := engine.New(engine.Options{Scenario: o.Scenario, Version: o.Version, Store: o.Store, DataDir: o.DataDir, Seed: o.Seed,
		Rate: sim.Unpaced, HeldRate: o.HeldRate, Start: o.Start, Repeatable: repeatable, Writers: writers, JournalCapacity: capacity})
	if err != nil {
		return Result{}, err
	}
	if n := e.Notice(); n != "" && o.Notice != nil {
		o.Notice(n)
	}
	runErr := e.RunFor(ctx, o.For)
	closeErr := e.Close()
	if runErr != nil {
		return Result{}, fmt.Errorf("run: %w", runErr)
	}
	if file != nil {
		if err := file.Flush(); err != nil {
			return Result{}, fmt.Errorf("write the journal: %w", err)
		}
	}
	if err := e.Journal().Err(); err != nil {
		return Result{}, fmt.Errorf("write the journal: %w", err)
	}
	if closeErr != nil {
		return Result{}, fmt.Errorf("close the store: %w", closeErr)
	}
	s := Summarize(w, time.Since(began))
	s.VirtualTime = o.For.String()
	r := Result{Summary: s, World: w, End: e.Now(), Failed: failed(w), Crashed: live.crashed, Late: late}
	if o.Keep {
		r.Records, _ = e.Journal().Read(nil, 1, capacity)
	}
	return r, nil
}

// fold keeps a world up to date with a journal that is bounded in memory.
type fold struct {
	w       *world.World
	crashed []event.Crashed
}

func (f *fold) Write(r event.Record) error {
	if c, ok := r.Event.(event.Crashed); ok {
		f.crashed = append(f.crashed, c)
	}
	f.w.Apply(r)
	return nil
}

func failed(w *world.World) bool {
	for _, c := range w.Commands {
		if c.Error != "" {
			return true
		}
	}
	return false
}
