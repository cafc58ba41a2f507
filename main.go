// Command kubeviz shows a whole Kubernetes cluster as a live model that can be looked into and broken.
//
// This file turns flags into one of: the screen, a narrated run, a headless run, a replay, the list of presets, facts about the place. It decides nothing else.
package main

import (
	_ "example.com/kubeviz/tui/bgfix" // before Bubble Tea: see there
	"k8s.io/klog/v2"

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

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"example.com/kubeviz/components/kubectl/real"
	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
	"example.com/kubeviz/tui"
	"example.com/kubeviz/tui/aloud"
	"example.com/kubeviz/tui/info"
	"example.com/kubeviz/tui/settings"
	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
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
	quieten()
	os.Exit(run(os.Args[1:]))
}

// quieten keeps what Kubernetes' libraries log off the terminal: it is nothing that users asked for, and it would tear the screen.
func quieten() { klog.SetLogger(logr.Discard()) }

// storeCheck is the word with which the program calls itself to check a file of the store; nobody else does.
const storeCheck = "store-check"

func run(args []string) int {
	if len(args) == 2 && args[0] == storeCheck {
		return engine.StoreCheck(args[1], os.Stdout)
	}
	if len(args) > 0 && args[0] == real.Child {
		return real.Main(args[1:])
	}
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
			user, err := screen.settings()
			if err != nil {
				return err
			}
			if user.Rate != 0 && !f.given("rate") {
				f.rate = user.Rate
			}
			if screen.narrate {
				return narrated(s, f, record, user)
			}
			return live(s, f, record, user)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.Flags().StringVar(&f.preset, "preset", presets.Default, "cluster to start: "+strings.Join(presets.Names(), ", ")+", or a scenario file")
	f.add(root, 10)
	root.Flags().StringVar(&record, "record", "", "write the journal of the session to this file")
	screen.add(root)
	root.SetVersionTemplate("kubeviz {{.Version}}\n")
	root.AddCommand(runCommand(), serveCommand(), replayCommand(), presetsCommand(), infoCommand(), kubectlCommand())
	return root
}

// screenFlags shape what is drawn: settings of the same names, and shorter ways to say some.
type screenFlags struct {
	cmd              *cobra.Command
	noColor, reduced bool
	narrate          bool
}

func (f *screenFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().String("theme", "dark", "auto, "+strings.Join(theme.Names(), ", ")+", or a theme of your own (kubeviz info names the folder)")
	cmd.Flags().String("lang", "", "language: "+strings.Join(words.Languages(), " or ")+" (default: by the locale)")
	cmd.Flags().String("color", "auto", "colours: "+strings.Join(theme.Modes(), ", "))
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "the same as --color never")
	cmd.Flags().Bool("ascii", false, "ASCII symbols only (default: when the locale is not UTF-8)")
	cmd.Flags().String("motion", "full", "full, or reduced: nothing moves by itself")
	cmd.Flags().BoolVar(&f.reduced, "reduced-motion", false, "the same as --motion reduced")
	cmd.Flags().Bool("mouse", true, "take the mouse; --mouse=false leaves it to the terminal, to select text")
	cmd.Flags().BoolVar(&f.narrate, "narrate", false, "no screen: print the story as plain lines, for screen readers, and take commands from standard input")
}

// settings in force: flags, then the environment, then the file. A mistake in them ends the program before anything starts.
func (f *screenFlags) settings() (*settings.Settings, error) {
	given := map[string]string{}
	for _, name := range []string{"theme", "lang", "color", "ascii", "motion", "mouse"} {
		if f.cmd.Flags().Changed(name) {
			given[name] = f.cmd.Flags().Lookup(name).Value.String()
		}
	}
	if f.noColor && given["color"] == "" {
		given["color"] = "never"
	}
	if f.reduced && given["motion"] == "" {
		given["motion"] = "reduced"
	}
	s, err := settings.Resolve(settings.Machine(given))
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// screenOptions are the settings as the screen takes them.
func screenOptions(s *settings.Settings) tui.Options {
	return tui.Options{Version: version, Theme: s.Theme, Palette: s.Named, Color: s.Color, NoColor: s.Depth == theme.Mono, ASCII: s.ASCII, Still: s.Still, NoMouse: !s.Mouse, NoHint: !s.Hint,
		Words: s.Words, Keys: s.Keys}
}

// live runs a cluster and shows it on the screen.
func live(s scenario.Scenario, f clusterFlags, record string, user *settings.Settings) error {
	if _, err := term.Open(os.Stdin, os.Stdout, os.Getenv); err != nil { // before anything is started
		return noTerminal(err)
	}
	return withCluster(s, f, record, func(e *engine.Engine, guard *term.Guard) error {
		show := screenOptions(user)
		show.Cluster, show.Guard, show.Record = e, guard, record
		return screenEnd(tui.Run(context.Background(), show))
	})
}

// narrated runs a cluster and tells of it in lines.
func narrated(s scenario.Scenario, f clusterFlags, record string, user *settings.Settings) error {
	return withCluster(s, f, record, func(e *engine.Engine, guard *term.Guard) error {
		ctx, signalled, stop := untilSignal()
		defer stop()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		guard.OnPanic(cancel)
		err := aloud.Run(ctx, e, user.Words, guard, os.Stdin, os.Stdout)
		if crash := guard.Crash(""); crash != nil {
			return crash
		}
		if n := signalled(); err == nil && n != 0 {
			return exitError(128 + n)
		}
		return err
	})
}

// withCluster starts a cluster, lets it be shown, and ends it. The loop has a goroutine of its own; a panic there ends what is shown first, then the program.
func withCluster(s scenario.Scenario, f clusterFlags, record string, show func(*engine.Engine, *term.Guard) error) error {
	return withOpenCluster(s, f, record, nil, show)
}

// withOpenCluster is withCluster for one that is opened before it runs; what open returns ends that, while the cluster still runs. A nil open opens nothing.
func withOpenCluster(s scenario.Scenario, f clusterFlags, record string, open func(*engine.Engine) (shut func() error, err error), show func(*engine.Engine, *term.Guard) error) (err error) {
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
	shut := func() error { return nil }
	if open != nil {
		if shut, err = open(e); err != nil {
			return errors.Join(err, e.Close())
		}
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
	var files pictureFlags
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
			user, err := screen.settings()
			if err != nil {
				return err
			}
			if err := files.check(); err != nil {
				return usageError{err}
			}
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
			if screen.narrate {
				return aloud.Replay(j, user.Words, os.Stdout)
			}
			if files.frame != "" {
				return drawReplay(j, &files, user)
			}
			show := screenOptions(user)
			show.Journal, show.Replay = j, true
			return screenEnd(tui.Run(context.Background(), show))
		},
	}
	screen.add(cmd)
	files.add(cmd, "instead of showing it")
	return cmd
}

