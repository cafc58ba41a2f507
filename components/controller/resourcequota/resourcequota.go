// Package resourcequota counts what the objects of a namespace use of its quotas (k/k pkg/controller/resourcequota). The API server adds to the count what it lets in; this controller
// makes the first count, takes off what has gone, and mends what went wrong, at the latest after five minutes.
//
// Kinds are watched from when a quota first limits something of them: a cluster without quotas pays nothing.
//
// Owns: the status of ResourceQuotas. Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/event, engine/kinds, engine/kinds/quota.
// Goroutines: the loop. Time: simulated.
package resourcequota

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/quota"
	"example.com/kubeviz/engine/sim"
)

// Workers is how many quotas are worked on at a time.
const Workers = 5

// resync is how often everything is counted anew (--resource-quota-sync-period).
const resync = 5 * time.Minute

// byNamespace is the index of the pictures that are made here.
const byNamespace = "namespace"

// Controller is the resourcequota-controller. Its keys are quotas.
type Controller struct {
	pr *kubeapi.Process // reads as the program itself
	in *informers.Informers
	// watched are the kinds that some quota limits.
	watched map[*kinds.Kind]*kubeapi.Informer[kinds.Object]
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet. reader reads what is counted.
func New(pr, reader *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{pr: reader, in: in, watched: map[*kinds.Kind]*kubeapi.Informer[kinds.Object]{}}
	c.Controller = reconcile.New(pr, "resource_quota", c)
	in.ResourceQuotas.Handle(func(ch kubeapi.Change[*corev1.ResourceQuota]) {
		switch ch.Type {
		case event.Added:
			c.Add(ch.Key(), ch.Cause)
		case event.Modified: // the status is written by this controller and by the API servers: that is no reason to count
			if !apiequality.Semantic.DeepEqual(ch.Old.Spec, ch.New.Spec) {
				c.Add(ch.Key(), ch.Cause)
			}
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() {
	c.Controller.Start(Workers)
	c.pr.Go("resource quota resync", func(p *sim.Proc) {
		for {
			p.Sleep(resync)
			c.in.ResourceQuotas.Each(func(q *corev1.ResourceQuota) bool {
				c.Add(kubeapi.KeyOf(q), p.Cause)
				return true
			})
		}
	})
}

// watch begins to follow a kind; what of it goes or shrinks leads to a new count.
func (c *Controller) watch(m *quota.Meter) *kubeapi.Informer[kinds.Object] {
	if i := c.watched[m.Kind]; i != nil {
		return i
	}
	i := kubeapi.NewInformer[kinds.Object](c.pr, m.Kind, kubeapi.InformerOptions{})
	i.Index(byNamespace, func(o kinds.Object) []string { return []string{o.GetNamespace()} })
	i.Handle(func(ch kubeapi.Change[kinds.Object]) {
		switch ch.Type {
		case event.Deleted:
			c.recount(m, ch.Old.GetNamespace(), ch.Cause)
		case event.Modified:
			if m.Frees(ch.New, ch.Old, c.pr.Loop.Now()) {
				c.recount(m, ch.New.GetNamespace(), ch.Cause)
			}
		}
	})
	c.watched[m.Kind] = i
	i.Start()
	return i
}

// recount asks for a new count of the quotas of a namespace that limit a kind.
func (c *Controller) recount(m *quota.Meter, namespace string, cause event.Seq) {
	for _, q := range c.in.ResourceQuotas.ByIndex(informers.ByNamespace, namespace) {
		if len(m.Measured(q.Status.Hard)) > 0 {
			c.Add(kubeapi.KeyOf(q), cause)
		}
	}
}

// Reconcile counts for one quota.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	q, ok := c.in.ResourceQuotas.Get(key)
	if !ok {
		return reconcile.Done, nil
	}
	meters := quota.Meters(q.Spec.Hard)
	for _, m := range meters {
		c.watch(m).WaitSynced(ps.Proc)
	}
	if q, ok = c.in.ResourceQuotas.Get(key); !ok { // waiting took time
		return reconcile.Done, nil
	}
	status := corev1.ResourceQuotaStatus{Hard: q.Spec.Hard.DeepCopy(), Used: quota.Mask(q.Status.Used, quota.Names(q.Spec.Hard))}
	for _, m := range meters {
		i, ok := c.watched[m.Kind]
		if !ok {
			return reconcile.Result{After: time.Second, Why: "its limits changed meanwhile"}, nil
		}
		names := m.Measured(q.Spec.Hard)
		total := m.Nothing(names)
		for _, obj := range i.ByIndex(byNamespace, q.Namespace) {
			if m.Counts(q, obj) {
				total = quota.Add(total, quota.Mask(m.Usage(obj, ps.Now()), names))
			}
		}
		for n, v := range total {
			status.Used[n] = v
		}
	}
	if apiequality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard) && q.Status.Used != nil && quota.Equal(status.Used, q.Status.Used) {
		return reconcile.Done, nil
	}
	ps.Decide("write what is used of quota %s: %s", q.Name, quota.Text(status.Used))
	next := q.DeepCopy()
	next.Status = status
	if _, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next); kubeapi.IgnoreNotFound(err) != nil {
		return reconcile.Done, fmt.Errorf("count of quota %s: %w", key, err)
	}
	return reconcile.Done, nil
}
