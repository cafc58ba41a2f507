package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/components/kubelet/userland"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
)

// probeKind names a probe as events and messages do.
type probeKind string

const (
	startup   probeKind = "Startup"
	liveness  probeKind = "Liveness"
	readiness probeKind = "Readiness"
)

// inLog is what the container's log calls the probe.
func (kind probeKind) inLog() userland.ProbeKind {
	switch kind {
	case startup:
		return userland.Startup
	case liveness:
		return userland.Liveness
	}
	return userland.Readiness
}

// prober runs one probe of one container of a pod by a timer (k/k pkg/kubelet/prober/worker.go).
type prober struct {
	kind      probeKind
	container *corev1.Container
	spec      *corev1.Probe
	timer     *clock.Timer

	id     string // of the container probed
	passed bool   // the result that counts
	last   bool   // the last answers were this,
	run    int    // so many times in a row
	held   bool   // failed for good, until the container is another one
}

// ensureProbes starts the probers of containers that have run; they live as long as the pod.
func (k *Kubelet) ensureProbes(w *pod, v view) {
	if w.probes != nil {
		return
	}
	for _, list := range [][]corev1.Container{w.spec.Spec.InitContainers, w.spec.Spec.Containers} {
		for i := range list {
			c := &list[i]
			for _, x := range []struct {
				kind probeKind
				spec *corev1.Probe
			}{{startup, c.StartupProbe}, {liveness, c.LivenessProbe}, {readiness, c.ReadinessProbe}} {
				if x.spec == nil || isInit(w.spec, c.Name) && !isSidecar(c) {
					continue
				}
				pb := &prober{kind: x.kind, container: c, spec: x.spec}
				w.probes = append(w.probes, pb)
				k.recallProbe(w, pb, v)
				first := time.Duration(0)
				if period := pb.period(); k.pr.Loop.Now().Sub(k.started) < period { // a kubelet that has just started spreads its probes
					first = time.Duration(k.rng.Int64N(int64(period)))
				}
				k.armProbe(w, pb, first)
			}
		}
	}
}

// recallProbe takes a container over from an earlier kubelet as the API remembers it: its readiness does not flap.
func (k *Kubelet) recallProbe(w *pod, pb *prober, v view) {
	st, ok := v.here(pb.container.Name)
	if !ok || st.State != runtime.StateRunning {
		return
	}
	if w.static && st.Started.Before(k.started) { // nobody to ask yet; it counts as healthy until a probe says otherwise
		pb.reset(st.ID)
		pb.passed = true
		return
	}
	for _, old := range append(append([]corev1.ContainerStatus(nil), w.oldStatus().ContainerStatuses...), w.oldStatus().InitContainerStatuses...) {
		if old.ContainerID != "containerd://"+st.ID {
			continue
		}
		pb.reset(st.ID)
		switch pb.kind {
		case readiness:
			pb.passed = old.Ready
		case startup:
			pb.passed = old.Started != nil && *old.Started
		}
	}
}

func (k *Kubelet) stopProbes(w *pod) {
	for _, pb := range w.probes {
		pb.timer.Stop()
	}
	if w.probes == nil {
		w.probes = []*prober{}
	}
}

func (k *Kubelet) armProbe(w *pod, pb *prober, d time.Duration) {
	pb.timer = k.pr.Loop.After(d, func() {
		if k.pr.Group.Dead() || w.terminated {
			return
		}
		k.probe(w, pb)
		k.armProbe(w, pb, pb.period())
	})
}

func seconds(v, otherwise int32) time.Duration {
	if v <= 0 {
		v = otherwise
	}
	return time.Duration(v) * time.Second
}

func (pb *prober) period() time.Duration { return seconds(pb.spec.PeriodSeconds, 10) }

// reset begins anew with another container. Liveness counts as passed until it fails, readiness and startup the other way round.
func (pb *prober) reset(id string) {
	pb.id, pb.passed, pb.run, pb.held = id, pb.kind == liveness, 0, false
}

