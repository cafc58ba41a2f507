//go:build unix

package tui

import (
	"os"
	"syscall"

	"example.com/kubeviz/tui/term"
)

func number(s os.Signal) (int32, bool) {
	n, ok := s.(syscall.Signal)
	return int32(n), ok
}

// fromKeyboard reports a signal that keys make while the terminal is not ours.
func fromKeyboard(s os.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

func signalError(n int32) error { return &term.SignalError{Signal: syscall.Signal(n)} }
