// Package cli is the command line: it turns the words after "kubeviz" into the screen, a run, a replay, a served cluster, kubectl, or a list, and each of these commands has a file.
//
// Owns: flags and their mistakes, exit codes, standard output and error. It assembles what others make: an engine (or a journal) below, the screen above. Goroutines: its own; signals end
// what runs. Time: wall.
package cli

import (
	"example.com/kubeviz/engine/serve"
	_ "example.com/kubeviz/tui/bgfix" // before Bubble Tea: see there
	"k8s.io/klog/v2"

	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"example.com/kubeviz/components/kubectl/real"
	"example.com/kubeviz/engine"
	"example.com/kubeviz/presets"
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

// Run is the program. It returns the exit code: 0; 1 for what failed; 2 for a mistake in the call; 128 and the signal's number where one ended it.
func Run(args []string) int {
	quieten()
	return run(args)
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
			if f.given("listen") {
				if err := (serve.Options{Listen: f.listen}).Check(); err != nil {
					return usageError{err}
				}
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
				return refusedUse(narrated(s, f, record, user))
			}
			return refusedUse(live(s, f, record, user))
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.Flags().StringVar(&f.preset, "preset", presets.Default, "cluster to start: "+strings.Join(presets.Names(), ", ")+", or a scenario file")
	f.add(root, 10)
	root.Flags().StringVar(&record, "record", "", "write the journal of the session to this file")
	root.Flags().StringVar(&f.listen, "listen", "", "open the cluster's API for kubectl and others on this loopback address, such as 127.0.0.1:0 (default: when the console first needs it)")
	screen.add(root)
	root.SetVersionTemplate("kubeviz {{.Version}}\n")
	root.AddCommand(runCommand(), serveCommand(), replayCommand(), presetsCommand(), infoCommand(), kubectlCommand())
	return root
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
