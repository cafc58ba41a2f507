package apiserver_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// put sends a changed copy of obj and returns the answer's text, empty when it was accepted.
func put(c *apitest.Cluster, obj kinds.Object, sub string, change func(kinds.Object)) (stored kinds.Object, text string) {
	name := obj.GetName()
	obj = obj.DeepCopyObject().(kinds.Object)
	change(obj)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.MustOf(obj), Namespace: obj.GetNamespace(), Name: name, Subresource: sub, Object: obj})
		if err != nil {
			text = err.Error()
			return
		}
		stored = resp.Object
	})
	return stored, text
}

func TestReplacingIsGuardedByTheVersion(t *testing.T) {
	c := apitest.New(t)
	first := c.Create(apitest.Deployment("web", 1)).(*appsv1.Deployment)
	second, text := put(c, first, "", func(o kinds.Object) { o.(*appsv1.Deployment).Spec.Replicas = ptr(int32(2)) })
	if text != "" || second.GetGeneration() != 2 {
		t.Fatalf("an update with the present version: %q, generation %d", text, second.GetGeneration())
	}
	const conflict = `Operation cannot be fulfilled on deployments.apps "web": `
	for _, tc := range []struct {
		what   string
		change func(*appsv1.Deployment)
		want   string
	}{
		{"a stale version conflicts", func(d *appsv1.Deployment) { d.ResourceVersion = first.ResourceVersion },
			conflict + "the object has been modified; please apply your changes to the latest version and try again"},
		{"another UID conflicts", func(d *appsv1.Deployment) { d.UID = "f00" },
			conflict + "StorageError: invalid object, Code: 4, Key: /deployments/default/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: f00, UID in object meta: " + string(first.UID)},
		{"a name cannot be changed", func(d *appsv1.Deployment) { d.Name = "other" }, "the name of the object (other) does not match the name on the URL (web)"},
		{"a selector cannot be changed", func(d *appsv1.Deployment) {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "z"}}
			d.Spec.Template.Labels = map[string]string{"app": "z"}
		}, `Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable`},
		{"without a version the update overwrites", func(d *appsv1.Deployment) { d.ResourceVersion = ""; d.Spec.Replicas = ptr(int32(9)) }, ""},
	} {
		if _, text := put(c, second, "", func(o kinds.Object) { tc.change(o.(*appsv1.Deployment)) }); text != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.what, text, tc.want)
		}
	}
	if d := c.Get(kinds.Deployments, "default", "web").(*appsv1.Deployment); *d.Spec.Replicas != 9 {
		t.Errorf("replicas are %d, want 9", *d.Spec.Replicas)
	}
}

func ptr[T any](v T) *T { return &v }

func TestAStatusUpdateTouchesNothingButTheStatus(t *testing.T) {
	c := apitest.New(t)
	d := c.Create(apitest.Deployment("web", 1))
	got, text := put(c, d, "status", func(o kinds.Object) {
		d := o.(*appsv1.Deployment)
		d.Status.Replicas, d.Status.ReadyReplicas, d.Spec.Replicas, d.Labels = 1, 1, ptr(int32(7)), map[string]string{"x": "y"}
	})
	if text != "" {
		t.Fatal(text)
	}
	if d := got.(*appsv1.Deployment); d.Status.ReadyReplicas != 1 || *d.Spec.Replicas != 1 || d.Labels["app"] != "web" || d.Generation != 1 {
		t.Errorf("got %s, labels %v", apitest.Line(d), d.Labels)
	}
	got, _ = put(c, got, "", func(o kinds.Object) { o.(*appsv1.Deployment).Status.ReadyReplicas = 5 })
	if d := got.(*appsv1.Deployment); d.Status.ReadyReplicas != 1 {
		t.Errorf("an update of the object changed the status: %s", apitest.Line(d))
	}
}

