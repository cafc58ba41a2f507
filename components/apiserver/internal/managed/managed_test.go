package managed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/kubeviz/engine/kinds"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func pod(image string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Labels: map[string]string{"app": "web", "pod-template-hash": "x"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "x", UID: "1234"}}}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: image, ImagePullPolicy: "Always", Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}}}}
	p.Spec.RestartPolicy, p.Spec.DNSPolicy, p.Spec.SecurityContext = "Always", "ClusterFirst", &corev1.PodSecurityContext{}
	return p
}

func status(p *corev1.Pod, ready corev1.ConditionStatus, at time.Time) *corev1.Pod {
	n, t := p.DeepCopy(), metav1.NewTime(at)
	n.Status = corev1.PodStatus{Phase: "Running", PodIP: "1.2.3.5", PodIPs: []corev1.PodIP{{IP: "1.2.3.5"}}, StartTime: &t,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: t}}}}}
	for _, c := range []corev1.PodConditionType{"Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.PodCondition{Type: c, Status: ready, LastTransitionTime: t})
	}
	return n
}

func manager(t testing.TB, f *Fields, k *kinds.Kind, subresource string) *Manager {
	m, err := f.For(k, nil, subresource)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func shown(obj kinds.Object) string {
	b, _ := json.Marshal(obj.GetManagedFields())
	return string(b)
}

func TestEntriesAreThoseOfARealServer(t *testing.T) {
	f := New(nil)
	p := pod("nginx")
	manager(t, f, kinds.Pods, "").Update(nil, p, "kube-controller-manager", start)
	p.UID = "1"
	q := status(p, "True", start)
	manager(t, f, kinds.Pods, "status").Update(p, q, "kubelet", start.Add(time.Minute))
	want := `[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":` +
		`{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"1234\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},` +
		`"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{}}},` +
		`"f:dnsPolicy":{},"f:restartPolicy":{},"f:securityContext":{}}}},` +
		`{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:01:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{".":{},` +
		`"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},` +
		`"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"PodScheduled\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},` +
		`"k:{\"ip\":\"1.2.3.5\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"}]`
	if got := shown(q); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEveryKindHasASchema(t *testing.T) {
	for _, k := range kinds.All() {
		if !described(k) && k != kinds.CustomResourceDefinitions {
			t.Errorf("%s has none", k)
		}
	}
}

// scatter gives some scalars of a value new contents, keys among them seldom, and empties some lists and maps.
func scatter(r *rand.Rand, v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			if r.IntN(12) > 0 {
				return
			}
			v.Set(reflect.New(v.Type().Elem()))
		}
		scatter(r, v.Elem(), depth+1)
	case reflect.Struct:
		if v.Type() == metaType {
			if r.IntN(4) == 0 {
				v.Addr().Interface().(*metav1.ObjectMeta).Labels = map[string]string{fmt.Sprint("l", r.IntN(3)): fmt.Sprint(r.IntN(3))}
			}
			return
		}
		if planOf(v.Type()).kind != planStruct {
			if v.Type() == timeType {
				v.Set(reflect.ValueOf(metav1.NewTime(start.Add(time.Duration(r.IntN(100)) * time.Second))))
			}
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type().Field(i).Type != typeMetaType {
				scatter(r, v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		switch r.IntN(8) {
		case 0:
			if v.Len() < 3 {
				item := reflect.New(v.Type().Elem()).Elem()
				for range 3 {
					scatter(r, item, depth+1)
				}
				v.Set(reflect.Append(v, item))
			}
		case 1:
			if v.Len() > 0 {
				v.Set(v.Slice(0, v.Len()-1))
			}
		}
		for i := range v.Len() {
			scatter(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String && r.IntN(4) == 0 {
			m := reflect.MakeMap(v.Type())
			m.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", r.IntN(3))).Convert(v.Type().Key()), reflect.ValueOf(fmt.Sprint(r.IntN(9))).Convert(v.Type().Elem()))
			v.Set(m)
		}
	case reflect.String:
		if r.IntN(5) == 0 {
			v.SetString(fmt.Sprint("v", r.IntN(6)))
		}
	case reflect.Int32, reflect.Int64:
		if r.IntN(5) == 0 {
			v.SetInt(int64(r.IntN(4)))
		}
	case reflect.Bool:
		if r.IntN(5) == 0 {
			v.SetBool(r.IntN(2) == 0)
		}
	}
}

// What is remembered by shape is what the library would have said, for every kind.
func TestRememberedOutcomesAreThoseOfTheLibrary(t *testing.T) {
	hits := 0
	for _, k := range kinds.All() {
		f := New(nil)
		m := manager(t, f, k, "")
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 1))
			var live kinds.Object
			for step := range 15 {
				next := k.New()
				if live != nil {
					next = live.DeepCopyObject().(kinds.Object)
				}
				if step%3 != 2 || live == nil {
					scatter(r, reflect.ValueOf(next).Elem(), 0)
				}
				next.SetUID("u")
				want := next.DeepCopyObject().(kinds.Object)
				who, at := fmt.Sprint("m", r.IntN(3)), start.Add(time.Duration(step)*time.Minute)
				m.update(live, want, who, at)
				before := len(f.memo.by)
				m.Update(live, next, who, at)
				if len(f.memo.by) == before {
					hits++
				}
				if shown(next) != shown(want) {
					t.Fatalf("%s, seed %d, step %d: got\n%s\nwant\n%s", k, seed, step, shown(next), shown(want))
				}
				live = next
			}
		}
	}
	if hits == 0 {
		t.Error("nothing was ever remembered")
	}
	t.Logf("%d times remembered", hits)
}

// Values move, the shape stays: what kubelets do all the time.
func TestAChangeOfValuesAloneIsRemembered(t *testing.T) {
	f := New(nil)
	m := manager(t, f, kinds.Pods, "status")
	live := status(pod("a"), "True", start)
	m.Update(nil, live, "kubelet", start)
	live.UID = "1"
	for i := range 20 {
		next := status(live, []corev1.ConditionStatus{"True", "False"}[i%2], start.Add(time.Duration(i)*time.Hour))
		want := next.DeepCopy()
		m.update(live, want, "kubelet", start.Add(time.Minute))
		m.Update(live, next, "kubelet", start.Add(time.Minute))
		if shown(next) != shown(want) {
			t.Fatalf("got %s, want %s", shown(next), shown(want))
		}
		live = next
	}
	if n := len(f.memo.by); n > 6 {
		t.Errorf("%d outcomes are remembered for 20 changes of two shapes", n)
	}
}

func TestALongListOfManagersLosesTheOldest(t *testing.T) {
	f := New(nil)
	m := manager(t, f, kinds.ConfigMaps, "")
	var live kinds.Object
	for i := range 14 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "d", UID: "1"}, Data: map[string]string{}}
		if live != nil {
			cm = live.DeepCopyObject().(*corev1.ConfigMap)
		}
		cm.Data[fmt.Sprint("k", i)] = "v"
		m.Update(live, cm, fmt.Sprintf("m%02d", i), start.AddDate(20, 0, i)) // beyond any wall clock
		live = cm
	}
	entries := live.GetManagedFields()
	if len(entries) != 10 || entries[0].Manager != "ancient-changes" || entries[9].Manager != "m13" {
		t.Errorf("got %s", shown(live))
	}
}

