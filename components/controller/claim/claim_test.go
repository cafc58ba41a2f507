package claim

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

func TestWhatBecomesOfAnObject(t *testing.T) {
	gone := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	owner := func(deleted bool) *appsv1.ReplicaSet {
		rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rs", UID: "rs"}}
		if deleted {
			rs.DeletionTimestamp = &gone
		}
		return rs
	}
	pod := func(app, controller string, deleted bool, namespace string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p", Labels: map[string]string{"app": app}}}
		if controller != "" {
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: controller, UID: types.UID(controller), Controller: &yes}}
		}
		if deleted {
			p.DeletionTimestamp = &gone
		}
		return p
	}
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	for _, c := range []struct {
		name  string
		owner *appsv1.ReplicaSet
		pod   *corev1.Pod
		want  Verdict
	}{
		{"ours and matching is kept", owner(false), pod("web", "rs", false, "default"), Keep},
		{"ours, matching and terminating is kept", owner(false), pod("web", "rs", true, "default"), Keep},
		{"ours and not matching is released", owner(false), pod("other", "rs", false, "default"), Release},
		{"an owner that goes releases nothing", owner(true), pod("other", "rs", false, "default"), Ignore},
		{"another's is left alone though it matches", owner(false), pod("web", "another", false, "default"), Ignore},
		{"a matching orphan is adopted", owner(false), pod("web", "", false, "default"), Adopt},
		{"an orphan that does not match is left alone", owner(false), pod("other", "", false, "default"), Ignore},
		{"a terminating orphan is not adopted", owner(false), pod("web", "", true, "default"), Ignore},
		{"an owner that goes adopts nothing", owner(true), pod("web", "", false, "default"), Ignore},
		{"an orphan elsewhere is left alone", owner(false), pod("web", "", false, "other"), Ignore},
	} {
		if got := Judge(c.owner, c.pod, selector); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}
