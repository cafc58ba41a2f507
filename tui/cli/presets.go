package cli

import (
	"fmt"

	"example.com/kubeviz/presets"
	"github.com/spf13/cobra"
)

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
