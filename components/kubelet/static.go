package kubelet

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Annotations of static pods and their mirrors (k/k pkg/kubelet/types).
const (
	sourceAnnotation = "kubernetes.io/config.source"
	hashAnnotation   = "kubernetes.io/config.hash"
	seenAnnotation   = "kubernetes.io/config.seen"
	mirrorAnnotation = corev1.MirrorPodAnnotationKey
	sourceFile       = "file"
)

// SetStaticPods replaces the machine's manifests: new ones start, missing ones are stopped with their grace period and their mirrors deleted, changed ones do
// both, one after the other.
func (k *Kubelet) SetStaticPods(cause event.Seq, manifests []*corev1.Pod) {
	wanted := map[kubeapi.Key]*pod{}
	var order []*pod
	for _, m := range manifests {
		spec := staticPod(m, k.cfg.Node, k.pr.Loop.Now().Format("2006-01-02T15:04:05.999999999Z07:00"))
		key := kubeapi.KeyOf(spec)
		w, ok := k.pods.Get(spec.UID)
		if !ok {
			w = k.add(spec)
			w.static = true
			k.sum.add(w)
		}
		wanted[key] = w
		order = append(order, w)
	}
	for _, w := range k.allPods() {
		if w.static && wanted[kubeapi.KeyOf(w.spec)] != w {
			k.stop(w, stopRemoved, cause)
		}
	}
	k.statics = wanted
	for _, w := range order {
		k.wake(w, cause)
		k.checkMirror(w, cause)
	}
}

// staticPod is a manifest as the kubelet reads it from its folder.
func staticPod(manifest *corev1.Pod, node, seen string) *corev1.Pod {
	p := manifest.DeepCopy()
	text, err := json.Marshal(manifest)
	if err != nil {
		panic(fmt.Errorf("static pod %s: %w", manifest.Name, err)) // a Go value that was decoded or built here
	}
	sum := md5.Sum(append([]byte("host:"+node+" "), text...))
	hash := hex.EncodeToString(sum[:])
	p.UID = types.UID(hash)
	p.Name = manifest.Name + "-" + node
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[hashAnnotation] = hash
	p.Annotations[sourceAnnotation] = sourceFile
	p.Annotations[seenAnnotation] = seen
	p.Spec.NodeName = node
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	p.Status = corev1.PodStatus{}
	setDefaults(p)
	return p
}

// setDefaults fills in what the API server would; static pods never pass one before they run.
func setDefaults(p *corev1.Pod) {
	s := &p.Spec
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.TerminationGracePeriodSeconds == nil {
		grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
		s.TerminationGracePeriodSeconds = &grace
	}
	if s.DNSPolicy == "" {
		s.DNSPolicy = corev1.DNSClusterFirst
	}
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	if s.SecurityContext == nil {
		s.SecurityContext = &corev1.PodSecurityContext{}
	}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			c := &list[i]
			c.ImagePullPolicy = pullPolicy(c)
			if c.TerminationMessagePath == "" {
				c.TerminationMessagePath = corev1.TerminationMessagePathDefault
			}
			if c.TerminationMessagePolicy == "" {
				c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
			}
		}
	}
}

func isMirror(p *corev1.Pod) bool { _, ok := p.Annotations[mirrorAnnotation]; return ok }

// mirrors reports that obj stands for that static pod in its present form.
func mirrors(obj, static *corev1.Pod) bool {
	return obj.Annotations[mirrorAnnotation] == static.Annotations[hashAnnotation]
}

// mayStart holds a static pod back while an earlier one of its name is still stopping.
func (k *Kubelet) mayStart(w *pod) bool {
	key := kubeapi.KeyOf(w.spec)
	for _, o := range k.allPods() {
		if o != w && o.static && kubeapi.KeyOf(o.spec) == key {
			return false
		}
	}
	return true
}

// staticGone follows the end of a static pod: its successor may start, or its mirror has to go.
func (k *Kubelet) staticGone(w *pod) {
	key := kubeapi.KeyOf(w.spec)
	if next := k.statics[key]; next != nil && next != w {
		k.wake(next, w.cause)
		return
	}
	k.removeMirror(key, w.stopCause)
}

