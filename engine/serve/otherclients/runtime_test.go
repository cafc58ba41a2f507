package otherclients

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	finalizer = "example.com/site"
	sawIt     = appsv1.DeploymentConditionType("example.com/Seen")
)

// sites makes of each config map with the label "site" a deployment, of so many replicas as it says; what it saw of it goes into the map's annotations and into the
// deployment's conditions; and it holds the map back until it has said good-bye.
type sites struct {
	client.Client
	farewells chan string
}

func (s *sites) Reconcile(ctx context.Context, rq ctrl.Request) (ctrl.Result, error) {
	var site corev1.ConfigMap
	if err := s.Get(ctx, rq.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&site, finalizer) {
			if err := s.Update(ctx, &site); err != nil {
				return ctrl.Result{}, err
			}
			s.farewells <- site.Name
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&site, finalizer) {
		if err := s.Update(ctx, &site); err != nil {
			return ctrl.Result{}, err
		}
	}
	replicas, err := strconv.ParseInt(site.Data["replicas"], 10, 32)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, d, func() error {
		app := map[string]string{"app": site.Name}
		d.Spec.Replicas = new(int32(replicas))
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
		d.Spec.Template.Labels = app
		if len(d.Spec.Template.Spec.Containers) == 0 {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "nginx"}}
		}
		return controllerutil.SetControllerReference(&site, d, s.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	seen := false
	for _, c := range d.Status.Conditions {
		seen = seen || c.Type == sawIt
	}
	if !seen {
		before := d.DeepCopy()
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: sawIt, Status: corev1.ConditionTrue, Reason: "Reconciled", LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now()})
		if err := s.Status().Patch(ctx, d, client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return ctrl.Result{}, err
		}
	}
	if ready := fmt.Sprint(d.Status.ReadyReplicas); site.Annotations["ready"] != ready {
		before := site.DeepCopy()
		metav1.SetMetaDataAnnotation(&site.ObjectMeta, "ready", ready)
		if err := s.Patch(ctx, &site, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// A manager of controller-runtime leads, caches and reconciles as before a real server, and goes on when the leading master dies.
func TestAManagerReconcilesWhatItOwns(t *testing.T) {
	c := open(t)
	ctx, stop := context.WithCancel(t.Context())
	ctrl.SetLogger(logr.Discard())
	m, err := ctrl.NewManager(c.cfg, ctrl.Options{LeaderElection: true, LeaderElectionID: "sites", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true, Metrics: server.Options{BindAddress: "0"}})
	must(t, err)
	s := &sites{m.GetClient(), make(chan string, 1)}
	labelled, err := predicate.LabelSelectorPredicate(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "site", Operator: metav1.LabelSelectorOpExists}}})
	must(t, err)
	must(t, ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}, builder.WithPredicates(labelled)).Owns(&appsv1.Deployment{}).Complete(s))
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	direct, err := client.New(c.cfg, client.Options{Scheme: m.GetScheme()}) // reads what is stored, not a cache
	must(t, err)
	site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: namespace, Labels: map[string]string{"site": ""}}, Data: map[string]string{"replicas": "2"}}
	must(t, direct.Create(ctx, site))
	key := client.ObjectKeyFromObject(site)
	ready := func(want string) {
		t.Helper()
		c.until(want+" replicas are ready", func() error {
			if err := direct.Get(ctx, key, site); err != nil {
				return err
			}
			if got := site.Annotations["ready"]; got != want {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
	}
	ready("2")
	var d appsv1.Deployment
	must(t, direct.Get(ctx, key, &d))
	if owner := metav1.GetControllerOf(&d); owner == nil || owner.UID != site.UID || owner.Kind != "ConfigMap" || !*owner.BlockOwnerDeletion {
		t.Errorf("owned by %v", owner)
	}
	kept := false
	for _, c := range d.Status.Conditions {
		kept = kept || c.Type == sawIt && c.Status == corev1.ConditionTrue
	}
	if !kept {
		t.Errorf("the controller's condition is gone: %v", d.Status.Conditions)
	}

	c.crash(c.leader())
	must(t, tried(ctx, func() error {
		return direct.Patch(ctx, site, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"replicas":"3"}}`)))
	}))
	ready("3")

	must(t, tried(ctx, func() error { return direct.Delete(ctx, site) }))
	if gone := <-s.farewells; gone != "shop" {
		t.Errorf("good-bye to %s", gone)
	}
	c.until("what it owned is collected", func() error {
		if err := direct.Get(ctx, key, site); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the map: %w", err)
		}
		if err := direct.Get(ctx, key, &d); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the deployment: %w", err)
		}
		return nil
	})
}