func TestAWriteThatChangesNothingTakesNoRevision(t *testing.T) {
	c := apitest.New(t)
	pod := c.Create(apitest.Pod("a"))
	for _, change := range []func(kinds.Object){
		func(kinds.Object) {},
		func(o kinds.Object) { o.SetResourceVersion("") },
		func(o kinds.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodFailed },
	} {
		got, text := put(c, pod, "", change)
		if text != "" || got.GetResourceVersion() != pod.GetResourceVersion() {
			t.Errorf("%q: version %s, want %s", text, got.GetResourceVersion(), pod.GetResourceVersion())
		}
	}
	if n := len(c.Log(kinds.Pods)); n != 1 {
		t.Errorf("%d changes were committed, want the creation alone", n)
	}
}

func TestALeaseIsNeverOverwrittenUnseen(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(1)
	lease := c.Get(kinds.Leases, "kube-node-lease", "worker-1")
	_, text := put(c, lease, "", func(o kinds.Object) { o.SetResourceVersion("") })
	if want := `Lease.coordination.k8s.io "worker-1" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestPatches(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Deployment("web", 1))
	for _, tc := range []struct {
		what  string
		typ   types.PatchType
		patch string
		want  string // error, or the labels of the template and the images
	}{
		{"merge", types.MergePatchType, `{"spec":{"template":{"metadata":{"labels":{"tier":"front"}}}}}`, "app=web tier=front | nginx:1.27"},
		{"merge with null removes", types.MergePatchType, `{"spec":{"template":{"metadata":{"labels":{"tier":null}}}}}`, "app=web | nginx:1.27"},
		{"strategic merges lists by name", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"redis:7"}]}}}}`, "app=web | redis:7 nginx:1.27"},
		{"strategic removes by directive", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"d","$patch":"delete"}]}}}}`, "app=web | nginx:1.27"},
		{"JSON patch", types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":1},{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"nginx:1.28"}]`, "app=web | nginx:1.28"},
		{"JSON patch whose test fails", types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":2}]`, "the server rejected our request due to an error in our request"},
		{"a patch with a stale version", types.MergePatchType, `{"metadata":{"resourceVersion":"1"}}`,
			`Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again`},
		{"a wrong type of value", types.MergePatchType, `{"spec":{"replicas":"three"}}`,
			`…json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`},
		{"a wrong type of value, strategic", types.StrategicMergePatchType, `{"spec":{"replicas":"three"}}`,
			` "" is invalid: patch: Invalid value: "map[spec:map[replicas:three]]": unrecognized type: int32`},
	} {
		var got string
		c.Do(func(p *sim.Proc, client *kubeapi.Client) {
			resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "web", PatchType: tc.typ, Patch: []byte(tc.patch)})
			if err != nil {
				got = err.Error()
				return
			}
			tpl := resp.Object.(*appsv1.Deployment).Spec.Template
			var labels, images []string
			for k, v := range tpl.Labels {
				labels = append(labels, k+"="+v)
			}
			slices.Sort(labels)
			for _, ct := range tpl.Spec.Containers {
				images = append(images, ct.Image)
			}
			got = strings.Join(labels, " ") + " | " + strings.Join(images, " ")
		})
		if end, ok := strings.CutPrefix(tc.want, "…"); got != tc.want && !(ok && strings.HasPrefix(got, ` "" is invalid: patch: Invalid value: "{`) && strings.HasSuffix(got, end)) {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.what, got, tc.want)
		}
	}
}

