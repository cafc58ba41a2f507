package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// pods is a stand-in for scheduler and kubelets: it binds each pod to a node in turn as soon as it sees it, and makes pods ready or confirms their end when the test says so,
// oldest first.
type pods struct {
	c     *apitest.Cluster
	in    *kubeapi.Informer[*corev1.Pod]
	pr    *kubeapi.Process
	bound int
	// prompt: pods become ready by themselves that long after they were bound, and end that long after their deletion; 0: only when told.
	readyAfter, goneAfter time.Duration
}

func startPods(c *apitest.Cluster) *pods {
	w := &pods{c: c, pr: c.Process("workstation", "pods", apitest.Admin)}
	w.in = kubeapi.NewInformer[*corev1.Pod](w.pr, kinds.Pods, kubeapi.InformerOptions{})
	w.in.Handle(func(ch kubeapi.Change[*corev1.Pod]) {
		switch {
		case ch.Type == event.Added && ch.New.Spec.NodeName == "":
			w.pr.Go("bind", func(p *sim.Proc) {
				p.Cause = ch.Cause
				p.Sleep(7 * time.Millisecond)
				w.bound++
				if kubeapi.Bind(p, w.pr.Client, ch.New, fmt.Sprintf("worker-%d", w.bound%4+1)) == nil && w.readyAfter > 0 {
					p.Sleep(w.readyAfter)
					w.ready(p, ch.New)
				}
			})
		case ch.Type == event.Modified && ch.Old.DeletionTimestamp == nil && ch.New.DeletionTimestamp != nil && w.goneAfter > 0:
			w.pr.Go("end", func(p *sim.Proc) { p.Cause = ch.Cause; p.Sleep(w.goneAfter); w.gone(p, ch.New) })
		}
	})
	w.in.Start()
	return w
}

// pick is the oldest pod whose name begins with prefix and of which is says yes.
func (w *pods) pick(prefix string, is func(*corev1.Pod) bool) *corev1.Pod {
	var found *corev1.Pod
	w.in.Each(func(pod *corev1.Pod) bool {
		if strings.HasPrefix(pod.Name, prefix) && is(pod) && (found == nil || pod.CreationTimestamp.Before(&found.CreationTimestamp)) {
			found = pod
		}
		return true
	})
	if found == nil {
		w.c.T.Fatalf("no pod of %s is in the state that the story needs", prefix)
	}
	return found
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// readyOne makes the oldest pod of a replica set ready that is not.
func (w *pods) readyOne(p *sim.Proc, set string) {
	w.ready(p, w.pick(set, func(pod *corev1.Pod) bool { return !isReady(pod) && pod.DeletionTimestamp == nil }))
}

// goneOne confirms the end of the oldest pod of a replica set that is terminating.
func (w *pods) goneOne(p *sim.Proc, set string) {
	w.gone(p, w.pick(set, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }))
}

func (w *pods) ready(p *sim.Proc, pod *corev1.Pod) {
	now, err := kubeapi.Fetch[*corev1.Pod](p, w.pr.Client, kinds.Pods, pod.Namespace, pod.Name)
	if err != nil {
		return
	}
	next := now.DeepCopy()
	next.Status.Phase = corev1.PodRunning
	at := metav1.NewTime(p.Now().Truncate(time.Second))
	for _, t := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		next.Status.Conditions = append(next.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	if _, err := kubeapi.ReplaceStatus(p, w.pr.Client, next); err != nil {
		w.c.T.Errorf("make %s ready: %v", pod.Name, err)
	}
}

func (w *pods) gone(p *sim.Proc, pod *corev1.Pod) {
	zero, uid := int64(0), pod.UID
	err := kubeapi.Remove(p, w.pr.Client, kinds.Pods, pod.Namespace, pod.Name, &metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &uid}})
	if kubeapi.IgnoreNotFound(err) != nil {
		w.c.T.Errorf("end %s: %v", pod.Name, err)
	}
}

// nginx is what kubectl create deployment nginx makes.
func nginx(replicas int32, image string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nginx", Namespace: "default", Labels: labels}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: image}}}}}}
	for _, fn := range changes {
		fn(d)
	}
	return d
}

// user is what people do to the Deployment.
type user struct{ c *apitest.Cluster }

func (u user) patch(text, body string) event.Seq {
	return u.c.Command(text, func(p *sim.Proc, client *kubeapi.Client) {
		_, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "nginx", PatchType: types.StrategicMergePatchType, Patch: []byte(body)})
		if err != nil {
			u.c.T.Fatalf("%s: %v", text, err)
		}
	})
}

func (u user) image(image string) event.Seq {
	return u.patch("kubectl set image deployment/nginx nginx="+image, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":%q}]}}}}`, image))
}

func (u user) scale(n string) event.Seq {
	return u.patch("kubectl scale deployment nginx --replicas="+n, `{"spec":{"replicas":`+n+`}}`)
}

func (u user) remove(policy metav1.DeletionPropagation) event.Seq {
	return u.c.Command("kubectl delete deployment nginx --cascade="+strings.ToLower(string(policy)), func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.Deployments, "default", "nginx", &metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			u.c.T.Fatalf("delete: %v", err)
		}
	})
}

// startManager runs a whole controller manager on master-1 until it leads and its controllers run.
func startManager(t testing.TB, opts ...apitest.Option) *apitest.Cluster {
	t.Helper()
	c := apitest.New(t, opts...)
	c.Nodes(4)
	controller.Start(c.Process("master-1", "kube-controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(3 * time.Second)
	return c
}
