// Package namespace empties namespaces that are to go, and lets them go then (k/k pkg/controller/namespace; fidelity NS-2, KEP-5080).
//
// Pods are the first: what else there is waits until the last of them is gone, so that no pod outlives its network policy or its secrets. What is left is told in conditions of the namespace.
// When nothing is, the finalizer "kubernetes" is taken off and the API server removes the namespace.
//
// Owns: the content of namespaces that are terminating, their conditions and their finalizer "kubernetes". Imports of ours: components/kubeapi, components/reconcile,
// components/controller/informers, engine/event, engine/kinds. Goroutines: the loop. Time: simulated.
package namespace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many namespaces are worked on at a time (--concurrent-namespace-syncs).
const Workers = 10

const (
	// settling is how long a deletion rests before the work begins, so that every API server has seen that nothing may be made there any more (namespaceDeletionGracePeriod).
	settling = 5 * time.Second
	// finalizerEstimate is how long whoever owns a finalizer is guessed to need (finalizerEstimateSeconds).
	finalizerEstimate = 15 * time.Second
)

// Controller is the namespace controller. Its keys are names of namespaces.
type Controller struct {
	in *informers.Informers
	*reconcile.Controller
}

// New makes the controller and registers its handler; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{in: in}
	c.Controller = reconcile.New(pr, "namespace", c)
	in.Namespaces.Handle(func(ch kubeapi.Change[*corev1.Namespace]) {
		if ch.Type != event.Deleted && ch.New.DeletionTimestamp != nil {
			c.AddAfter(ch.Key(), settling, ch.Cause, "every API server knows by then that nothing may be made in it")
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

// Reconcile goes on with the deletion of one namespace.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	ns, ok := c.in.Namespaces.Get(key)
	if !ok || ns.DeletionTimestamp == nil {
		return reconcile.Done, nil
	}
	// The picture may lag behind what this controller wrote itself.
	ns, err := kubeapi.Fetch[*corev1.Namespace](ps.Proc, ps.Client, kinds.Namespaces, "", ns.Name)
	if apierrors.IsNotFound(err) {
		return reconcile.Done, nil
	}
	if err != nil {
		return reconcile.Done, fmt.Errorf("read namespace %s: %w", key, err)
	}
	if ns.DeletionTimestamp == nil || len(ns.Spec.Finalizers) == 0 {
		return reconcile.Done, nil
	}
	rest, err := c.empty(ps, ns)
	if ns, err = c.tell(ps, ns, rest, err); err != nil {
		return reconcile.Done, err
	}
	if rest.wait > 0 {
		return reconcile.Result{After: rest.wait/2 + time.Second, Why: "what is left should be gone by then: " + rest.content()}, nil
	}
	ps.Decide("let namespace %s go: nothing is left in it", ns.Name)
	next := ns.DeepCopy()
	next.Spec.Finalizers = slices.DeleteFunc(next.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	_, err = ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.Namespaces, Name: ns.Name, Subresource: "finalize", Object: next})
	if kubeapi.IgnoreNotFound(err) != nil {
		return reconcile.Done, fmt.Errorf("finalize namespace %s: %w", key, err)
	}
	return reconcile.Done, nil
}

// remains is what a namespace still holds.
type remains struct {
	kinds      map[string]int // by "resource.group"
	finalizers map[string]int
	// wait is how long the last of it is guessed to need; 0: nothing is left.
	wait time.Duration
}

// empty deletes what is in the namespace and tells what stays for now.
func (c *Controller) empty(ps *reconcile.Pass, ns *corev1.Namespace) (*remains, error) {
	rest := &remains{kinds: map[string]int{}, finalizers: map[string]int{}}
	if err := c.clear(ps, ns, kinds.Pods, rest); err != nil || rest.wait > 0 {
		return rest, err
	}
	all, err := c.contents(ps)
	if err != nil {
		return rest, err
	}
	var failed error
	for _, k := range all {
		if err := c.clear(ps, ns, k, rest); err != nil && failed == nil {
			failed = err // the others are deleted all the same
		}
	}
	return rest, failed
}

// contents are the kinds of which a namespace may hold something beside pods, those that are defined among them.
func (c *Controller) contents(ps *reconcile.Pass) ([]*kinds.Kind, error) {
	var all []*kinds.Kind
	for _, k := range kinds.All() {
		if k.Namespaced && k.Stored() && k != kinds.Pods && !k.NoCollectionDelete {
			all = append(all, k)
		}
	}
	definitions, _, err := kubeapi.FetchList[*apiextensionsv1.CustomResourceDefinition](ps.Proc, ps.Client, kinds.CustomResourceDefinitions, kubeapi.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list definitions of kinds: %w", err)
	}
	for _, d := range definitions {
		if d.Spec.Scope != apiextensionsv1.NamespaceScoped || !kinds.Established(d) {
			continue
		}
		if i := slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served }); i >= 0 {
			all = append(all, kinds.Defined(d.Spec.Group, d.Spec.Versions[i].Name, d.Spec.Names.Kind, d.Spec.Names.Plural, true))
		}
	}
	return all, nil
}