func TestPatchesOfManyClientsAllTakeEffect(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(apitest.Deployment("web", 1))
	for i := range 12 {
		pr := c.Process([]string{"master-1", "master-2", "master-3"}[i%3], "client", apitest.Admin)
		pr.Go("patch", func(p *sim.Proc) {
			key := string(rune('a' + i))
			_, err := pr.Client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "web",
				PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"labels":{"` + key + `":"1"}}}`)})
			if err != nil {
				t.Errorf("patch %s: %v", key, err)
			}
		})
	}
	c.Run(time.Second)
	if d := c.Get(kinds.Deployments, "default", "web"); len(d.GetLabels()) != 13 {
		t.Errorf("labels %v", d.GetLabels())
	}
}

func TestScalingThroughTheSubresource(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Deployment("web", 1))
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		sc := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: autoscalingv1.ScaleSpec{Replicas: 5}}
		resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.Deployments, Namespace: "default", Name: "web", Subresource: "scale", Object: sc})
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Object.(*autoscalingv1.Scale); got.Spec.Replicas != 5 || got.Status.Selector != "app=web" {
			t.Errorf("answered %+v", got)
		}
	})
	if got := c.Log(kinds.Deployments); got[len(got)-1] != "modified deployments web generation=2 replicas=5" {
		t.Errorf("the log ends with %s", got[len(got)-1])
	}
}

func TestGeneratedNames(t *testing.T) {
	c := apitest.New(t)
	seen := map[string]bool{}
	for range 50 {
		name := c.Create(apitest.Pod("", func(p *corev1.Pod) { p.GenerateName = "web-" })).GetName()
		if len(name) != 9 || !strings.HasPrefix(name, "web-") || strings.Trim(name[4:], "bcdfghjklmnpqrstvwxz2456789") != "" || seen[name] {
			t.Fatalf("name %s", name)
		}
		seen[name] = true
	}
}

func TestARestartedServerRepeatsNoUIDs(t *testing.T) {
	c := apitest.New(t)
	seen := map[types.UID]bool{}
	for round := range 3 {
		for i := range 5 {
			uid := c.Create(apitest.Pod(string(rune('a'+round)) + string(rune('a'+i)))).GetUID()
			if seen[uid] {
				t.Fatalf("UID %s again after %d restarts", uid, round)
			}
			seen[uid] = true
		}
		c.KillServer("master-1")
		c.StartServer("master-1")
		c.Run(time.Second)
	}
}

func TestEveryChangeLeadsBackToTheCommand(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(1)
	cmd := c.Command("create pod a", func(p *sim.Proc, client *kubeapi.Client) {
		pod, err := kubeapi.Make(p, client, apitest.Pod("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := kubeapi.Bind(p, client, pod, "worker-1"); err != nil {
			t.Fatal(err)
		}
		kubeapi.Remove(p, client, kinds.Pods, "default", "a", &metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	})
	want := []string{"ObjectChanged", "RequestReceived", "CommandGiven"}
	changes := 0
	for _, r := range c.Records() {
		if ch, ok := r.Event.(event.ObjectChanged); ok && r.Seq > cmd {
			changes++
			if got := c.Chain(r.Seq); !slices.Equal(got, want) || r.Actor != "etcd" {
				t.Errorf("%s %s by %s goes back over %v", ch.Type, apitest.Line(ch.Object), r.Actor, got)
			}
		}
		if d, ok := r.Event.(event.RequestDone); ok && r.Seq > cmd && d.Verb == "create" && d.Subresource == "" {
			var stages []string
			for _, s := range d.Stages {
				stages = append(stages, s.Stage)
			}
			if got := strings.Join(stages, ", "); got != "authentication, priority and fairness, authorization, mutating admission, validation, validating admission, store" {
				t.Errorf("stages %s", got)
			}
			if d.Code != 201 || d.Revision == 0 {
				t.Errorf("done %+v", d)
			}
		}
	}
	if changes != 4 { // added, bound, marked, deleted
		t.Errorf("%d changes", changes)
	}
}

func TestLeaseRenewalsAreCountedNotListed(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(2)
	c.Run(2 * time.Second) // the tally of what came before
	from := c.Journal.Last()
	c.Run(time.Minute)
	renewals, total := 0, 0
	for _, r := range c.Records() {
		if r.Seq <= from {
			continue
		}
		switch e := r.Event.(type) {
		case event.LeaseRenewed:
			renewals++
			if !strings.HasPrefix(e.Lease, "worker-") || e.Holder != e.Lease {
				t.Errorf("renewal %+v", e)
			}
		case event.RequestTally:
			total += e.Total
		default:
			t.Errorf("a quiet cluster journals %s %+v", r.Event.Name(), r.Event)
		}
	}
	if renewals < 10 || total != renewals {
		t.Errorf("%d renewals, %d requests counted", renewals, total)
	}
}
