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

func signalError(n int32) error { return &term.SignalError{Signal: syscall.Signal(n)} }
