package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// ask sends one request as the test's administrator.
func ask(c *apitest.Cluster, r *kubeapi.Request) (resp *kubeapi.Response, err error) {
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		copied, as := *r, *client
		as.Manager = r.Manager
		resp, err = as.Do(p, &copied)
	})
	return resp, err
}

func applyOf(name, manager, body string) *kubeapi.Request {
	return &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: name, PatchType: types.ApplyPatchType, Patch: []byte(body), Manager: manager}
}

const webApplied = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
`

func managers(obj kinds.Object) string {
	var out []string
	for _, e := range obj.GetManagedFields() {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s %s/%s", e.Manager, e.Operation, e.APIVersion, e.Subresource), "/"))
	}
	return strings.Join(out, ", ")
}

func TestServerSideApply(t *testing.T) {
	c := apitest.New(t)
	resp, err := ask(c, applyOf("web", "alice", fmt.Sprintf(webApplied, 2)))
	if err != nil || !resp.Created {
		t.Fatalf("applying what does not exist: created %v, %v", resp != nil && resp.Created, err)
	}
	if got := managers(resp.Object); got != "alice Apply apps/v1" {
		t.Errorf("managers are %s", got)
	}
	first := resp.ResourceVersion
	c.Run(5 * time.Second)
	if resp, err = ask(c, applyOf("web", "alice", fmt.Sprintf(webApplied, 2))); err != nil || resp.ResourceVersion != first || resp.Created {
		t.Errorf("the same again: version %s, was %s, %v", resp.ResourceVersion, first, err)
	}
	_, err = ask(c, applyOf("web", "bob", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}"))
	if want := `Apply failed with 1 conflict: conflict with "alice": .spec.replicas`; !apierrors.IsConflict(err) || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if causes := err.(*apierrors.StatusError).ErrStatus.Details.Causes; len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".spec.replicas" {
		t.Errorf("causes are %v", causes)
	}
	forced := applyOf("web", "bob", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}")
	forced.Force, forced.DryRun = true, true
	if resp, err = ask(c, forced); err != nil || *resp.Object.(*appsv1.Deployment).Spec.Replicas != 7 {
		t.Errorf("a forced dry run: %v", err)
	}
	if got := *c.Get(kinds.Deployments, "default", "web").(*appsv1.Deployment).Spec.Replicas; got != 2 {
		t.Errorf("a dry run stored %d replicas", got)
	}
	forced.DryRun = false
	if resp, err = ask(c, forced); err != nil || *resp.Object.(*appsv1.Deployment).Spec.Replicas != 7 {
		t.Fatalf("forced: %v", err)
	}
	// The scale takes the number for whoever sets it, and an apply sees that.
	if _, err = ask(c, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "web", Subresource: "scale", PatchType: types.MergePatchType,
		Patch: []byte(`{"spec":{"replicas":3}}`), Manager: "kubectl"}); err != nil {
		t.Fatal(err)
	}
	if got := managers(c.Get(kinds.Deployments, "default", "web")); got != "alice Apply apps/v1, kubectl Update apps/v1/scale" {
		t.Errorf("after scaling managers are %s", got)
	}
	if _, err = ask(c, applyOf("web", "alice", fmt.Sprintf(webApplied, 2))); err == nil || err.Error() != `Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas` {
		t.Errorf("after scaling: %v", err)
	}
}

func TestBadAppliesAreRefusedInARealServersWords(t *testing.T) {
	c := apitest.New(t)
	for what, tc := range map[string]struct{ manager, body, want string }{
		"nobody's":          {"", fmt.Sprintf(webApplied, 1), `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},
		"another kind":      {"a", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}", `invalid object type: /v1, Kind=Pod`},
		"no YAML":           {"a", "a: [", `error encoding patch: yaml: line 1: did not find expected node content`},
		"an unknown field":  {"a", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {nope: 1}", `.spec.nope: field not declared in schema`},
		"another name":      {"a", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}", `the name of the object (other) does not match the name on the URL (web)`},
		"managed fields":    {"a", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, managedFields: [{manager: x}]}", `metadata.managedFields must be nil`},
		"another namespace": {"a", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: kube-system}", `the namespace of the provided object does not match the namespace sent on the request`},
	} {
		if _, err := ask(c, applyOf("web", tc.manager, tc.body)); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", what, err, tc.want)
		}
	}
	if c.Get(kinds.Deployments, "default", "web") != nil {
		t.Error("a refused apply stored something")
	}
}

