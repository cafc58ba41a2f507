package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui"
	"github.com/spf13/cobra"
)

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
