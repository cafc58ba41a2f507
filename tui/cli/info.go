package cli

import (
	"fmt"
	"io"

	"example.com/kubeviz/tui/info"
	"example.com/kubeviz/tui/settings"
	"github.com/spf13/cobra"
)

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
