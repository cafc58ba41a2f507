package replicaset

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// burst bounds creations and deletions of one pass (k/k replica_set.go: BurstReplicas).
const burst = 500

// manage creates or deletes pods until there are as many as wanted.
func (c *Controller) manage(ps *reconcile.Pass, key kubeapi.Key, rs *appsv1.ReplicaSet, active []*corev1.Pod) error {
	have, want := len(active), int(*rs.Spec.Replicas)
	switch {
	case have < want:
		n := min(want-have, burst)
		ps.Decide("create %d %s: %s wants %d, %d exist", n, plural(n, "pod"), rs.Name, want, have)
		c.expected.Expect(key, ps.Now(), n)
		return c.create(ps, key, rs, n)
	case have > want:
		victims := c.choose(rs, active, min(have-want, burst), ps.Now())
		ps.Decide("delete %s: %s wants %d, %d exist", podNames(victims), rs.Name, want, have)
		keys := make([]kubeapi.Key, len(victims))
		for i, pod := range victims {
			keys[i] = kubeapi.KeyOf(pod)
		}
		c.expected.Expect(key, ps.Now(), 0, keys...)
		return c.delete(ps, key, rs, victims)
	}
	return nil
}

// create makes n pods in batches of 1, 2, 4, …; a batch with a failure is the last. What was not made is no longer expected.
func (c *Controller) create(ps *reconcile.Pass, key kubeapi.Key, rs *appsv1.ReplicaSet, n int) error {
	made, err := slowStart(n, func(batch int) (int, error) {
		return together(ps.Proc, batch, "create pod", func(p *sim.Proc, _ int) error { return c.createPod(p, ps.Client, rs) })
	})
	for range n - made {
		c.expected.Created(key)
	}
	return err
}

// slowStart calls do with growing batches that add up to n, until one fails. do reports how many succeeded.
func slowStart(n int, do func(batch int) (int, error)) (made int, err error) {
	for batch := min(n, 1); batch > 0; batch = min(2*batch, n-made) {
		ok, err := do(batch)
		made += ok
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// together runs fn n times at once, waits for all, and gives how many succeeded and the first error.
func together(p *sim.Proc, n int, name string, fn func(p *sim.Proc, i int) error) (ok int, failed error) {
	if n == 1 {
		if err := fn(p, 0); err != nil {
			return 0, err
		}
		return 1, nil
	}
	var done sim.Queue[error]
	cause := p.Cause
	for i := range n {
		p.Go(name, func(q *sim.Proc) { q.Cause = cause; done.Put(fn(q, i)) })
	}
	for range n {
		if err, _ := done.Get(p); err == nil {
			ok++
		} else if failed == nil {
			failed = err
		}
	}
	return ok, failed
}

func (c *Controller) createPod(p *sim.Proc, client *kubeapi.Client, rs *appsv1.ReplicaSet) error {
	pod := podOf(rs)
	if len(pod.Labels) == 0 {
		return errors.New("unable to create pods, no labels")
	}
	created, err := kubeapi.Make(p, client, pod)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // every creation would fail: nothing to report, nothing to retry
	case err != nil:
		c.recorder.Eventf(p, rs, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		return err
	}
	c.recorder.Eventf(p, rs, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", created.Name)
	return nil
}

// podOf is a new pod of rs; the API server names it.
func podOf(rs *appsv1.ReplicaSet) *corev1.Pod {
	t := rs.Spec.Template.DeepCopy()
	prefix := rs.Name + "-"
	if len(validation.IsDNS1123Subdomain(strings.TrimSuffix(prefix, "-")+"-a")) > 0 {
		prefix = rs.Name
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: rs.Namespace, GenerateName: prefix, Labels: t.Labels, Annotations: t.Annotations, Finalizers: t.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, kinds.ReplicaSets.GVK())}},
		Spec: t.Spec,
	}
}

// delete removes the victims all at once.
func (c *Controller) delete(ps *reconcile.Pass, key kubeapi.Key, rs *appsv1.ReplicaSet, victims []*corev1.Pod) error {
	_, err := together(ps.Proc, len(victims), "delete pod", func(p *sim.Proc, i int) error {
		err := c.deletePod(p, ps.Client, rs, victims[i])
		if err != nil {
			c.expected.Deleted(key, kubeapi.KeyOf(victims[i]))
		}
		return kubeapi.IgnoreNotFound(err)
	})
	return err
}

func (c *Controller) deletePod(p *sim.Proc, client *kubeapi.Client, rs *appsv1.ReplicaSet, pod *corev1.Pod) error {
	err := kubeapi.Remove(p, client, kinds.Pods, pod.Namespace, pod.Name, nil)
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		c.recorder.Eventf(p, rs, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
		return fmt.Errorf("unable to delete pods: %w", err)
	}
	c.recorder.Eventf(p, rs, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// podNames lists at most five names.
func podNames(pods []*corev1.Pod) string {
	const shown = 5
	var names []string
	for _, p := range pods[:min(len(pods), shown)] {
		names = append(names, p.Name)
	}
	text := plural(len(pods), "pod") + " " + strings.Join(names, ", ")
	if more := len(pods) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