func TestFieldsOfPatchesAreChecked(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Deployment("web", 1))
	for _, tc := range []struct {
		typ         types.PatchType
		mode, patch string
		want        string // refusal's end, or warnings
	}{
		{types.MergePatchType, kubeapi.FieldsStrict, `{"spec":{"nope":1}}`, `strict decoding error: unknown field "spec.nope"`},
		{types.MergePatchType, kubeapi.FieldsWarn, `{"spec":{"nope":1}}`, `[unknown field "spec.nope"]`},
		{types.MergePatchType, kubeapi.FieldsIgnore, `{"spec":{"nope":1}}`, `[]`},
		{types.MergePatchType, kubeapi.FieldsStrict, `{"spec":{"paused":true,"paused":true}}`, `strict decoding error: duplicate field "spec.paused"`},
		{types.StrategicMergePatchType, kubeapi.FieldsStrict, `{"spec":{"nope":1}}`, `" "" is invalid: patch: Invalid value: "map[spec:map[nope:1]]": strict decoding error: unknown field "spec.nope"`[1:]},
		{types.StrategicMergePatchType, kubeapi.FieldsWarn, `{"spec":{"nope":1}}`, `[unknown field "spec.nope"]`},
		{types.JSONPatchType, kubeapi.FieldsStrict, `[{"op":"add","path":"/spec/nope","value":1}]`, `strict decoding error: unknown field "spec.nope"`},
		{types.JSONPatchType, kubeapi.FieldsWarn, `[{"op":"add","path":"/spec/paused","value":false,"zap":1}]`, `[json patch unknown field "[0].zap"]`},
		{types.MergePatchType, "", `{`, `invalid JSON patch`},
	} {
		resp, err := ask(c, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "web", PatchType: tc.typ, Patch: []byte(tc.patch), FieldValidation: tc.mode, Manager: "m"})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(resp.Warnings)
		}
		if !strings.HasSuffix(got, tc.want) {
			t.Errorf("%s %s %s: got %s, want %s", tc.typ, tc.mode, tc.patch, got, tc.want)
		}
	}
}

func TestPagesOfAListAreOfOneRevision(t *testing.T) {
	c := apitest.New(t)
	for i := range 7 {
		c.Create(apitest.Pod(fmt.Sprintf("p-%d", i)))
	}
	first, err := ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", Limit: 3})
	if err != nil || len(first.Items) != 3 || first.RemainingItemCount == nil || *first.RemainingItemCount != 4 {
		t.Fatalf("first page: %v %v", first, err)
	}
	if err := c.Delete(kinds.Pods, "default", "p-5", nil); err != nil {
		t.Fatal(err)
	}
	second, err := ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", Limit: 3, Continue: first.Continue})
	if err != nil || len(second.Items) != 3 || *second.RemainingItemCount != 1 || second.ResourceVersion != first.ResourceVersion || second.Items[2].GetName() != "p-5" {
		t.Fatalf("second page: %v %v", second, err)
	}
	exact, err := ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if err != nil || len(exact.Items) != 7 || exact.ResourceVersion != first.ResourceVersion {
		t.Errorf("exactly then: %v %v", exact, err)
	}
	selected, err := ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Limit: 1, Labels: labels.SelectorFromSet(labels.Set{"no": "one"})})
	if err != nil || selected.RemainingItemCount != nil {
		t.Errorf("with a selector: %v %v", selected, err)
	}
	c.Run(16 * time.Minute) // two compactions later
	_, err = ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", Limit: 3, Continue: second.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("a page of a compacted version: %v", err)
	}
	token := err.(*apierrors.StatusError).ErrStatus.Continue
	rest, err := ask(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", Limit: 3, Continue: token})
	if err != nil || len(rest.Items) != 1 || rest.Items[0].GetName() != "p-6" || rest.ResourceVersion == first.ResourceVersion {
		t.Errorf("the rest, as it is now: %v %v", rest, err)
	}
}