func FuzzApplyConfiguration(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"b"}]}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","managedFields":[]},"spec":{"containers":[{"name":"c"},{"name":"c"}]}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":"x"}}`))
	fields := New(nil)
	m := manager(f, fields, kinds.Pods, "")
	live := pod("a")
	m.Update(nil, live, "kubectl", start)
	live.UID = "1"
	f.Fuzz(func(t *testing.T, body []byte) {
		u := &unstructured.Unstructured{}
		if json.Unmarshal(body, &u.Object) != nil || u.Object == nil {
			return
		}
		before := shown(live)
		for _, l := range []kinds.Object{nil, live} {
			if out, err := m.Apply(l, u.DeepCopy(), "x", true, start); err == nil && out == nil {
				t.Fatal("neither an object nor an error")
			}
		}
		if shown(live) != before {
			t.Fatal("the stored object was changed")
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	f := New(nil)
	m, ms := manager(b, f, kinds.Pods, ""), manager(b, f, kinds.Pods, "status")
	live := pod("a")
	m.Update(nil, live, "kube-controller-manager", start)
	live.UID = "1"
	running := status(live, "True", start)
	ms.Update(live, running, "kubelet", start)
	next := status(running, "False", start)
	for _, way := range []struct {
		name   string
		update func(m *Manager, live, obj kinds.Object, who string)
	}{
		{"remembered", func(m *Manager, live, obj kinds.Object, who string) { m.Update(live, obj, who, start) }},
		{"library", func(m *Manager, live, obj kinds.Object, who string) { m.update(live, obj, who, start) }},
	} {
		b.Run("creation of a pod, "+way.name, func(b *testing.B) {
			p := pod("a")
			b.ReportAllocs()
			for range b.N {
				p.ManagedFields = nil
				way.update(m, nil, p, "kube-controller-manager")
			}
		})
		b.Run("status of a pod, "+way.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				next.ManagedFields = running.ManagedFields
				way.update(ms, running, next, "kubelet")
			}
		})
	}
}
