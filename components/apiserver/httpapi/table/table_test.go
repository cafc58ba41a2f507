package table

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func made(name string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: "7", CreationTimestamp: metav1.NewTime(now.Add(-age))}
}

func rows(t *metav1.Table) string {
	var out []string
	for _, r := range t.Rows {
		out = append(out, fmt.Sprint(r.Cells...))
	}
	return strings.Join(out, "\n")
}

func TestRowsHoldAsMuchOfTheirObjectAsIsAskedFor(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: made("web", time.Minute), Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	for include, want := range map[metav1.IncludeObjectPolicy]string{
		"": `"kind":"PartialObjectMetadata"`, metav1.IncludeMetadata: `"kind":"PartialObjectMetadata"`, metav1.IncludeNone: `"object":null`, metav1.IncludeObject: `"phase":"Succeeded"`,
	} {
		table := Of(pod, Options{Columns: columns.Of(kinds.Pods), Now: now, Include: include})
		raw, err := json.Marshal(table)
		if err != nil || !strings.Contains(string(raw), want) || table.ResourceVersion != "7" || len(table.ColumnDefinitions) != 9 {
			t.Errorf("include %q: %s %v", include, raw, err)
		}
		if c := table.Rows[0].Conditions; len(c) != 1 || c[0].Type != metav1.RowCompleted || c[0].Reason != "Succeeded" {
			t.Errorf("conditions %v", c)
		}
	}
	if len(Of(pod, Options{Columns: columns.Of(kinds.Pods), NoHeaders: true}).ColumnDefinitions) != 0 {
		t.Error("headers where none were asked for")
	}
}

func TestAListKeepsItsPlaceAndIsNeverNull(t *testing.T) {
	left := int64(3)
	got := OfList(nil, metav1.ListMeta{ResourceVersion: "9", Continue: "c", RemainingItemCount: &left}, Options{Columns: columns.Of(kinds.Pods), Version: "v1beta1"})
	raw, _ := json.Marshal(got)
	if !strings.Contains(string(raw), `"rows":[]`) || got.Continue != "c" || got.APIVersion != "meta.k8s.io/v1beta1" {
		t.Errorf("%s", raw)
	}
}

func TestOnlyTheYoungestDefaultClassOfAListIsMarked(t *testing.T) {
	class := func(name string, age time.Duration) kinds.Object {
		m := made(name, age)
		m.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		return &storagev1.StorageClass{ObjectMeta: m, Provisioner: "p"}
	}
	o := Options{Columns: columns.Of(kinds.StorageClasses), Now: now}
	if got := rows(OfList([]kinds.Object{class("old", time.Hour), class("young", time.Minute)}, metav1.ListMeta{}, o)); strings.Contains(got, "old (default)") || !strings.Contains(got, "young (default)") {
		t.Error(got)
	}
	if got := rows(Of(class("young", time.Minute), o)); strings.Contains(got, "(default)") {
		t.Error(got)
	}
}

func TestDatesAreShifted(t *testing.T) {
	got := Of(&rbacv1.ClusterRole{ObjectMeta: made("view", time.Hour)}, Options{Columns: columns.Of(kinds.ClusterRoles), Shift: 24 * time.Hour})
	if got.Rows[0].Cells[1] != "2026-03-02T11:00:00Z" {
		t.Error(rows(got))
	}
}

func BenchmarkThousandPods(b *testing.B) {
	var list []kinds.Object
	for i := range 1000 {
		list = append(list, &corev1.Pod{ObjectMeta: made(fmt.Sprint("web-", i), time.Hour), Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	}
	b.ReportAllocs()
	for b.Loop() {
		OfList(list, metav1.ListMeta{}, Options{Columns: columns.Of(kinds.Pods), Now: now})
	}
}
