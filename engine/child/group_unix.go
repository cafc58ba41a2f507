//go:build unix

package child

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// ownGroup puts a child and what it starts into a process group of its own: a signal reaches all of them, and none from the terminal does.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
func kill(cmd *exec.Cmd)      { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func hangUp(pid int)        { _ = syscall.Kill(pid, syscall.SIGHUP) }
func killPid(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

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

// TellFD is the variable that names the file that a child writes its answers to once more.
const TellFD = "KUBEVIZ_TELL_FD"

// Tell lets a child that is not started yet say its answers once more, to w: its output is a terminal, which keeps nothing. Call done when it has ended, or could not be
// started.
func Tell(cmd *exec.Cmd, w io.Writer) (done func()) {
	from, to, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, to)
	cmd.Env = append(cmd.Env, TellFD+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(w, from)
	}()
	return func() {
		_ = to.Close()
		select {
		case <-read:
		case <-time.After(tellWait): // something that it started holds the pipe
		}
		_ = from.Close()
		<-read
	}
}

// tellWait is how long the last words may take.
const tellWait = time.Second
