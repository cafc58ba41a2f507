//go:build unix

package real

import "syscall"

// closeOnExec keeps a file from the programs that this one starts.
func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
