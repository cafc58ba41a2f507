//go:build unix

package term

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalError is a signal that ended the screen. Exit code 128 plus its number.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string {
	return fmt.Sprintf("ended by signal %d (%v)", e.Signal, e.Signal)
}

// Code to exit with.
func (e *SignalError) Code() int { return 128 + int(e.Signal) }

// Signals that end the screen. They are caught until stop is called.
func Signals() (c chan os.Signal, stop func()) {
	c = make(chan os.Signal, 4)
	signal.Notify(c, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	return c, func() { signal.Stop(c) }
}

// Hangup is the signal that a vanished terminal stands for.
const Hangup = unix.SIGHUP

// HungUp reports whether the terminal is gone.
func (t *Terminal) HungUp() bool {
	fds := []unix.PollFd{{Fd: int32(t.In.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

// HasShell reports whether something is likely to wake the program after it stopped itself. A shell that can puts each job into a process group of its own, so a
// program in the group of the session's leader (started by "sh -c", by a terminal or a supervisor) would stop for good.
func HasShell() bool {
	sid, err := unix.Getsid(0)
	if err != nil || sid == unix.Getpgrp() {
		return false
	}
	return unix.Getppid() != 1
}

// CaptureStderr points file descriptor 2 at a file, so that nothing a library says lands on the screen, until back is called.
func CaptureStderr(path string) (back func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log for what is written to standard error: %w", err)
	}
	defer f.Close()
	saved, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep standard error: %w", err)
	}
	if err := dup2(int(f.Fd()), 2); err != nil {
		_ = unix.Close(saved)
		return nil, fmt.Errorf("point standard error at %s: %w", path, err)
	}
	done := false
	return func() {
		if done {
			return
		}
		done = true
		_ = dup2(saved, 2)
		_ = unix.Close(saved)
	}, nil
}