func TestOptionsOfListsThatDoNotGoTogether(t *testing.T) {
	c := apitest.New(t)
	yes := true
	for _, tc := range []struct {
		r    kubeapi.Request
		want string
	}{
		{kubeapi.Request{ResourceVersionMatch: "Exact"}, `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`},
		{kubeapi.Request{ResourceVersionMatch: "Exact", ResourceVersion: "0"}, `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
		{kubeapi.Request{ResourceVersionMatch: "Near", ResourceVersion: "1"}, `resourceVersionMatch: Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""`},
		{kubeapi.Request{ResourceVersionMatch: "NotOlderThan", ResourceVersion: "1", Continue: "x"}, `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`},
		{kubeapi.Request{SendInitialEvents: &yes}, `sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`},
	} {
		tc.r.Verb, tc.r.Kind = kubeapi.List, kinds.Pods
		if _, err := ask(c, &tc.r); err == nil || err.Error() != `ListOptions.meta.k8s.io "" is invalid: `+tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		_, err := client.Watch(p, &kubeapi.Request{Kind: kinds.Pods, SendInitialEvents: &yes})
		if want := `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// A watch that begins with what there is tells, up to its mark, what a list tells, and after that what a watch from the list's version tells.
func TestAWatchListIsAListAndAWatch(t *testing.T) {
	for seed := range uint64(5) {
		c := apitest.New(t, apitest.Seed(seed+1))
		writer := c.Process("writer", "writer", apitest.Admin)
		writer.Go("write", func(p *sim.Proc) {
			r := p.Rand()
			for i := range 60 {
				name := fmt.Sprintf("cm-%d", r.IntN(6))
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"i": fmt.Sprint(i)}}
				switch r.IntN(3) {
				case 0:
					kubeapi.Remove(p, writer.Client, kinds.ConfigMaps, "default", name, nil)
				default:
					if _, err := kubeapi.Make(p, writer.Client, cm); err != nil {
						kubeapi.Replace(p, writer.Client, cm)
					}
				}
				p.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
			}
		})
		c.Run(time.Duration(100+50*seed) * time.Millisecond)
		yes := true
		picture := map[string]string{}
		marked := ""
		reader := c.Process("reader", "reader", apitest.Admin)
		reader.Go("read", func(p *sim.Proc) {
			w, err := reader.Client.Watch(p, &kubeapi.Request{Kind: kinds.ConfigMaps, SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, SendBookmarks: true,
				WatchFor: 30 * time.Second})
			for err == nil {
				var e kubeapi.WatchEvent
				if e, err = w.Recv(p); err != nil {
					break
				}
				switch {
				case e.Type == kubeapi.Bookmark && e.Object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
					marked = e.ResourceVersion
					resp, err := reader.Client.Do(p, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.ConfigMaps, ResourceVersion: marked, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
					if err != nil {
						t.Errorf("seed %d: list at the mark: %v", seed, err)
						return
					}
					if len(resp.Items) != len(picture) {
						t.Errorf("seed %d: %d objects before the mark, a list has %d", seed, len(picture), len(resp.Items))
					}
					for _, o := range resp.Items {
						if picture[o.GetName()] != o.GetResourceVersion() {
							t.Errorf("seed %d: %s at %s, a list has %s", seed, o.GetName(), picture[o.GetName()], o.GetResourceVersion())
						}
					}
				case e.Type == kubeapi.Bookmark:
				case e.Type == "DELETED":
					delete(picture, e.Object.GetName())
				default:
					picture[e.Object.GetName()] = e.Object.GetResourceVersion()
				}
			}
			if err != kubeapi.ErrWatchDone {
				t.Errorf("seed %d: the watch ended with %v", seed, err)
			}
		})
		c.Run(time.Minute)
		if marked == "" {
			t.Fatalf("seed %d: no mark", seed)
		}
		now := c.List(kinds.ConfigMaps)
		for _, o := range now {
			if picture[o.GetName()] != o.GetResourceVersion() {
				t.Errorf("seed %d: at the end %s at %s, a list has %s", seed, o.GetName(), picture[o.GetName()], o.GetResourceVersion())
			}
		}
		if len(now) != len(picture) {
			t.Errorf("seed %d: at the end %d objects, a list has %d", seed, len(picture), len(now))
		}
	}
}

func TestDeletionOfACollection(t *testing.T) {
	c := apitest.New(t)
	for i := range 4 {
		c.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i), Labels: map[string]string{"half": fmt.Sprint(i % 2)}}})
	}
	r := &kubeapi.Request{Verb: kubeapi.DeleteCollection, Kind: kinds.ConfigMaps, Namespace: "default", Labels: labels.SelectorFromSet(labels.Set{"half": "1"}), DryRun: true}
	if resp, err := ask(c, r); err != nil || len(resp.Items) != 2 || len(c.List(kinds.ConfigMaps)) != 4 {
		t.Fatalf("a dry run: %v %v", resp, err)
	}
	r.DryRun = false
	if resp, err := ask(c, r); err != nil || len(resp.Items) != 2 || len(c.List(kinds.ConfigMaps)) != 2 {
		t.Fatalf("got %v %v", resp, err)
	}
}

