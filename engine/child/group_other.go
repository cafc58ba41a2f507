//go:build !unix

package child

import (
	"io"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd)            {}
func interrupt(cmd *exec.Cmd)       { _ = cmd.Process.Kill() }
func kill(cmd *exec.Cmd)            { _ = cmd.Process.Kill() }
func hangUp(int)                    {}
func killPid(int) error             { return os.ErrInvalid }
func signalOf(*os.ProcessState) int { return 0 }

// Replace runs the child and ends with its exit code: there is no exec here. It returns only if it cannot be started.
func (k Kubectl) Replace(args []string) error {
	cmd := k.Command(args...)
	if err := cmd.Run(); cmd.ProcessState == nil {
		return err
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// Tell does nothing: no file can be handed to a child here.
func Tell(*exec.Cmd, io.Writer) (done func()) { return func() {} }
