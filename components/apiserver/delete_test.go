package apiserver_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/engine/kinds"
)

func grace(s int64) *metav1.DeleteOptions { return &metav1.DeleteOptions{GracePeriodSeconds: &s} }

func policy(p metav1.DeletionPropagation) *metav1.DeleteOptions {
	return &metav1.DeleteOptions{PropagationPolicy: &p}
}

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func expectLog(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the log says\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestPodsAreDeletedWithGrace(t *testing.T) {
	const phase = " phase=Pending"
	for _, tc := range []struct {
		what    string
		pod     *corev1.Pod
		deletes []*metav1.DeleteOptions
		want    []string
	}{
		{"an unscheduled pod goes at once", apitest.Pod("a"), []*metav1.DeleteOptions{nil}, []string{
			"modified pods a generation=2 deleting grace=0" + phase, "deleted pods a generation=2 deleting grace=0" + phase}},
		{"a scheduled pod gets the grace of its spec", apitest.Pod("a", on("n")), []*metav1.DeleteOptions{nil}, []string{
			"modified pods a generation=2 deleting grace=30 node=n" + phase}},
		{"a second deletion only shortens", apitest.Pod("a", on("n")), []*metav1.DeleteOptions{grace(20), grace(60), grace(5)}, []string{
			"modified pods a generation=2 deleting grace=20 node=n" + phase, "modified pods a generation=2 deleting grace=5 node=n" + phase}},
		{"a deletion without a wish changes nothing the second time", apitest.Pod("a", on("n")), []*metav1.DeleteOptions{grace(60), nil}, []string{
			"modified pods a generation=2 deleting grace=60 node=n" + phase}},
		{"grace 0 ends it", apitest.Pod("a", on("n")), []*metav1.DeleteOptions{nil, grace(0)}, []string{
			"modified pods a generation=2 deleting grace=30 node=n" + phase, "modified pods a generation=2 deleting grace=0 node=n" + phase, "deleted pods a generation=2 deleting grace=0 node=n" + phase}},
		{"a negative grace counts as 1", apitest.Pod("a", on("n")), []*metav1.DeleteOptions{grace(-5)}, []string{
			"modified pods a generation=2 deleting grace=1 node=n" + phase}},
		{"a finalizer keeps the pod", apitest.Pod("a", func(p *corev1.Pod) { p.Finalizers = []string{"example.org/f"} }), []*metav1.DeleteOptions{nil}, []string{
			"modified pods a generation=2 deleting grace=0 finalizers=example.org/f" + phase}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			c := apitest.New(t)
			c.Create(tc.pod)
			from := c.Journal.Last()
			for _, o := range tc.deletes {
				if err := c.Delete(kinds.Pods, "default", "a", o); err != nil {
					t.Fatal(err)
				}
			}
			expectLog(t, c.LogSince(from), tc.want...)
		})
	}
}

func TestADeletionsTimeIsWhenThePodShallBeGone(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("a", on("n")))
	c.Run(time.Minute)
	now := c.Loop.Now()
	c.Delete(kinds.Pods, "default", "a", grace(40))
	c.Run(10 * time.Second)
	c.Delete(kinds.Pods, "default", "a", grace(15))
	got := c.Get(kinds.Pods, "default", "a").GetDeletionTimestamp().Sub(now)
	if got < 14*time.Second || got > 16*time.Second {
		t.Errorf("the deletion is due %v after the first request, want 15s", got)
	}
}

func TestAPodThatHasFinishedGoesAtOnce(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("a", on("n")))
	c.Update(kinds.Pods, "default", "a", "status", func(o kinds.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded })
	if err := c.Delete(kinds.Pods, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	if c.Get(kinds.Pods, "default", "a") != nil {
		t.Error("the pod is still there")
	}
}

func TestPreconditionsGuardADeletion(t *testing.T) {
	c := apitest.New(t)
	pod := c.Create(apitest.Pod("a"))
	other := types.UID("f00")
	for _, tc := range []struct {
		pre  metav1.Preconditions
		want string
	}{
		{metav1.Preconditions{UID: &other}, `Operation cannot be fulfilled on Pod "a": the UID in the precondition (f00) does not match the UID in record (` + string(pod.GetUID()) +
			`). The object might have been deleted and then recreated`},
		{metav1.Preconditions{ResourceVersion: ptr("1")}, `Operation cannot be fulfilled on Pod "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (` +
			pod.GetResourceVersion() + `). The object might have been modified`},
	} {
		err := c.Delete(kinds.Pods, "default", "a", &metav1.DeleteOptions{Preconditions: &tc.pre})
		if err == nil || err.Error() != tc.want || !apierrors.IsConflict(err) {
			t.Errorf("got %v\nwant %s", err, tc.want)
		}
	}
	uid := pod.GetUID()
	if err := c.Delete(kinds.Pods, "default", "a", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); err != nil {
		t.Error(err)
	}
}

func TestDependentsPolicies(t *testing.T) {
	const rs = " replicas=1"
	for _, tc := range []struct {
		what string
		opts *metav1.DeleteOptions
		want string
	}{
		{"background, the default, removes the owner at once", nil, "deleted replicasets web generation=1" + rs},
		{"foreground waits for dependents", policy(metav1.DeletePropagationForeground), "modified replicasets web generation=2 deleting grace=0 finalizers=foregroundDeletion" + rs},
		{"orphan waits for owner references to go", policy(metav1.DeletePropagationOrphan), "modified replicasets web generation=2 deleting grace=0 finalizers=orphan" + rs},
	} {
		c := apitest.New(t)
		c.Create(apitest.ReplicaSet("web", 1))
		from := c.Journal.Last()
		if err := c.Delete(kinds.ReplicaSets, "default", "web", tc.opts); err != nil {
			t.Fatal(err)
		}
		if got := c.LogSince(from); !slices.Equal(got, []string{tc.want}) {
			t.Errorf("%s: %v", tc.what, got)
		}
		if tc.opts == nil {
			continue
		}
		if _, err := c.MergePatch(kinds.ReplicaSets, "default", "web", "", `{"metadata":{"finalizers":["a.example/b"]}}`); err == nil ||
			!strings.Contains(err.Error(), "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted") {
			t.Errorf("%s: a new finalizer: %v", tc.what, err)
		}
		if _, err := c.MergePatch(kinds.ReplicaSets, "default", "web", "", `{"metadata":{"finalizers":null}}`); err != nil {
			t.Fatal(err)
		}
		if c.Get(kinds.ReplicaSets, "default", "web") != nil {
			t.Errorf("%s: the last finalizer is gone, the object is not", tc.what)
		}
	}
}

func TestANamespaceTerminatesUntilItIsFinalized(t *testing.T) {
	c := apitest.New(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	c.Create(ns)
	from := c.Journal.Last()
	if err := c.Delete(kinds.Namespaces, "", "n", nil); err != nil {
		t.Fatal(err)
	}
	_, err := c.TryCreate(apitest.Pod("a", func(p *corev1.Pod) { p.Namespace = "n" }))
	if want := `pods "a" is forbidden: unable to create new content in namespace n because it is being terminated`; err == nil || err.Error() != want || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("got %v, want %s", err, want)
	}
	c.Update(kinds.Namespaces, "", "n", "finalize", func(o kinds.Object) { o.(*corev1.Namespace).Spec.Finalizers = nil })
	expectLog(t, c.LogSince(from, kinds.Namespaces), "modified namespaces n deleting phase=Terminating", "deleted namespaces n deleting phase=Terminating")
}
