package term

import (
	"os"

	"golang.org/x/sys/unix"
)

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }

// discardOutput drops what a stalled terminal has not taken.
func discardOutput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH) }
