package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui"
	"example.com/kubeviz/tui/aloud"
	"example.com/kubeviz/tui/settings"
	"github.com/spf13/cobra"
)

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
