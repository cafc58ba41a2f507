package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
	"example.com/kubeviz/tui"
	"github.com/spf13/cobra"
)

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

func print(w io.Writer, s headless.Summary, output string) error {
	if output == "json" {
		return printJSON(w, s)
	}
	return headless.WriteText(w, s)
}
