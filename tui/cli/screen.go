package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/tui"
	"example.com/kubeviz/tui/aloud"
	"example.com/kubeviz/tui/settings"
	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
	"github.com/spf13/cobra"
)

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
	var way *outside
	return withCluster(s, f, record, opener(&way, s.Name, f.listen), func(e *engine.Engine, guard *term.Guard) error {
		show := screenOptions(user)
		show.Cluster, show.Guard, show.Record = e, guard, record
		way.show(&show)
		return screenEnd(tui.Run(context.Background(), show))
	})
}

// narrated runs a cluster and tells of it in lines.
func narrated(s scenario.Scenario, f clusterFlags, record string, user *settings.Settings) error {
	var way *outside
	return withCluster(s, f, record, opener(&way, s.Name, f.listen), func(e *engine.Engine, guard *term.Guard) error {
		if err := way.tell(os.Stdout); err != nil {
			return err
		}
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

// opener lays the way into a cluster before it runs, and opens it where an address is given.
func opener(way **outside, name, listen string) func(*engine.Engine) (func() error, error) {
	return func(e *engine.Engine) (func() error, error) {
		o, err := openOutside(e, name, listen)
		if err != nil {
			return nil, errors.Join(err, o.Close())
		}
		*way = o
		return o.Close, nil
	}
}
