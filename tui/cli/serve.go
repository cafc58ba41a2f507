package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/running"
	"example.com/kubeviz/engine/serve"
	"example.com/kubeviz/presets"
	"example.com/kubeviz/tui/term"
)

// serveCommand runs a cluster for clients outside, without a screen.
func serveCommand() *cobra.Command {
	var f clusterFlags
	var o serve.Options
	var length time.Duration
	cmd := &cobra.Command{
		Use:   "serve [PRESET|FILE]",
		Short: "Run a cluster without a screen and serve its API on a loopback address, for kubectl and other clients",
		Long: `serve runs a cluster and opens its API on this machine: one address for the load balancer, one for each master. When an API server answers it prints
one line with its name, the address and the kubeconfig; a signal ends it. Only programs on this machine can connect. kubeviz kubectl finds it by itself.`,
		Example: `  kubeviz serve ha
  kubeviz serve --rate 10 --kubeconfig ./kubeconfig
  KUBECONFIG=./kubeconfig kubectl get nodes`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("serve takes one preset or file, got %d", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkRate(); err != nil {
				return err
			}
			if cmd.Flags().Changed("for") && length <= 0 {
				return usageError{fmt.Errorf("--for %s is not above 0", length)}
			}
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			name := presets.Default
			if len(args) == 1 {
				name = args[0]
			}
			s, err := f.scenario(name)
			if err != nil {
				return err
			}
			ctx, signalled, stop := untilSignal()
			defer stop()
			if length > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, length)
				defer cancel()
			}
			var opened *serve.Serving
			open := func(e *engine.Engine) (func() error, error) {
				var err error
				if opened, err = serve.Start(e, o); err != nil {
					return nil, err
				}
				return opened.Close, nil
			}
			err = withCluster(s, f, "", open, func(_ *engine.Engine, guard *term.Guard) error {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				guard.OnPanic(cancel)
				if opened.Ready(ctx) == nil {
					name, leave := publish(s.Name, opened, cmd.ErrOrStderr())
					defer leave()
					if err := announce(cmd.OutOrStdout(), name, opened); err != nil {
						return err
					}
				}
				<-ctx.Done()
				if crash := guard.Crash(""); crash != nil {
					return crash
				}
				if n := signalled(); n != 0 {
					return exitError(128 + n)
				}
				return nil
			})
			return refusedUse(err)
		},
	}
	f.add(cmd, 1)
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:0", "loopback address of the load balancer; port 0 takes any that is free")
	cmd.Flags().StringVar(&o.Kubeconfig, "kubeconfig", "", "write the kubeconfig here (default: a temporary file, removed at the end)")
	cmd.Flags().DurationVar(&length, "for", 0, "end after this time on the wall (default: until a signal)")
	return cmd
}

// publish puts a cluster into the list where kubeviz kubectl looks, and returns the name it has there. A list that cannot be used is told, and no reason not to serve.
func publish(name string, s *serve.Serving, notices io.Writer) (as string, leave func()) {
	entry, err := enlist(name, s)
	if err != nil {
		fmt.Fprintf(notices, "kubeviz: kubeviz kubectl will not find this cluster: %v\n", err)
		return name, func() {}
	}
	return entry.Name, func() { _ = entry.Close() } // what could not be removed is swept by who looks next
}

// enlist puts a cluster into the list of those that run.
func enlist(name string, s *serve.Serving) (*running.Entry, error) {
	dir, err := running.Directory()
	if err != nil {
		return nil, err
	}
	return running.Publish(dir, running.NameFor(name), s.Servers, s.Config, time.Now())
}

// announce says in a line where an API is.
func announce(w io.Writer, name string, s *serve.Serving) error {
	_, err := fmt.Fprintf(w, "serving %s at %s; export KUBECONFIG=%s\n", name, s.URL, s.Kubeconfig)
	return err
}

// refusedUse makes what serve takes for a mistake of the user one of ours.
func refusedUse(err error) error {
	var usage *serve.UsageError
	if errors.As(err, &usage) {
		return usageError{err}
	}
	return err
}
