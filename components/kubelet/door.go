package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/components/kubelet/userland"
	"example.com/kubeviz/engine/sim"
)

// podNamed finds the pod that runs, or ran last, under a name; static pods go by the name of their mirrors, which is their own.
func (k *Kubelet) podNamed(namespace, name string) *pod {
	var found *pod
	k.pods.Scan(func(_ types.UID, w *pod) bool {
		if w.spec.Namespace == namespace && w.spec.Name == name && (found == nil || found.terminated) {
			found = w
		}
		return true
	})
	return found
}

// Logs implements kubeapi.Kubelet (k/k pkg/kubelet/kubelet_pods.go: validateContainerLogStatus). What is known is the status that the API reads.
func (k *Kubelet) Logs(_ *sim.Proc, namespace, name string, q kubeapi.ContainerQuery) (kubeapi.Container, error) {
	w := k.podNamed(namespace, name)
	if w == nil {
		return nil, &kubeapi.KubeletError{Code: http.StatusNotFound, Message: fmt.Sprintf("pod %q does not exist\n", name)}
	}
	if containerOf(w.spec, q.Name) == nil {
		return nil, &kubeapi.KubeletError{Code: http.StatusNotFound, Message: fmt.Sprintf("container %q not found in pod %q\n", q.Name, name)}
	}
	id, err := logged(w.oldStatus(), name, q)
	if err == nil {
		if a, ok := k.rt.Account(id); ok {
			return inside{a}, nil
		}
		err = fmt.Errorf("unable to retrieve container logs for containerd://%s", id)
	}
	return nil, &kubeapi.KubeletError{Code: http.StatusBadRequest, Message: err.Error()}
}

// logged finds the container whose log is meant in a pod's status.
func logged(st corev1.PodStatus, pod string, q kubeapi.ContainerQuery) (string, error) {
	var c *corev1.ContainerStatus
	for _, list := range [][]corev1.ContainerStatus{st.ContainerStatuses, st.InitContainerStatuses, st.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == q.Name && c == nil {
				c = &list[i]
			}
		}
	}
	if c == nil {
		return "", fmt.Errorf("container %q in pod %q is not available", q.Name, pod)
	}
	var last string
	if t := c.LastTerminationState.Terminated; t != nil {
		last = t.ContainerID
	}
	id := ""
	switch ended, waiting := c.State.Terminated, c.State.Waiting; {
	case q.Previous:
		if last == "" {
			return "", fmt.Errorf("previous terminated container %q in pod %q not found", q.Name, pod)
		}
		id = last
	case c.State.Running != nil:
		id = c.ContainerID
	case ended != nil && ended.ContainerID != "":
		id = ended.ContainerID
	case ended != nil || c.LastTerminationState.Terminated != nil:
		if last == "" {
			return "", fmt.Errorf("container %q in pod %q is terminated", q.Name, pod)
		}
		id = last
	case waiting != nil:
		why := waiting.Reason
		switch why {
		case "ErrImagePull":
			why = "image can't be pulled"
		case "ImagePullBackOff":
			why = "trying and failing to pull image"
		}
		return "", fmt.Errorf("container %q in pod %q is waiting to start: %s", q.Name, pod, why)
	default:
		return "", fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", q.Name, pod)
	}
	return strings.TrimPrefix(id, "containerd://"), nil
}

// Running implements kubeapi.Kubelet.
func (k *Kubelet) Running(_ *sim.Proc, namespace, name string, q kubeapi.ContainerQuery) (kubeapi.Container, error) {
	w := k.podNamed(namespace, name)
	if w == nil {
		return nil, &kubeapi.KubeletError{Code: http.StatusNotFound, Message: "pod does not exist"}
	}
	if st, ok := k.rt.LastContainer(w.uid, q.Name); ok && (st.State == runtime.StateRunning || q.Again && st.State == runtime.StateExited) { // who is there sees its end
		if a, ok := k.rt.Account(st.ID); ok {
			return inside{a}, nil
		}
	}
	return nil, &kubeapi.KubeletError{Code: http.StatusInternalServerError, Message: fmt.Sprintf("container not found (%q)", q.Name)}
}

// Usage implements kubeapi.Meter.
func (k *Kubelet) Usage(p *sim.Proc) kubeapi.Usage {
	machine, running := k.rt.Usage()
	u := kubeapi.Usage{At: p.Now(), Machine: kubeapi.Amount(machine)}
	if m := k.cfg.Capacity.Memory().AsApproximateFloat64(); m > 0 {
		u.Machine.Memory = min(u.Machine.Memory, int64(m*fullestMemory)) // the model has no pressure of memory
	}
	for _, c := range running {
		u.Containers = append(u.Containers, kubeapi.ContainerUsage{Namespace: c.Pod.Namespace, Pod: c.Pod.Name, Container: c.Container, Amount: kubeapi.Amount(c.Amount)})
	}
	return u
}

// fullestMemory is the share of a machine's memory that is told as used at most.
const fullestMemory = 0.94

// inside is a picture of a container for those who ask an API server for it.
type inside struct{ account *userland.Account }

func (i inside) ID() string           { return i.account.ID }
func (i inside) Finished() bool       { return !i.account.Finished.IsZero() }
func (i inside) Taken() time.Time     { return i.account.Now }
func (i inside) OpenLog() kubeapi.Log { return &logReader{} }

// Dial connects to what listens in the container.
func (i inside) Dial(port int) (io.ReadWriteCloser, error) {
	return userland.Dial(&i.account.Container, port)
}

// Attach connects to its program.
func (i inside) Attach(ctx context.Context, c kubeapi.Command) bool {
	if i.account.Main == nil {
		return false
	}
	i.account.Main.Attach(ctx, clockOf{c}, c.In, c.Out, c.Err)
	return true
}

// Early implements kubeapi.Container: the programs here take no time to say what they have to say, so that nobody could be attached in time.
func (i inside) Early() bool { return i.account.Spec.Stdin && i.account.Spec.StdinOnce }

// Exec runs a command.
func (i inside) Exec(ctx context.Context, c kubeapi.Command) (int, error) {
	i.account.CatchUp()
	p := userland.Process{In: c.In, Out: c.Out, Err: c.Err, Clock: clockOf{c}, Container: &i.account.Container, TTY: c.TTY}
	code, err := p.Run(ctx, c.Argv)
	var missing *userland.NotFoundError
	if errors.As(err, &missing) {
		return code, fmt.Errorf("failed to exec in container: failed to start exec %q: OCI runtime exec failed: exec failed: unable to start container process: %w: unknown", execID(i.account.ID, c.Argv), err)
	}
	return code, err
}

// execID is what the runtime calls the start of a command.
func execID(container string, argv []string) string {
	sum := sha256.Sum256([]byte(container + strings.Join(argv, "\x00")))
	return hex.EncodeToString(sum[:])
}

// clockOf lets a command live in the time of who asked for it.
type clockOf struct{ c kubeapi.Command }

func (c clockOf) Now() time.Time                                   { return c.c.Now() }
func (c clockOf) Sleep(ctx context.Context, d time.Duration) error { return c.c.Sleep(ctx, d) }

type logReader struct{ log userland.Log }

// Next implements kubeapi.Log.
func (r *logReader) Next(c kubeapi.Container) []kubeapi.LogLine {
	i, ok := c.(inside)
	if !ok {
		return nil
	}
	lines := r.log.Next(i.account)
	out := make([]kubeapi.LogLine, len(lines))
	for n, l := range lines {
		out[n] = kubeapi.LogLine(l)
	}
	return out
}

// Close implements kubeapi.Log.
func (r *logReader) Close() { r.log.Close() }
