// Command kubeviz shows a whole Kubernetes cluster as a live model that can be looked into and broken.
//
// This file turns flags into one of: the screen, a headless run, a replay, the list of presets. It decides nothing else.
package main

import (
	_ "example.com/kubeviz/tui/bgfix" // before Bubble Tea: see there

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
	"example.com/kubeviz/tui"
	"example.com/kubeviz/tui/term"
)

// version of kubeviz.
const version = "0.1.0"

// usageError is a mistake in how the program was called: exit 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitError ends the program with a code of its own and prints nothing more.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	cmd := rootCommand()
	cmd.SetArgs(args)
	err := cmd.Execute()
	var code exitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "kubeviz: %v\n", err)
		return 2
	}
	fmt.Fprintf(os.Stderr, "kubeviz: %v\n", err)
	return 1
}

// clusterFlags choose and shape a cluster, for the screen and for runs.
type clusterFlags struct {
	preset           string
	masters, workers int
	seed             uint64
	dataDir          string
	rate             float64
	given            func(flag string) bool
}

func (f *clusterFlags) add(cmd *cobra.Command, rate float64) {
	f.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
	cmd.Flags().IntVar(&f.masters, "masters", 0, "number of masters, 1-7 (default: the preset's)")
	cmd.Flags().IntVar(&f.workers, "workers", 0, "number of workers, 0-5000 (default: the preset's)")
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

func rootCommand() *cobra.Command {
	var f clusterFlags
	var record string
	var screen screenFlags
	root := &cobra.Command{
		Use:   "kubeviz",
		Short: "A Kubernetes cluster as a live model that you can look inside and break",
		Long: `kubeviz runs a whole Kubernetes cluster inside this program and shows it at work: API servers, a store
replicated by Raft, scheduler, controllers, kubelets and containers. Kill masters, cut workers off,
and watch the election and the pods move. Nothing on your machine or network is touched.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; see kubeviz --help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkRate(); err != nil {
				return err
			}
			s, err := f.scenario(f.preset)
			if err != nil {
				return err
			}
			return live(s, f, record, screen)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.Flags().StringVar(&f.preset, "preset", presets.Default, "cluster to start: "+strings.Join(presets.Names(), ", ")+", or a scenario file")
	f.add(root, 10)
	root.Flags().StringVar(&record, "record", "", "write the journal of the session to this file")
	screen.add(root)
	root.SetVersionTemplate("kubeviz {{.Version}}\n")
	root.AddCommand(runCommand(), replayCommand(), presetsCommand())
	return root
}

// screenFlags shape what is drawn.
type screenFlags struct {
	theme          string
	noColor, ascii bool
}

func (f *screenFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "dark", "dark, light or contrast")
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "no colours (NO_COLOR in the environment does the same)")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "ASCII symbols only")
}

// live runs a cluster and shows it. The loop has a goroutine of its own; a panic there ends the screen first, then the program.
func live(s scenario.Scenario, f clusterFlags, record string, screen screenFlags) (err error) {
	if _, err := term.Open(os.Stdin, os.Stdout, os.Getenv); err != nil { // before anything is started
		return noTerminal(err)
	}
	o := engine.Options{Scenario: s, Version: version, Store: engine.StoreRaft, DataDir: f.dataDir, Seed: f.seed, Rate: sim.Rate(f.rate)}
	if record != "" {
		file, err := os.Create(record)
		if err != nil {
			return usageError{fmt.Errorf("--record: %w", err)}
		}
		o.Writers = append(o.Writers, journal.NewFile(file, journal.Header{Program: version, Start: time.Now()}))
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	e, err := engine.New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	guard := &term.Guard{}
	ended := make(chan struct{})
	guard.Go("engine", func() {
		defer close(ended)
		_ = e.Run(ctx) // ends when ctx does, and says just that
	})
	err = tui.Run(context.Background(), tui.Options{Cluster: e, Guard: guard, Theme: screen.theme, NoColor: screen.noColor, ASCII: screen.ascii})
	cancel()
	<-ended
	err = errors.Join(err, e.Close())
	if jerr := e.Journal().Err(); jerr != nil {
		err = errors.Join(err, fmt.Errorf("the recording is not complete: %w", jerr))
	}
	return screenEnd(err)
}

// screenEnd turns how the screen ended into how the program ends.
func screenEnd(err error) error {
	var signalled *term.SignalError
	var none *term.NoTerminalError
	switch {
	case errors.As(err, &signalled):
		return exitError(signalled.Code())
	case errors.As(err, &none):
		return noTerminal(none)
	}
	return err
}

func noTerminal(err error) error {
	return usageError{err}
}

func replayCommand() *cobra.Command {
	var screen screenFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show a recorded journal on the screen",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("replay takes one journal file, got %d", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := journal.Open(args[0])
			if err != nil {
				return usageError{err}
			}
			j, err := journal.Load(r)
			if err = errors.Join(err, r.Close()); err != nil {
				return usageError{err}
			}
			if torn := r.Torn(); torn != "" {
				fmt.Fprintf(os.Stderr, "kubeviz: %s\n", torn)
			}
			return screenEnd(tui.Run(context.Background(), tui.Options{Journal: j, Replay: true, Theme: screen.theme, NoColor: screen.noColor, ASCII: screen.ascii}))
		},
	}
	screen.add(cmd)
	return cmd
}

func runCommand() *cobra.Command {
	var f clusterFlags
	var do []string
	var length time.Duration
	var store, output, start string
	var files runFiles
	cmd := &cobra.Command{
		Use:   "run [PRESET|FILE]",
		Short: "Run a cluster without a screen, as fast as it can, and print what became of it",
		Example: `  kubeviz run ha --do '60s kill leader' --for 5m
  kubeviz run ha --do '60s cut worker-1 all' --do '8m heal' --for 10m -o json
  kubeviz run --store memory --seed 7 --journal seven.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("run takes one preset or file, got %d", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkRate(); err != nil {
				return err
			}
			name := presets.Default
			if len(args) == 1 {
				name = args[0]
			}
			s, err := f.scenario(name)
			if err != nil {
				return err
			}
			o := headless.Options{Scenario: s, For: length, Store: store, DataDir: f.dataDir, Seed: f.seed, HeldRate: sim.Rate(f.rate), Version: version}
			if cmd.Flags().Changed("for") && length <= 0 || length > 1000*time.Hour {
				return usageError{fmt.Errorf("--for %s is not above 0 and up to 1000h", length)}
			}
			if store != engine.StoreRaft && store != engine.StoreMemory {
				return usageError{fmt.Errorf("--store %q is neither raft nor memory", store)}
			}
			if store == engine.StoreMemory && f.dataDir != "" {
				return usageError{errors.New("--store memory keeps nothing, so --data-dir does nothing; leave one of them out")}
			}
			if output != "text" && output != "json" {
				return usageError{fmt.Errorf("-o %q is neither text nor json", output)}
			}
			if o.Do, err = steps(do); err != nil {
				return usageError{err}
			}
			if start != "" {
				if o.Start, err = time.Parse(time.RFC3339, start); err != nil {
					return usageError{fmt.Errorf("--start %q is not an instant such as 2026-01-31T12:00:00Z", start)}
				}
			}
			if err := files.check(); err != nil {
				return usageError{err}
			}
			return headlessRun(cmd, o, files, output)
		},
	}
	f.add(cmd, 1)
	cmd.Flags().Lookup("rate").Usage = "pace at which simulated time is held while the raft store elects or commits, 0.1-60"
	cmd.Flags().DurationVar(&length, "for", 0, "simulated length of the run (default 2m, or 2m beyond the last step)")
	cmd.Flags().StringArrayVar(&do, "do", nil, "'AT COMMAND': give a command at a simulated time since the start, e.g. '60s kill leader' (repeatable)")
	cmd.Flags().StringVar(&store, "store", engine.StoreRaft, "raft, or memory: no raft, the same seed gives the same journal byte for byte")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&files.journal, "journal", "", "write the journal to this file (replay it with kubeviz replay)")
	cmd.Flags().StringVar(&files.frame, "frame", "", "draw the screen at the end of the run into this file, .svg or .txt")
	cmd.Flags().StringVar(&files.size, "size", "120x40", "size of the frame in columns and rows")
	cmd.Flags().StringVar(&start, "start", "", "simulated instant of the beginning, RFC 3339 (default 2026-01-01T00:00:00Z)")
	return cmd
}

