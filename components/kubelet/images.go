package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// puller lets one pull through at a time (serializeImagePulls, the default).
type puller struct {
	busy bool
	free sim.Cond
}

// ensureImage makes a container's image present by its pull policy; the answer is why it is not (k/k pkg/kubelet/images/image_manager.go).
func (k *Kubelet) ensureImage(p *sim.Proc, w *pod, c *corev1.Container, restarts int) *waiting {
	if !runtime.ValidName(c.Image) {
		message := fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name %q: invalid reference format", c.Image, c.Image)
		k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "InspectFailed", message)
		return &waiting{"InvalidImageName", message}
	}
	present := k.rt.HasImage(c.Image)
	switch policy := pullPolicy(c); {
	case policy == corev1.PullNever && !present:
		message := fmt.Sprintf("Container image %q is not present with pull policy of Never", c.Image)
		k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "ErrImageNeverPull", message)
		return &waiting{"ErrImageNeverPull", message}
	case present && policy != corev1.PullAlways:
		k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", c.Image))
		return nil
	}
	return k.pull(p, w, c, restarts)
}

func pullPolicy(c *corev1.Container) corev1.PullPolicy {
	if c.ImagePullPolicy != "" {
		return c.ImagePullPolicy
	}
	if runtime.Describe(c.Image).Tag == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func (k *Kubelet) pull(p *sim.Proc, w *pod, c *corev1.Container, restarts int) *waiting {
	since := k.pulls.update(w.uid, c.Image)
	if left, _ := k.pulls.left(w.uid, c.Image, since, p.Now()); left > 0 {
		k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "BackOff", fmt.Sprintf("Back-off pulling image %q", c.Image))
		why := w.reasons[c.Name]
		if why.reason == "ErrImagePull" {
			why = waiting{"ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", c.Image, why.message)}
		}
		k.backingOff(p, w, c, why, restarts, p.Now().Add(left))
		return &why
	}
	k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", c.Image))
	asked := p.Now()
	for k.puller.busy {
		k.puller.free.Wait(p)
	}
	if w.stopping != running {
		k.puller.free.Signal()
		return nil
	}
	k.puller.busy = true
	began := p.Now()
	img, err := k.rt.PullImage(p, w.spec, c.Name, c.Image, restarts)
	k.puller.busy = false
	k.puller.free.Signal()
	if err != nil {
		k.pulls.next(w.uid, c.Image, p.Now(), p.Now())
		k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %v", c.Image, err))
		return &waiting{"ErrImagePull", err.Error()}
	}
	k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", c.Image,
		p.Now().Sub(began).Truncate(time.Millisecond), p.Now().Sub(asked).Truncate(time.Millisecond), img.Size))
	return nil
}

func (w *pod) ref() kinds.ObjectRef {
	return kinds.ObjectRef{Resource: kinds.Pods.String(), Namespace: w.spec.Namespace, Name: w.spec.Name, UID: string(w.uid)}
}