// drawReplay writes a picture of a recording, in the user's theme and language.
func drawReplay(j *journal.Journal, files *pictureFlags, user *settings.Settings) (err error) {
	records, _ := j.Read(nil, j.First(), int(j.Last()))
	out, err := os.Create(files.frame)
	if err != nil {
		return usageError{fmt.Errorf("--frame: %w", err)}
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return files.draw(out, records, tui.Still{Recording: true, Theme: user.Theme, Palette: user.Named, Words: user.Words, ASCII: user.ASCII})
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
	files.add(cmd, "at the end of the run")
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

// pictureFlags ask for a picture of the screen.
type pictureFlags struct {
	frame, size, press string
	at                 time.Duration
	w, h               int
}

func (f *pictureFlags) add(cmd *cobra.Command, when string) {
	cmd.Flags().StringVar(&f.frame, "frame", "", "draw the screen "+when+" into this file, .svg or .txt")
	cmd.Flags().StringVar(&f.size, "size", "120x40", "size of the frame in columns and rows")
	cmd.Flags().StringVar(&f.press, "press", "", "keys to press before the frame is drawn, with blanks between: '2', '5 down enter', '/ nginx enter'")
	cmd.Flags().DurationVar(&f.at, "at", 0, "simulated time since the start that the frame looks at (default: the end)")
}

// check reads the size and refuses frames of a form that is not known.
func (f *pictureFlags) check() error {
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
	if f.at < 0 {
		return fmt.Errorf("--at %v is before the start", f.at)
	}
	if f.frame == "" && (f.press != "" || f.at != 0) {
		return errors.New("--press and --at need a --frame to draw")
	}
	return nil
}

// draw writes the frame.
func (f *pictureFlags) draw(to io.Writer, records []event.Record, still tui.Still) error {
	still.W, still.H, still.Plain, still.Keys = f.w, f.h, true, strings.Fields(f.press)
	if f.at > 0 && len(records) > 0 {
		still.At = records[0].At.Add(f.at)
	}
	picture := tui.SVG
	if filepath.Ext(f.frame) == ".txt" {
		picture = tui.Snapshot
	}
	_, err := io.WriteString(to, picture(records, still)+"\n")
	return err
}

// runFiles are what a run writes beside its summary.
type runFiles struct {
	journal string
	pictureFlags
}

func headlessRun(cmd *cobra.Command, o headless.Options, files runFiles, output string) (err error) {
	o.Keep = files.frame != ""
	o.Notice = func(n string) { fmt.Fprintf(cmd.ErrOrStderr(), "kubeviz: %s\n", n) }
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
		if err := files.draw(frame, r.Records, tui.Still{Now: r.End}); err != nil {
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
		return printJSON(w, s)
	}
	return headless.WriteText(w, s)
}

func printInfo(w io.Writer, r info.Report, output string) error {
	if output == "json" {
		return printJSON(w, r)
	}
	return info.WriteText(w, r)
}

func printKeys(w io.Writer, keys []info.Key, output string) error {
	if output == "json" {
		return printJSON(w, keys)
	}
	return info.WriteKeys(w, keys)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
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

func infoCommand() *cobra.Command {
	var screen screenFlags
	var output, schema string
	var keys bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Print where files are, what the terminal can do, and which settings are in force",
		Long: `info prints the paths kubeviz uses, what the environment says of the terminal, and each setting with where its value came from.
Flags of the screen may be given to see what they would do.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("info takes no arguments, got %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return usageError{fmt.Errorf("-o %q is neither text nor json", output)}
			}
			if schema != "" {
				text, err := settings.Schema(schema)
				if err != nil {
					return usageError{fmt.Errorf("--schema: %w", err)}
				}
				_, err = io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			user, wrong := screen.settings()
			if keys {
				if wrong != nil {
					return wrong
				}
				return printKeys(cmd.OutOrStdout(), info.Keys(user.Keys, user.Words), output)
			}
			report := info.Collect(version, user, wrong, info.Here())
			if err := printInfo(cmd.OutOrStdout(), report, output); err != nil {
				return err
			}
			return wrong // told in the report, and by how the program ends
		},
	}
	screen.add(cmd)
	_ = cmd.Flags().MarkHidden("narrate")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&schema, "schema", "", "print the JSON schema of the settings (config) or of a theme (theme) instead")
	cmd.Flags().BoolVar(&keys, "keys", false, "print the actions that keys can be given to instead: name, keys, what it does")
	return cmd
}
