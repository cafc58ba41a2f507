// Package serviceaccount gives every namespace the ServiceAccount "default", which pods run as when they name no other (k/k
// pkg/controller/serviceaccount/serviceaccounts_controller.go). Until it is there, the API server refuses such pods.
//
// Owns: the ServiceAccounts "default". Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/event, engine/kinds.
// Goroutines: the loop. Time: simulated.
package serviceaccount

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
)

// Workers is how many namespaces are worked on at a time.
const Workers = 1

// Controller is the serviceaccount controller. Its keys are names of namespaces.
type Controller struct {
	in *informers.Informers
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{in: in}
	c.Controller = reconcile.New(pr, "serviceaccount", c)
	in.Namespaces.Handle(func(ch kubeapi.Change[*corev1.Namespace]) {
		if ch.Type != event.Deleted {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	in.ServiceAccounts.Handle(func(ch kubeapi.Change[*corev1.ServiceAccount]) {
		if ch.Type == event.Deleted && ch.Old.Name == informers.DefaultServiceAccount {
			c.Add(kubeapi.Key(ch.Old.Namespace), ch.Cause)
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

// Reconcile makes the account of one namespace unless it is there.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	ns, ok := c.in.Namespaces.Get(key)
	if !ok || ns.Status.Phase != corev1.NamespaceActive {
		return reconcile.Done, nil // nothing is made in a namespace that goes away
	}
	if _, ok := c.in.ServiceAccounts.Get(kubeapi.MakeKey(ns.Name, informers.DefaultServiceAccount)); ok {
		return reconcile.Done, nil
	}
	ps.Decide("create service account %s: namespace %s has none", informers.DefaultServiceAccount, ns.Name)
	_, err := kubeapi.Make(ps.Proc, ps.Client, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: informers.DefaultServiceAccount}})
	if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return reconcile.Done, fmt.Errorf("service account of namespace %s: %w", ns.Name, err)
	}
	return reconcile.Done, nil
}
