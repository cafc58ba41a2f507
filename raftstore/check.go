package raftstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
)

// Codes that a check exits with. Whatever else ends it is damage too: it is there to die in the place of the program.
const (
	checkSound     = 0
	checkImpotent  = 1
	checkDamaged   = 3
	checkGreetings = "checking a file of the store"
)

// A check may take this long, and a second more for so many bytes.
const (
	checkLimit     = 5 * time.Second
	checkPerSecond = 20 << 20
)

// CheckMain checks the file of a member's log and returns the code to exit with: 0 sound, 3 damaged, with one line on out, 1 where the file could not be looked at. It is what the command
// of a CheckCommand runs.
func CheckMain(path string, out io.Writer) (code int) {
	fmt.Fprintln(os.Stderr, checkGreetings)
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(out, "panic: %v\n", r)
			code = checkDamaged
		}
	}()
	err := peer.CheckFile(path)
	switch {
	case err == nil:
		return checkSound
	case errors.Is(err, peer.ErrDamaged):
		code = checkDamaged
	default:
		code = checkImpotent
	}
	fmt.Fprintln(out, strings.ReplaceAll(err.Error(), "\n", "; "))
	return code
}

// CheckCommand makes a check (Options.Check) of a command to which the path of the file is added: a damaged file can make who opens it panic, hang, or fault beyond recovery, and then it is
// the child that does. A check that could not be made at all says so, and the file is looked at in this process.
func CheckCommand(argv ...string) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error {
		limit := checkLimit
		if info, err := os.Stat(path); err == nil {
			limit += time.Duration(info.Size()/checkPerSecond) * time.Second
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		var out, errs bytes.Buffer
		c := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv):len(argv)], path)...)
		c.Stdout, c.Stderr, c.WaitDelay = &out, &errs, time.Second
		err := c.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return nil
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("%w: %s: reading it does not end within %v", peer.ErrDamaged, path, limit)
		case !errors.As(err, &exit) || exit.ExitCode() == checkImpotent || !strings.Contains(errs.String(), checkGreetings):
			return fmt.Errorf("%w: %s: %w: %s", peer.ErrNotChecked, path, err, strings.TrimSpace(out.String()))
		case exit.ExitCode() == checkDamaged:
			return fmt.Errorf("%w: %s", peer.ErrDamaged, strings.TrimPrefix(strings.TrimSpace(out.String()), "disk damaged: "))
		}
		return fmt.Errorf("%w: %s: reading it is fatal: %s", peer.ErrDamaged, path, firstLine(strings.TrimPrefix(strings.TrimSpace(errs.String()), checkGreetings)))
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
