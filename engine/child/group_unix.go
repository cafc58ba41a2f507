//go:build unix

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a child and what it starts into a process group of its own: a signal reaches all of them, and none from the terminal does.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
func kill(cmd *exec.Cmd)      { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func signalOf(s *os.ProcessState) int {
	if st, ok := s.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return int(st.Signal())
	}
	return 0
}

// Replace makes this process the child: the shell that started us has kubectl itself. It returns only if that fails.
func (k Kubectl) Replace(args []string) error {
	argv := append(append([]string{}, k.Program...), args...)
	return syscall.Exec(argv[0], argv, k.Environment(os.Environ()))
}