// steps reads --do values.
func steps(do []string) ([]scenario.Step, error) {
	var out []scenario.Step
	for _, d := range do {
		at, words, ok := strings.Cut(strings.TrimSpace(d), " ")
		if !ok {
			return nil, fmt.Errorf("--do %q: write 'AT COMMAND', such as '60s kill leader'", d)
		}
		if _, err := scenario.ParseStep(at, words); err != nil {
			return nil, fmt.Errorf("--do %q: %w", d, err)
		}
		out = append(out, scenario.Step{At: at, Do: words})
	}
	return out, nil
}

// runFiles are what a run writes beside its summary.
type runFiles struct {
	journal, frame, size string
	w, h                 int
}

// check reads the size and refuses frames of a form that is not known.
func (f *runFiles) check() error {
	columns, rows, _ := strings.Cut(f.size, "x")
	var werr, herr error
	f.w, werr = strconv.Atoi(columns)
	f.h, herr = strconv.Atoi(rows)
	if werr != nil || herr != nil || f.w < 60 || f.h < 16 || f.w > 500 || f.h > 500 {
		return fmt.Errorf("--size %q is not COLUMNSxROWS between 60x16 and 500x500, such as 120x40", f.size)
	}
	if ext := filepath.Ext(f.frame); f.frame != "" && ext != ".svg" && ext != ".txt" {
		return fmt.Errorf("--frame %q ends in neither .svg nor .txt", f.frame)
	}
	return nil
}

