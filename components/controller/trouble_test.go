package controller_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// gate stands between a program and its API server: before is called with each request and may answer it with an error in the server's place.
type gate struct {
	kubeapi.Transport
	before func(p *sim.Proc, r *kubeapi.Request) error
}

func (g gate) Do(p *sim.Proc, r *kubeapi.Request) (*kubeapi.Response, error) {
	if err := g.before(p, r); err != nil {
		return &kubeapi.Response{Err: err}, nil
	}
	return g.Transport.Do(p, r)
}

func (g gate) Watch(p *sim.Proc, r *kubeapi.Request) (*kubeapi.WatchStream, error) {
	if err := g.before(p, r); err != nil {
		return nil, err
	}
	return g.Transport.Watch(p, r)
}

// startGated is startManager with a gate; the manager runs on a machine of its own, so that answers and watches take their time.
func startGated(t *testing.T, before func(p *sim.Proc, r *kubeapi.Request) error, opts ...apitest.Option) *apitest.Cluster {
	t.Helper()
	c := apitest.New(t, opts...)
	c.Nodes(4)
	pr := c.Process("manager", "kube-controller-manager", apitest.ControllerManager)
	if before != nil {
		pr.Client.Transport = gate{pr.Client.Transport, before}
	}
	controller.Start(pr, controller.Config{})
	c.Run(3 * time.Second)
	return c
}

func quota(r *kubeapi.Request) error {
	return apierrors.NewForbidden(r.Kind.GR(), r.Name, nil)
}

// TestALaggingPictureMakesNoPodTooMany keeps the controller from seeing the pods it made for a while, though its replica set changes meanwhile.
func TestALaggingPictureMakesNoPodTooMany(t *testing.T) {
	blind := true
	c := startGated(t, func(_ *sim.Proc, r *kubeapi.Request) error {
		if blind && r.Verb == kubeapi.Watch && r.Kind == kinds.Pods {
			return apierrors.NewTooManyRequests("wait", 1)
		}
		return nil
	})
	startPods(c).readyAfter = time.Second
	c.Create(nginx(30, "nginx:1.27"))
	c.Run(5 * time.Second)
	if n := len(c.List(kinds.Pods)); n != 30 {
		t.Errorf("while nothing is seen: %d pods, want 30", n)
	}
	blind = false
	c.Run(time.Minute)
	if n := len(c.List(kinds.Pods)); n != 30 || deployment(c).Status.AvailableReplicas != 30 {
		t.Errorf("in the end: %d pods, %d available", n, deployment(c).Status.AvailableReplicas)
	}
}

func TestPodsThatCannotBeMadeAreReported(t *testing.T) {
	refuse := true
	tries := 0
	c := startGated(t, func(_ *sim.Proc, r *kubeapi.Request) error {
		if refuse && r.Verb == kubeapi.Create && r.Kind == kinds.Pods {
			tries++
			return quota(r)
		}
		return nil
	})
	startPods(c).readyAfter = time.Second
	c.Create(nginx(8, "nginx:1.27"))
	c.Run(30 * time.Millisecond)
	if tries == 0 || tries > 4 {
		t.Errorf("%d attempts within the first retries: a failure ends the batches, so one per pass is due", tries)
	}
	c.Run(3 * time.Second)
	if got := conditionOf(deployment(c), appsv1.DeploymentReplicaFailure); !strings.HasPrefix(got, "True FailedCreate: pods") || !strings.Contains(got, "is forbidden") {
		t.Errorf("the Deployment says %q", got)
	}
	if got := messages(c, 0, "FailedCreate"); len(got) == 0 || !strings.HasPrefix(got[0], "Error creating: pods") {
		t.Errorf("events %v", got)
	}
	refuse = false
	c.Run(30 * time.Second)
	if d := deployment(c); conditionOf(d, appsv1.DeploymentReplicaFailure) != "" || d.Status.AvailableReplicas != 8 {
		t.Errorf("when pods can be made again: %q, %d available", conditionOf(d, appsv1.DeploymentReplicaFailure), d.Status.AvailableReplicas)
	}
}

func TestAReplicaSetThatCannotBeMadeIsReported(t *testing.T) {
	refuse := true
	c := startGated(t, func(_ *sim.Proc, r *kubeapi.Request) error {
		if refuse && r.Verb == kubeapi.Create && r.Kind == kinds.ReplicaSets {
			return quota(r)
		}
		return nil
	})
	startPods(c).readyAfter = time.Second
	c.Create(nginx(1, "nginx:1.27"))
	c.Run(3 * time.Second)
	want := `Failed to create new replica set "nginx-67dc647948": `
	if got := conditionOf(deployment(c), appsv1.DeploymentProgressing); !strings.HasPrefix(got, "False ReplicaSetCreateError: "+want) {
		t.Errorf("the Deployment says %q", got)
	}
	if got := messages(c, 0, "ReplicaSetCreateError"); len(got) == 0 || !strings.HasPrefix(got[0], roles(want)) {
		t.Errorf("events %v", got)
	}
	refuse = false
	c.Run(30 * time.Second)
	if got := deployment(c).Status.AvailableReplicas; got != 1 {
		t.Errorf("%d available in the end", got)
	}
}

// TestADependentThatChangesAllTheTimeIsCollected: a deletion names the version it was decided on; one that changed meanwhile is deleted all the same if its owners did not.
func TestADependentThatChangesAllTheTimeIsCollected(t *testing.T) {
	var c *apitest.Cluster
	var user *kubeapi.Client
	touched := 0
	c = startGated(t, func(p *sim.Proc, r *kubeapi.Request) error {
		if r.Verb == kubeapi.Delete && r.Kind == kinds.Pods && r.Delete.Preconditions != nil && r.Delete.Preconditions.ResourceVersion != nil {
			pod, err := kubeapi.Fetch[kinds.Object](p, user, kinds.Pods, r.Namespace, r.Name)
			if err == nil {
				next := pod.DeepCopyObject().(kinds.Object)
				next.SetAnnotations(map[string]string{"touched": p.Now().String()})
				if _, err = kubeapi.Replace(p, user, next); err == nil {
					touched++
				}
			}
		}
		return nil
	})
	user = c.Client
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(5 * time.Second)
	if err := c.Delete(kinds.Deployments, "default", "nginx", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(5 * time.Second)
	if got := count(c); got != "0 deployments, 0 replica sets, 0 pods" || touched != 2 {
		t.Errorf("%s after %d changes in between", got, touched)
	}
}

func TestAnOwnerInTheForegroundTakesNoReplacements(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter = time.Second
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(5 * time.Second)
	user{c}.remove(metav1.DeletePropagationForeground)
	c.Run(20 * time.Second)
	var names []string
	for _, o := range c.List(kinds.Pods) {
		names = append(names, o.GetName())
	}
	if len(names) != 2 || len(livePods(c)) != 0 {
		t.Errorf("pods %v, live %d; want the two that are ending", names, len(livePods(c)))
	}
}
