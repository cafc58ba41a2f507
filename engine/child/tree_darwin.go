package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is the state of what has ended and is only not waited for yet (sys/proc.h: SZOMB).
const zombie = 5

// processes lists those that run.
func processes() (all []proc) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	for _, k := range list {
		if k.Proc.P_stat != zombie {
			all = append(all, proc{pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), start: fmt.Sprint(k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)})
		}
	}
	return all
}
