package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kubeviz/components/kubectl/real"
	"example.com/kubeviz/engine/child"
	"example.com/kubeviz/engine/running"
)

// clusterVariable names the cluster that kubectl speaks to, where several run.
const clusterVariable = "KUBEVIZ_CLUSTER"

// kubectlCommand gives a shell the kubectl inside, against a cluster that runs.
func kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [--cluster NAME] ARGS...",
		Short: "Run the kubectl inside kubeviz against a running cluster",
		Long: `Runs the real kubectl, which is part of this program, against a cluster that another kubeviz of yours runs:
the newest, or the one named by --cluster before the first word, or by ` + clusterVariable + `. Your own kubeconfig
and cache are neither read nor written.`,
		Example: `  kubeviz kubectl get pods -A
  kubeviz kubectl --cluster ha-2 get nodes -o wide`,
		DisableFlagParsing: true, // all but the leading --cluster is kubectl's
		RunE: func(_ *cobra.Command, args []string) error {
			name, args, err := clusterName(args, os.Getenv(clusterVariable))
			if err != nil {
				return usageError{err}
			}
			dir, err := running.Directory()
			if err != nil {
				return err
			}
			c, err := running.Find(dir, name)
			if err != nil {
				return err
			}
			k, err := insideKubectl(c)
			if err != nil {
				return err
			}
			return k.Replace(args)
		},
	}
}

// insideKubectl is the kubectl of this program against a running cluster.
func insideKubectl(c *running.Cluster) (child.Kubectl, error) {
	self, err := os.Executable()
	if err != nil {
		return child.Kubectl{}, err
	}
	home, _ := os.UserHomeDir() // without one an editor has none either
	return child.Kubectl{Program: []string{self, real.Child}, Kubeconfig: c.Kubeconfig(), Cache: c.Cache(), Home: c.Home(), UserHome: home, Servers: c.Servers}, nil
}

// clusterName takes a leading --cluster off the arguments. Later ones are kubectl's, which has a flag of that name too.
func clusterName(args []string, otherwise string) (name string, rest []string, err error) {
	if len(args) == 0 {
		return otherwise, args, nil
	}
	if v, ok := strings.CutPrefix(args[0], "--cluster="); ok {
		return v, args[1:], nil
	}
	if args[0] == "--cluster" {
		if len(args) < 2 {
			return "", nil, errors.New("--cluster needs the name of a running cluster")
		}
		return args[1], args[2:], nil
	}
	return otherwise, args, nil
}