// clear deletes all of a kind that is in the namespace, and adds what stays to rest.
func (c *Controller) clear(ps *reconcile.Pass, ns *corev1.Namespace, k *kinds.Kind, rest *remains) error {
	there, err := c.list(ps, ns, k)
	if err != nil || len(there) == 0 {
		return err
	}
	var fresh []kinds.Object
	for _, o := range there {
		if o.GetDeletionTimestamp() == nil {
			fresh = append(fresh, o)
		}
	}
	if len(fresh) > 0 {
		ps.Decide("delete %s of namespace %s, which is to go", amount(len(fresh), k), ns.Name)
		background := metav1.DeletePropagationBackground
		if _, err := ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.DeleteCollection, Kind: k, Namespace: ns.Name,
			Delete: &metav1.DeleteOptions{PropagationPolicy: &background}}); kubeapi.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s of namespace %s: %w", k.Resource, ns.Name, err)
		}
		if there, err = c.list(ps, ns, k); err != nil || len(there) == 0 {
			return err
		}
	}
	rest.kinds[k.Resource+"."+k.Group] += len(there)
	for _, o := range there {
		for _, f := range o.GetFinalizers() {
			rest.finalizers[f]++
			rest.wait = max(rest.wait, finalizerEstimate)
		}
		if pod, ok := o.(*corev1.Pod); ok {
			rest.wait = max(rest.wait, grace(pod))
		}
	}
	if rest.wait == 0 {
		return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", ns.Name, k.Group, k.Version, k.Resource)
	}
	return nil
}

func (c *Controller) list(ps *reconcile.Pass, ns *corev1.Namespace, k *kinds.Kind) ([]kinds.Object, error) {
	resp, err := ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.List, Kind: k, Namespace: ns.Name})
	if apierrors.IsNotFound(err) {
		return nil, nil // a kind that is no longer defined
	}
	if err != nil {
		return nil, fmt.Errorf("list %s of namespace %s: %w", k.Resource, ns.Name, err)
	}
	return resp.Items, nil
}

// grace is how long a pod may take to end.
func grace(pod *corev1.Pod) time.Duration {
	if kinds.PodEnded(pod) || pod.Spec.TerminationGracePeriodSeconds == nil {
		return time.Second
	}
	return time.Duration(max(*pod.Spec.TerminationGracePeriodSeconds, 1)) * time.Second
}

func amount(n int, k *kinds.Kind) string {
	if n == 1 {
		return "1 " + cmp.Or(k.Singular, k.Resource)
	}
	return fmt.Sprintf("%d %s", n, k.Resource)
}

// content and held are the texts of the conditions.
func (r *remains) content() string {
	if len(r.kinds) == 0 {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(r.kinds)) {
		parts = append(parts, fmt.Sprintf("%s has %d resource instances", k, r.kinds[k]))
	}
	return "Some resources are remaining: " + strings.Join(parts, ", ")
}

func (r *remains) held() string {
	if len(r.finalizers) == 0 {
		return ""
	}
	var parts []string
	for _, f := range slices.Sorted(maps.Keys(r.finalizers)) {
		parts = append(parts, fmt.Sprintf("%s in %d resource instances", f, r.finalizers[f]))
	}
	return "Some content in the namespace has finalizers remaining: " + strings.Join(parts, ", ")
}

// wanted are the conditions that tell of rest and of what went wrong, in the order in which they are written.
func wanted(rest *remains, failed error) []corev1.NamespaceCondition {
	says := func(t corev1.NamespaceConditionType, bad, badReason, good, goodReason string) corev1.NamespaceCondition {
		if bad != "" {
			return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Reason: badReason, Message: bad}
		}
		return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionFalse, Reason: goodReason, Message: good}
	}
	failure := ""
	if failed != nil {
		failure = "Failed to delete all resource types, 1 remaining: " + failed.Error()
	}
	return []corev1.NamespaceCondition{
		says(corev1.NamespaceDeletionDiscoveryFailure, "", "", "All resources successfully discovered", "ResourcesDiscovered"),
		says(corev1.NamespaceDeletionGVParsingFailure, "", "", "All legacy kube types successfully parsed", "ParsedGroupVersions"),
		says(corev1.NamespaceDeletionContentFailure, failure, "ContentDeletionFailed", "All content successfully deleted, may be waiting on finalization", "ContentDeleted"),
		says(corev1.NamespaceContentRemaining, rest.content(), "SomeResourcesRemain", "All content successfully removed", "ContentRemoved"),
		says(corev1.NamespaceFinalizersRemaining, rest.held(), "SomeFinalizersRemain", "All content-preserving finalizers finished", "ContentHasNoFinalizers"),
	}
}

// tell writes the conditions where they changed. The error is failed, or that of the write.
func (c *Controller) tell(ps *reconcile.Pass, ns *corev1.Namespace, rest *remains, failed error) (*corev1.Namespace, error) {
	next := ns.DeepCopy()
	changed := false
	for _, w := range wanted(rest, failed) {
		w.LastTransitionTime = metav1.NewTime(ps.Now())
		i := slices.IndexFunc(next.Status.Conditions, func(h corev1.NamespaceCondition) bool { return h.Type == w.Type })
		if i < 0 {
			next.Status.Conditions, changed = append(next.Status.Conditions, w), true
			continue
		}
		if h := &next.Status.Conditions[i]; h.Status != w.Status || h.Reason != w.Reason || h.Message != w.Message {
			*h, changed = w, true
		}
	}
	if !changed {
		return ns, failed
	}
	stored, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next)
	switch {
	case failed != nil:
		return ns, failed
	case err != nil:
		return ns, fmt.Errorf("write status of namespace %s: %w", ns.Name, err)
	}
	return stored, nil
}