// probe asks once and counts.
func (k *Kubelet) probe(w *pod, pb *prober) {
	st, ok := k.rt.LastContainer(w.uid, pb.container.Name)
	if !ok || st.State != runtime.StateRunning {
		return
	}
	if st.ID != pb.id {
		pb.reset(st.ID)
	}
	if pb.held || st.Stopping && pb.kind == liveness || pb.kind == startup && pb.passed {
		return
	}
	if k.pr.Loop.Now().Sub(st.Started) < time.Duration(pb.spec.InitialDelaySeconds)*time.Second {
		return
	}
	if pb.kind != startup && !w.containerStarted(st) {
		return
	}
	good, output, cause := k.ask(w, pb, st)
	if !good {
		if cause == 0 {
			cause = st.Record
		}
		k.podEventFor(cause, w, pb.container.Name, corev1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe failed: %s", pb.kind, output))
	}
	if good != pb.last || pb.run == 0 {
		pb.last, pb.run = good, 0
	}
	pb.run++
	threshold := max(1, int(pb.spec.SuccessThreshold))
	if !good {
		threshold = int(pb.spec.FailureThreshold)
		if threshold <= 0 {
			threshold = 3
		}
	}
	if pb.run < threshold {
		return
	}
	if !good && pb.kind != readiness {
		pb.held, pb.run = true, 0
	}
	if pb.passed != good || pb.held {
		pb.passed = good
		k.wake(w, max(cause, st.Record))
	}
}

// ask is the probe itself: what the program answers.
func (k *Kubelet) ask(w *pod, pb *prober, st runtime.ContainerStatus) (good bool, output string, cause event.Seq) {
	path := "/"
	if pb.spec.HTTPGet != nil && pb.spec.HTTPGet.Path != "" {
		path = pb.spec.HTTPGet.Path
	}
	if k.programRuns(pb.container) {
		if k.cfg.Health == nil {
			return true, "", 0
		}
		if ok, cause := k.cfg.Health(pb.container.Name, path); !ok {
			return false, "HTTP probe failed with statuscode: 500", cause
		}
		return true, "", 0
	}
	h := k.rt.HealthOf(st.ID)
	broken, code := h.NotLive, 500
	if pb.kind == readiness {
		broken, code = h.NotReady, 503
	}
	if pb.spec.HTTPGet != nil {
		k.rt.Probed(st.ID, pb.kind.inLog(), pb.period(), !broken)
	}
	if !broken {
		return true, "", h.Cause
	}
	switch {
	case pb.spec.TCPSocket != nil:
		return false, fmt.Sprintf("dial tcp %s:%s: connect: connection refused", w.status.PodIP, pb.spec.TCPSocket.Port.String()), h.Cause
	case pb.spec.Exec != nil:
		return false, "command terminated with exit code 1", h.Cause
	case pb.spec.GRPC != nil:
		return false, fmt.Sprintf("service unhealthy (responded with %q)", "NOT_SERVING"), h.Cause
	}
	return false, fmt.Sprintf("HTTP probe failed with statuscode: %d", code), h.Cause
}

func (w *pod) prober(container string, kind probeKind, id string) (pb *prober, counts bool) {
	for _, pb := range w.probes {
		if pb.container.Name == container && pb.kind == kind {
			return pb, pb.id == id
		}
	}
	return nil, false
}

// containerStarted: the container runs and its startup probe, if it has one, has passed.
func (w *pod) containerStarted(st runtime.ContainerStatus) bool {
	pb, same := w.prober(st.Name, startup, st.ID)
	return pb == nil || same && pb.passed
}

// containerReady: started, and its readiness probe, if it has one, passes.
func (w *pod) containerReady(st runtime.ContainerStatus) bool {
	pb, same := w.prober(st.Name, readiness, st.ID)
	return pb == nil || same && pb.passed
}

// failedProbe names the probe for which a running container is to be killed, as its event does.
func (w *pod) failedProbe(id string) string {
	for _, pb := range w.probes {
		if pb.id == id && pb.held {
			switch pb.kind {
			case liveness:
				return "liveness"
			case startup:
				return "startup"
			}
		}
	}
	return ""
}
