// Package real is kubectl itself: the code of k8s.io/kubectl, as the program of a child process of our own binary.
//
// Main is entered only in such a child (main's hidden word): kubectl exits, installs signal handlers, reads standard input and leaks a few hundred KiB per call, all of
// which a process of its own bears and a screen does not. The scenarios and headless runs have the small kubectl of the folder above instead: it runs on the loop in
// simulated time, without HTTP, so that a run with a seed stays repeatable. The child's environment is made by engine/child, the cluster it speaks to is found by
// engine/running.
//
// What differs from the kubectl of the user's shell: it reaches the servers that its environment names and no other (--kubeconfig and --server are refused; a kubeconfig
// that `config set-cluster` led elsewhere is told from theirs before anything is sent), it starts no program for credentials, it has no plugins and no kuberc, and what listens (proxy, port-forward) listens on loopback only. `-f URL` is fetched, as by any kubectl.
//
// Owns: Main, Version. Imports of ours: components/kubectl/real/words. Goroutines: those of kubectl. Time: wall.
package real

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"example.com/kubeviz/components/kubectl/real/words"
)

// Child is the word, in the place of a command, with which the program calls itself to be kubectl.
const Child = words.Child

// UserHome is the variable that holds the user's home directory, which an editor is given back: HOME itself is one of ours.
const UserHome = "KUBEVIZ_USER_HOME"

// Servers is the variable that holds the addresses that may be spoken to, with commas between.
const Servers = "KUBEVIZ_SERVERS"

// Main is the whole of a child: arguments as after the word kubectl, the exit code returned (kubectl may exit by itself before).
func Main(args []string) int {
	os.Args = append([]string{"kubectl"}, args...) // read by kubectl in several places: the user agent, kuberc, the last words of errors
	setVersion(Version())
	plugin.ValidPluginFilenamePrefixes = nil // help and completion would look for plugins on PATH, and run them
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(command(genericiooptions.IOStreams{In: os.Stdin, Out: output(), ErrOut: os.Stderr})); err != nil {
		cmdutil.CheckErr(err) // prints and exits
		return 1
	}
	return 0
}

// Tell is the variable with the number of a file that answers are written to once more: whoever lent us the terminal reads them there, because the terminal keeps nothing.
// It is not given where the output has to be a terminal and nothing else (exec -it).
const Tell = "KUBEVIZ_TELL_FD"

// output is standard output, and the file for answers where there is one. An editor gets standard output itself, and not that file.
func output() io.Writer {
	n, err := strconv.Atoi(os.Getenv(Tell))
	if err != nil || n < 3 {
		return os.Stdout
	}
	_ = os.Unsetenv(Tell)
	closeOnExec(n)
	return io.MultiWriter(os.Stdout, silent{os.NewFile(uintptr(n), "tell")})
}

// silent is a writer whose failures nobody minds.
type silent struct{ io.Writer }

func (s silent) Write(p []byte) (int, error) {
	_, _ = s.Writer.Write(p)
	return len(p), nil
}

// command is kubectl's, with what could lead out of the house refused.
func command(streams genericiooptions.IOStreams) *cobra.Command {
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{
		Arguments:   os.Args,
		ConfigFlags: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams).WithWrapConfigFn(inHouse),
		IOStreams:   streams,
	})
	guard(root)
	for _, c := range root.Commands() {
		if c.Name() == "plugin" {
			root.RemoveCommand(c)
			root.AddCommand(noPlugins())
		}
	}
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if edits(c) {
			giveHomeBack()
		}
		return before(c, args)
	}
	return root
}

// inHouse lets a client be made for the cluster's own servers only. kubectl has no way to be told of a mistake here, so it ends as kubectl does.
func inHouse(c *rest.Config) *rest.Config {
	cmdutil.CheckErr(mayReach(c, strings.Split(os.Getenv(Servers), ",")))
	c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	return c
}

// mayReach tells what a client would do that none in here may.
func mayReach(c *rest.Config, servers []string) error {
	at := strings.TrimSuffix(c.Host, "/")
	switch {
	case at == "" || !slices.Contains(servers, at):
		return fmt.Errorf("the kubectl inside kubeviz reaches the simulated cluster only, and the kubeconfig leads to %q; name one of its contexts (config get-contexts) with --context", c.Host)
	case c.ExecProvider != nil || c.AuthProvider != nil:
		return errors.New("the kubectl inside kubeviz starts no program for credentials; give the user of the kubeconfig a token or a certificate")
	}
	return nil
}

func noPlugins() *cobra.Command {
	return &cobra.Command{
		Use:                "plugin",
		Short:              "Plugins are not offered here",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the kubectl inside kubeviz runs no plugins; run them with your own kubectl and the kubeconfig of the cluster")
		},
	}
}

// edits reports a command that starts the user's editor.
func edits(c *cobra.Command) bool {
	if strings.HasPrefix(c.Name(), "edit") {
		return true
	}
	f := c.Flags().Lookup("edit")
	return f != nil && f.Value.String() == "true"
}

// giveHomeBack lets an editor find its settings. Where kubectl's own files are was settled before, by variables of their own.
func giveHomeBack() {
	if home := os.Getenv(UserHome); home != "" {
		_ = os.Setenv("HOME", home)
	}
}

// guard walks all commands and replaces the values of flags that would leave the house. A value that refuses works wherever flags are read, completion included.
func guard(c *cobra.Command) {
	for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Name == "kubeconfig" || f.Name == "server":
				f.Value = elsewhere{f.Value}
				f.Hidden = true // neither help nor completion offers what is refused
			case f.Name == "address" && slices.Contains([]string{"proxy", "port-forward"}, c.Name()):
				f.Value = loopback{f.Value}
			}
		})
	}
	for _, sub := range c.Commands() {
		guard(sub)
	}
}

// elsewhere is the value of a flag that names another cluster.
type elsewhere struct{ pflag.Value }

func (elsewhere) Set(string) error {
	return errors.New("the kubectl inside kubeviz reaches the simulated cluster only; use your own kubectl for another")
}

// loopback is the value of a flag with addresses to listen on.
type loopback struct{ pflag.Value }

func (l loopback) Set(s string) error {
	for a := range strings.SplitSeq(s, ",") {
		a = strings.TrimSpace(a)
		if ip := net.ParseIP(a); a != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("the kubectl inside kubeviz listens on loopback only, %q is not", a)
		}
	}
	return l.Value.Set(s)
}