// draw writes the frame.
func (f *runFiles) draw(to io.Writer, records []event.Record, now time.Time) error {
	still := tui.Still{W: f.w, H: f.h, Plain: true, Now: now}
	picture := tui.SVG
	if filepath.Ext(f.frame) == ".txt" {
		picture = tui.Snapshot
	}
	_, err := io.WriteString(to, picture(records, still)+"\n")
	return err
}

func headlessRun(cmd *cobra.Command, o headless.Options, files runFiles, output string) (err error) {
	o.Keep = files.frame != ""
	if files.journal != "" {
		file, cerr := os.Create(files.journal)
		if cerr != nil {
			return usageError{fmt.Errorf("--journal: %w", cerr)}
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		o.Journal = file
	}
	var frame *os.File
	if files.frame != "" { // before the run: a place that cannot be written is told at once
		file, cerr := os.Create(files.frame)
		if cerr != nil {
			return usageError{fmt.Errorf("--frame: %w", cerr)}
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		frame = file
	}
	ctx, signalled, stop := untilSignal()
	defer stop()
	r, err := headless.Run(ctx, o)
	if err != nil {
		if n := signalled(); n != 0 && errors.Is(err, context.Canceled) {
			return exitError(128 + n)
		}
		return err
	}
	if frame != nil {
		if err := files.draw(frame, r.Records, r.End); err != nil {
			return fmt.Errorf("--frame: %w", err)
		}
	}
	if err := print(cmd.OutOrStdout(), r.Summary, output); err != nil {
		return err
	}
	if len(r.Crashed) > 0 {
		c := r.Crashed[0]
		return fmt.Errorf("a component panicked, which is a fault of kubeviz: %s: %s\n%s", c.Who, c.Value, c.Stack)
	}
	if r.Failed {
		return exitError(1)
	}
	return nil
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

func print(w io.Writer, s headless.Summary, output string) error {
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	return headless.WriteText(w, s)
}

func presetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "presets",
		Short: "List the clusters that come with kubeviz",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("presets takes no arguments, got %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range presets.Names() {
				s, err := presets.Load(n)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", n, s.Description); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