// removeMirror deletes the mirror of a static pod that is no more.
func (k *Kubelet) removeMirror(key kubeapi.Key, cause event.Seq) {
	k.pr.Go("mirror "+string(key), func(p *sim.Proc) {
		p.Cause = cause
		for {
			m, ok := k.informer.Get(key)
			if k.statics[key] != nil || !ok && k.confirmed {
				return
			}
			if ok && k.deleteMirror(p, m) == nil {
				return
			}
			p.Sleep(k.jitter(errorBackoff))
		}
	})
}

func (k *Kubelet) deleteMirror(p *sim.Proc, m *corev1.Pod) error {
	now := int64(0)
	err := kubeapi.Remove(p, k.client, kinds.Pods, m.Namespace, m.Name, &metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &m.UID}})
	if apierrors.IsConflict(err) {
		return nil
	}
	return kubeapi.IgnoreNotFound(err)
}

// mirrorChanged hears of a mirror pod in the API. Users cannot reach the static pod through it: whatever they do to it is undone.
func (k *Kubelet) mirrorChanged(m *corev1.Pod, cause event.Seq) {
	key := kubeapi.KeyOf(m)
	w := k.statics[key]
	if w == nil {
		if _, there := k.informer.Get(key); there && k.confirmed {
			k.removeMirror(key, cause)
		}
		return
	}
	if there, ok := k.informer.Get(key); ok && there.DeletionTimestamp == nil && mirrors(there, w.spec) {
		k.sendFirst(w, cause)
		if w.statusSet && !w.unsent && !w.later && !equality.Semantic.DeepEqual(mergeStatus(there.Status, w.status, there.Generation), there.Status) {
			k.sendLater(w)
		}
		return
	}
	k.checkMirror(w, cause)
}

// checkMirror makes the mirror of a static pod what it should be. It has its own process, alive only while there is something to do: an API server that does not
// answer must not hold up the pod itself.
func (k *Kubelet) checkMirror(w *pod, cause event.Seq) {
	if k.pr.Group.Dead() {
		return
	}
	w.mirrorPending = true
	if w.mirrorBusy {
		return
	}
	w.mirrorBusy = true
	w.mirrorTimer.Stop()
	k.pr.Go("mirror "+w.spec.Name, func(p *sim.Proc) {
		p.Cause = cause
		again := false
		for w.mirrorPending {
			w.mirrorPending = false
			again = k.syncMirror(p, w) != nil
		}
		w.mirrorBusy = false
		if again {
			w.mirrorTimer = k.pr.Loop.After(k.jitter(errorBackoff), func() { k.checkMirror(w, cause) })
		}
	})
}

// syncMirror deletes a wrong mirror and creates a missing one. An error asks for another try.
func (k *Kubelet) syncMirror(p *sim.Proc, w *pod) error {
	key := kubeapi.KeyOf(w.spec)
	if !k.confirmed || k.statics[key] != w || k.node.uid == "" || w.stopping == stopRemoved {
		return nil // asked again when the pods and the Node are known
	}
	if m, ok := k.informer.Get(key); ok {
		if m.DeletionTimestamp == nil && mirrors(m, w.spec) {
			return nil
		}
		if err := k.deleteMirror(p, m); err != nil {
			return err
		}
	}
	_, err := kubeapi.Make(p, k.client, k.mirrorOf(w))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err == nil {
		w.mirrorMade = true
		k.sendFirst(w, p.Cause)
	}
	return nil
}

// sendFirst gives a mirror that was just made its first status, once it is known.
func (k *Kubelet) sendFirst(w *pod, cause event.Seq) {
	if w.mirrorMade && k.mirrored(w) {
		w.mirrorMade = false
		k.send(w, cause)
	}
}

// mirrored reports that the mirror of a static pod is known. Before, a kubelet has nothing to do with the object of that name and may not even read it.
func (k *Kubelet) mirrored(w *pod) bool {
	m, ok := k.informer.Get(kubeapi.KeyOf(w.spec))
	return ok && mirrors(m, w.spec)
}

func (k *Kubelet) mirrorOf(w *pod) *corev1.Pod {
	yes := true
	m := w.spec.DeepCopy()
	m.UID, m.ResourceVersion = "", ""
	m.Annotations[mirrorAnnotation] = w.spec.Annotations[hashAnnotation]
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: k.cfg.Node, UID: k.node.uid, Controller: &yes}}
	return m
}

// programRuns reports that a container runs a program of the model rather than an app of the runtime's own.
func (k *Kubelet) programRuns(c *corev1.Container) bool {
	return k.rt.IsProgram(runtime.Describe(c.Image).Repository)
}