func TestEvictionsAskTheBudget(t *testing.T) {
	c := apitest.New(t)
	one := intstr.FromInt32(1)
	c.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}})
	for _, n := range []string{"a", "b"} {
		pod := apitest.Pod(n)
		pod.Labels = map[string]string{"app": "a"}
		c.Create(pod)
		c.Update(kinds.Pods, "default", n, "status", func(o kinds.Object) {
			o.(*corev1.Pod).Status.Phase = corev1.PodRunning
			o.(*corev1.Pod).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
	c.Update(kinds.PodDisruptionBudgets, "default", "b", "status", func(o kinds.Object) {
		o.(*policyv1.PodDisruptionBudget).Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: o.GetGeneration(), DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2}
	})
	c.Run(time.Second)
	evict := func(name string, dry bool) error {
		resp, err := ask(c, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Name: name, Subresource: "eviction", DryRun: dry,
			Object: &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}})
		if err == nil && (resp.Status == nil || resp.Status.Status != metav1.StatusSuccess) {
			t.Errorf("the answer is %v", resp.Status)
		}
		return err
	}
	if err := evict("a", true); err != nil || c.Get(kinds.Pods, "default", "a") == nil {
		t.Fatalf("a dry run: %v", err)
	}
	if err := evict("a", false); err != nil {
		t.Fatal(err)
	}
	b := c.Get(kinds.PodDisruptionBudgets, "default", "b").(*policyv1.PodDisruptionBudget)
	if _, noted := b.Status.DisruptedPods["a"]; !noted || b.Status.DisruptionsAllowed != 0 {
		t.Errorf("the budget's status is %v", b.Status)
	}
	c.Run(time.Second)
	err := evict("b", false)
	if !apierrors.IsTooManyRequests(err) || err.Error() != "Cannot evict pod as it would violate the pod's disruption budget." {
		t.Fatalf("got %v", err)
	}
	st := err.(*apierrors.StatusError).ErrStatus
	if want := "The disruption budget b does not allow evicting pods currently"; st.Details.RetryAfterSeconds != 0 || st.Details.Causes[0].Type != policyv1.DisruptionBudgetCause || st.Details.Causes[0].Message != want {
		t.Errorf("causes %v, retry after %d", st.Details.Causes, st.Details.RetryAfterSeconds)
	}
}

func TestSubresourcesThatLeadOutOfTheServer(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("a"))
	if _, err := ask(c, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a", Subresource: "log"}); err == nil || err.(*apierrors.StatusError).ErrStatus.Code != 501 {
		t.Errorf("got %v", err)
	}
	if _, err := ask(c, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "b", Subresource: "log"}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if _, err := ask(c, &kubeapi.Request{Verb: kubeapi.Delete, Kind: kinds.Pods, Namespace: "default", Name: "a", Subresource: "status"}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("got %v", err)
	}
}
