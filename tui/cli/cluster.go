package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
	"example.com/kubeviz/tui/term"
	"github.com/spf13/cobra"
)

// clusterFlags choose and shape a cluster, for the screen and for runs.
type clusterFlags struct {
	preset           string
	masters, workers int
	inflight         int // requests that an API server works on at once
	mutating         int // those that change something
	seed             uint64
	dataDir          string
	rate             float64
	listen           string // of the screen; empty: nobody can connect until the console opens it
	given            func(flag string) bool
}

func (f *clusterFlags) add(cmd *cobra.Command, rate float64) {
	f.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
	cmd.Flags().IntVar(&f.masters, "masters", 0, "number of masters, 1-7 (default: the preset's)")
	cmd.Flags().IntVar(&f.workers, "workers", 0, "number of workers, 0-5000 (default: the preset's)")
	cmd.Flags().IntVar(&f.inflight, "max-requests-inflight", 0, "requests that an API server works on at once, as kube-apiserver's flag (default: the preset's, 400)")
	cmd.Flags().IntVar(&f.mutating, "max-mutating-requests-inflight", 0, "and requests that change something (default: the preset's, 200)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "keep the store's data here, with fsync (default: a temporary directory)")
	cmd.Flags().Float64Var(&f.rate, "rate", rate, "simulated seconds per second, 0.1-60")
}

// scenario loads the preset or file named and applies the flags to it.
func (f *clusterFlags) scenario(name string) (scenario.Scenario, error) {
	s, err := load(name)
	if err != nil {
		return s, usageError{err}
	}
	if f.given("masters") {
		s.Cluster.Masters = f.masters
	}
	if f.given("workers") {
		s.Cluster.Workers = f.workers
	}
	if f.given("max-requests-inflight") {
		s.Cluster.APIServer.MaxRequestsInflight = f.inflight
	}
	if f.given("max-mutating-requests-inflight") {
		s.Cluster.APIServer.MaxMutatingRequestsInflight = f.mutating
	}
	if err := s.Validate(); err != nil {
		return s, usageError{err}
	}
	return s, nil
}

func (f *clusterFlags) checkRate() error {
	if f.rate < float64(sim.RateMin) || f.rate > float64(sim.RateMax) || f.rate != f.rate {
		return usageError{fmt.Errorf("--rate %g is not between %g and %g", f.rate, float64(sim.RateMin), float64(sim.RateMax))}
	}
	return nil
}

// load reads a scenario: a preset by name, or a file.
func load(name string) (scenario.Scenario, error) {
	for _, n := range presets.Names() {
		if n == name {
			return presets.Load(name)
		}
	}
	if _, err := os.Stat(name); err != nil && !strings.ContainsAny(name, "./\\") {
		_, err := presets.Load(name)
		return scenario.Scenario{}, err
	}
	return scenario.Load(name)
}

// withCluster starts a cluster, lets it be shown, and ends it. The loop has a goroutine of its own; a panic there ends what is shown first, then the program. It is opened
// before it runs; what open returns ends that, while the cluster still runs.
func withCluster(s scenario.Scenario, f clusterFlags, record string, open func(*engine.Engine) (shut func() error, err error), show func(*engine.Engine, *term.Guard) error) (err error) {
	o := engine.Options{Scenario: s, Version: version, Store: engine.StoreRaft, DataDir: f.dataDir, Seed: f.seed, Rate: sim.Rate(f.rate)}
	if self, err := os.Executable(); err == nil {
		o.StoreCheck = []string{self, storeCheck}
	}
	if record != "" {
		file, cerr := os.Create(record)
		if cerr != nil {
			return usageError{fmt.Errorf("--record: %w", cerr)}
		}
		o.Writers = append(o.Writers, journal.NewFile(file, journal.Header{Program: version, Start: time.Now()}))
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	e, err := engine.New(o)
	if err != nil {
		return err
	}
	if n := e.Notice(); n != "" {
		fmt.Fprintf(os.Stderr, "kubeviz: %s\n", n)
	}
	shut, err := open(e)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	guard := &term.Guard{}
	ended := make(chan struct{})
	guard.Go("engine", func() {
		defer close(ended)
		_ = e.Run(ctx) // ends when ctx does, and says just that
	})
	err = errors.Join(show(e, guard), shut())
	cancel()
	<-ended
	err = errors.Join(err, e.Close())
	if jerr := e.Journal().Err(); jerr != nil {
		err = errors.Join(err, fmt.Errorf("the recording is not complete: %w", jerr))
	}
	return err
}

// untilSignal is a context that a signal ends, and the number of that signal (0: none). A second signal ends the program as it always does.
func untilSignal() (ctx context.Context, signalled func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	var number atomic.Int32
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() { // bare on purpose: it cannot panic
		select {
		case s := <-signals:
			if n, ok := s.(syscall.Signal); ok {
				number.Store(int32(n))
			}
			signal.Stop(signals)
			cancel()
		case <-done:
		}
	}()
	return ctx, func() int { return int(number.Load()) }, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel()
	})
}
