// Package deployment brings a Deployment from one pod template to the next through replica sets, and scales them (k/k pkg/controller/deployment; fidelity
// DEP-1 … DEP-10).
//
// A pass reads the replica sets (claiming them), asks a pure plan which of them to scale (rolling.go, proportion.go), and writes status, one step at a time; the
// change of a replica set brings the next pass. As in Kubernetes a pass may write the Deployment's status twice; the second write then meets the version the first
// one made, is refused with 409 Conflict, and the key comes back 5 ms later.
//
// Owns: replica sets of Deployments and the status of Deployments. Imports of ours: components/kubeapi and its record, components/reconcile,
// components/controller/informers, components/controller/claim, engine/kinds, engine/event. Goroutines: the loop. Time: simulated.
package deployment

import (
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/controller/claim"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many Deployments are worked on at a time (--concurrent-deployment-syncs).
const Workers = 5

// Controller is the deployment controller.
type Controller struct {
	in       *informers.Informers
	recorder *record.Recorder
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{in: in, recorder: record.New(pr, "deployment-controller")}
	c.Controller = reconcile.New(pr, "deployment", c)
	in.Deployments.Handle(func(ch kubeapi.Change[*appsv1.Deployment]) { c.Add(ch.Key(), ch.Cause) })
	in.ReplicaSets.Handle(c.replicaSetChanged)
	in.Pods.Handle(c.podChanged)
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

func (c *Controller) replicaSetChanged(ch kubeapi.Change[*appsv1.ReplicaSet]) {
	if ch.Type == event.Deleted {
		c.wakeOwner(ch.Old, ch.Cause)
		return
	}
	was := (*metav1.OwnerReference)(nil)
	if ch.Type == event.Modified {
		was = metav1.GetControllerOfNoCopy(ch.Old)
	}
	is := metav1.GetControllerOfNoCopy(ch.New)
	moved := ch.Type == event.Modified && ((was == nil) != (is == nil) || was != nil && was.UID != is.UID)
	if moved && was != nil {
		c.wakeOwner(ch.Old, ch.Cause)
	}
	switch {
	case is != nil || ch.New.DeletionTimestamp != nil:
		c.wakeOwner(ch.New, ch.Cause)
	case ch.Type == event.Added || moved || !maps.Equal(ch.Old.Labels, ch.New.Labels):
		c.wakeMatching(ch.New, ch.Cause)
	}
}

// podChanged wakes a Deployment that recreates: it waits for its last old pod to be gone.
func (c *Controller) podChanged(ch kubeapi.Change[*corev1.Pod]) {
	if ch.Type != event.Deleted {
		return
	}
	ref := metav1.GetControllerOfNoCopy(ch.Old)
	if ref == nil || ref.Kind != kinds.ReplicaSets.Kind {
		return
	}
	rs, ok := c.in.ReplicaSets.Get(kubeapi.MakeKey(ch.Old.Namespace, ref.Name))
	if !ok || rs.UID != ref.UID {
		return
	}
	d := c.ownerOf(rs)
	if d == nil || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return
	}
	for _, rs := range c.in.ReplicaSetsOf(d.UID) {
		if len(c.in.PodsOf(rs.UID)) > 0 {
			return
		}
	}
	c.Add(kubeapi.KeyOf(d), ch.Cause)
}

func (c *Controller) wakeOwner(rs *appsv1.ReplicaSet, cause event.Seq) {
	if d := c.ownerOf(rs); d != nil {
		c.Add(kubeapi.KeyOf(d), cause)
	}
}

// wakeMatching lets Deployments that could adopt an orphan look at it.
func (c *Controller) wakeMatching(rs *appsv1.ReplicaSet, cause event.Seq) {
	if len(rs.Labels) == 0 {
		return
	}
	for _, d := range c.in.Deployments.ByIndex(informers.ByNamespace, rs.Namespace) {
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err == nil && !selector.Empty() && selector.Matches(labels.Set(rs.Labels)) {
			c.Add(kubeapi.KeyOf(d), cause)
		}
	}
}

// ownerOf finds the Deployment that controls rs, by name and UID.
func (c *Controller) ownerOf(rs *appsv1.ReplicaSet) *appsv1.Deployment {
	ref := metav1.GetControllerOfNoCopy(rs)
	if ref == nil || ref.Kind != kinds.Deployments.Kind {
		return nil
	}
	d, ok := c.in.Deployments.Get(kubeapi.MakeKey(rs.Namespace, ref.Name))
	if !ok || d.UID != ref.UID {
		return nil
	}
	return d
}

// sync is one pass over one Deployment.
type sync struct {
	*reconcile.Pass
	ctl *Controller
	// d is the pass's own copy: revision and conditions are set on it before they are written.
	d *appsv1.Deployment
	// sets are the replica sets that d owns, as the informer had them when the pass began.
	sets []*appsv1.ReplicaSet
	// again asks for another pass then, though nothing changes.
	again time.Duration
}

// Reconcile takes one step with a Deployment.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	found, ok := c.in.Deployments.Get(key)
	if !ok {
		return reconcile.Done, nil
	}
	s := &sync{Pass: ps, ctl: c, d: found.DeepCopy()}
	if equality.Semantic.DeepEqual(s.d.Spec.Selector, &metav1.LabelSelector{}) {
		return reconcile.Done, s.refuseSelector()
	}
	selector, err := metav1.LabelSelectorAsSelector(s.d.Spec.Selector)
	if err != nil {
		return reconcile.Done, nil // the API server lets no such selector in; nothing here could mend it
	}
	candidates := append(c.in.ReplicaSetsOf(s.d.UID), c.in.ReplicaSets.ByIndex(informers.ByOwner, informers.Orphan(s.d.Namespace))...)
	if s.sets, err = claim.Objects(ps, s.d, selector, candidates); err != nil {
		return reconcile.Done, fmt.Errorf("claim replica sets of %s: %w", key, err)
	}
	if err := s.run(); err != nil {
		return reconcile.Done, fmt.Errorf("sync deployment %s: %w", key, err)
	}
	return reconcile.Result{After: s.again, Why: "its progress deadline passes then"}, nil
}

func (s *sync) run() error {
	if s.d.DeletionTimestamp != nil {
		return s.reportOnly()
	}
	if err := s.markPaused(); err != nil {
		return err
	}
	if s.d.Spec.Paused {
		return s.scaleAndReport()
	}
	scaling, err := s.scalingWanted()
	if err != nil {
		return err
	}
	switch {
	case scaling:
		return s.scaleAndReport()
	case s.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		return s.recreate()
	}
	return s.roll()
}

// refuseSelector warns of a Deployment that selects everything; it is left alone.
func (s *sync) refuseSelector() error {
	s.ctl.recorder.Event(s.Proc, s.d, corev1.EventTypeWarning, "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
	if s.d.Status.ObservedGeneration >= s.d.Generation {
		return nil
	}
	s.d.Status.ObservedGeneration = s.d.Generation
	return s.writeStatus("its selector is empty, so nothing is done but to note the specification")
}
