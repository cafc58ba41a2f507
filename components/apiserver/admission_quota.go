package apiserver

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/quota"
)

// quotaTries is how often a quota's count is written when another request has changed it in between.
const quotaTries = 4

// resourceQuota refuses what goes beyond the quotas of its namespace, and counts what does not (as pkg/admission/plugin/resourcequota). It is the last of all plugins: what it has counted
// is stored next. Where that fails after all, or an object goes, the resourcequota controller counts anew.
func resourceQuota(a *attributes) error {
	if a.obj == nil || !a.rq.Kind.Namespaced {
		return nil
	}
	meter := quota.For(a.rq.Kind)
	if meter == nil || !meter.Handles(a.rq.Subresource, a.obj, a.old) {
		return nil
	}
	now := a.proc.Now()
	var charges []*charge
	var refused error
	// All quotas are asked before any is charged: what one of them refuses must count in none.
	eachSeen(a, kinds.ResourceQuotas, a.obj.GetNamespace(), func(q *corev1.ResourceQuota) bool {
		c := &charge{meter: meter, name: q.Name}
		if refused = c.weigh(a, q, now); refused == nil && len(c.more) > 0 {
			charges = append(charges, c)
		}
		return refused == nil
	})
	if refused != nil || a.rq.DryRun {
		return refused
	}
	for _, c := range charges {
		if err := c.write(a, now); err != nil {
			return err
		}
	}
	return nil
}

// charge is what a request adds to one quota.
type charge struct {
	meter *quota.Meter
	name  string
	more  corev1.ResourceList
}

// weigh finds out what a request adds to a quota, and refuses what does not fit.
func (c *charge) weigh(a *attributes, q *corev1.ResourceQuota, now time.Time) error {
	c.more = nil
	measured := c.meter.Measured(q.Status.Hard)
	if len(measured) == 0 || !c.meter.Counts(q, a.obj) {
		return nil
	}
	if unnamed := c.meter.Unnamed(measured, a.obj); unnamed != "" {
		return a.forbid("failed quota: %s: %s", q.Name, unnamed)
	}
	for _, n := range measured {
		if _, known := q.Status.Used[n]; !known {
			return a.forbid("status unknown for quota: %s, resources: %s", q.Name, quota.NamesText(measured))
		}
	}
	usage := c.meter.Usage(a.obj, now)
	if negative := quota.Negative(usage); len(negative) > 0 {
		return a.forbid("quota usage is negative for resource(s): %s", quota.NamesText(negative))
	}
	var before corev1.ResourceList
	if a.old != nil && c.meter.Counts(q, a.old) {
		before = c.meter.Usage(a.old, now)
	}
	more := quota.Mask(quota.More(usage, before), quota.Names(q.Status.Hard))
	if len(more) == 0 {
		return nil
	}
	then := quota.Mask(quota.Add(q.Status.Used, more), quota.Names(more))
	if over := quota.Exceeded(then, q.Status.Hard); len(over) > 0 && a.rq.Subresource != "status" {
		return a.forbid("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name, quota.Text(quota.Mask(more, over)), quota.Text(quota.Mask(q.Status.Used, over)),
			quota.Text(quota.Mask(q.Status.Hard, over)))
	}
	c.more = more
	return nil
}

// write adds to the count in the store, which holds however many servers do so at once: on each newer version the request is weighed again.
func (c *charge) write(a *attributes, now time.Time) error {
	s := a.server
	namespace := a.obj.GetNamespace()
	rq := &request{Request: &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.ResourceQuotas, Namespace: namespace, Name: c.name, Subresource: "status", Cause: a.rq.Cause},
		res: s.resources[kinds.ResourceQuotas], user: loopback, key: kinds.ResourceQuotas.Key(namespace, c.name), now: a.rq.now, received: a.rq.received, deadline: a.rq.deadline, tag: a.rq.tag}
	_, err := s.update(a.proc, rq, quotaTries, func(old kinds.Object) (kinds.Object, error) {
		q := old.(*corev1.ResourceQuota)
		if err := c.weigh(a, q, now); err != nil {
			return nil, err
		}
		next := q.DeepCopy()
		if next.Status.Used == nil {
			next.Status.Used = corev1.ResourceList{}
		}
		sum := quota.Add(q.Status.Used, c.more)
		for _, n := range slices.Sorted(maps.Keys(c.more)) {
			next.Status.Used[n] = sum[n]
		}
		return next, nil
	}, nil)
	return kubeapi.IgnoreNotFound(err) // a quota that is gone by now limits nothing
}
