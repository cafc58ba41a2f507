// Package rootca publishes the certificate of the cluster's authority: every namespace has it in the ConfigMap "kube-root-ca.crt", from which pods learn whom to
// trust when they call the API server (k/k pkg/controller/certificates/rootcacertpublisher).
//
// Owns: the ConfigMaps "kube-root-ca.crt". Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/event.
// Goroutines: the loop. Time: simulated.
package rootca

import (
	"fmt"
	"maps"

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

// The annotation that tells people what the ConfigMap is for.
const (
	descriptionKey = "kubernetes.io/description"
	description    = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Controller is the root-ca-cert-publisher. Its keys are names of namespaces.
type Controller struct {
	in     *informers.Informers
	bundle string
	*reconcile.Controller
}

// New makes the controller, which publishes bundle (PEM), and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers, bundle string) *Controller {
	c := &Controller{in: in, bundle: bundle}
	c.Controller = reconcile.New(pr, "root_ca_cert_publisher", c)
	in.Namespaces.Handle(func(ch kubeapi.Change[*corev1.Namespace]) {
		if ch.Type != event.Deleted {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	in.ConfigMaps.Handle(func(ch kubeapi.Change[*corev1.ConfigMap]) {
		namespace, name := ch.Key().Split()
		if name == informers.RootCAConfigMap && ch.Type != event.Added {
			c.Add(kubeapi.Key(namespace), ch.Cause)
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

// Reconcile brings the ConfigMap of one namespace to the bundle.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	ns, ok := c.in.Namespaces.Get(key)
	if !ok || ns.Status.Phase != corev1.NamespaceActive {
		return reconcile.Done, nil
	}
	data := map[string]string{"ca.crt": c.bundle}
	have, ok := c.in.ConfigMaps.Get(kubeapi.MakeKey(ns.Name, informers.RootCAConfigMap))
	if !ok {
		ps.Decide("create config map %s: namespace %s has none", informers.RootCAConfigMap, ns.Name)
		_, err := kubeapi.Make(ps.Proc, ps.Client, &corev1.ConfigMap{Data: data, ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: informers.RootCAConfigMap,
			Annotations: map[string]string{descriptionKey: description}}})
		if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return reconcile.Done, fmt.Errorf("root certificate of namespace %s: %w", ns.Name, err)
		}
		return reconcile.Done, nil
	}
	if maps.Equal(have.Data, data) && have.Annotations[descriptionKey] != "" {
		return reconcile.Done, nil
	}
	ps.Decide("write config map %s of namespace %s anew: it was changed", informers.RootCAConfigMap, ns.Name)
	next := have.DeepCopy()
	next.Data = data
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[descriptionKey] = description
	if _, err := kubeapi.Replace(ps.Proc, ps.Client, next); err != nil {
		return reconcile.Done, fmt.Errorf("root certificate of namespace %s: %w", ns.Name, err)
	}
	return reconcile.Done, nil
}
