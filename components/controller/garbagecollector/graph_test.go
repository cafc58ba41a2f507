package garbagecollector

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/kinds"
)

func owns(name string, block bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(name), BlockOwnerDeletion: &block}
}

func pod(namespace, name string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), OwnerReferences: owners}}
}

func set(namespace, name string, finalizers ...string) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Finalizers: finalizers}}
	if len(finalizers) > 0 {
		at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		rs.DeletionTimestamp = &at
	}
	return rs
}

func names(ns []*node) string {
	var out []string
	for _, n := range ns {
		out = append(out, n.name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestAnOwnerThatIsNotKnownIsLookedUp(t *testing.T) {
	g := newGraph()
	if w := g.observe(kinds.Pods, nil, pod("default", "p", owns("rs", true))); names(w.attempt) != "rs" {
		t.Fatalf("looked at %q, want rs", names(w.attempt))
	}
	w := g.observe(kinds.ReplicaSets, nil, set("default", "rs"))
	if names(w.attempt) != "" || g.nodes["rs"].virtual {
		t.Fatalf("after it was seen: looked at %q, virtual %v", names(w.attempt), g.nodes["rs"].virtual)
	}
}

func TestDependentsOfADeletedOwnerAreLookedAt(t *testing.T) {
	g := newGraph()
	g.observe(kinds.ReplicaSets, nil, set("default", "rs"))
	for _, n := range []string{"a", "b"} {
		g.observe(kinds.Pods, nil, pod("default", n, owns("rs", true)))
	}
	if w, owned := g.forget("rs"); names(w.attempt) != "a b" || !owned {
		t.Fatalf("looked at %q", names(w.attempt))
	}
}

func TestAnOwnerThatIsNotThereFreesItsDependents(t *testing.T) {
	g := newGraph()
	g.observe(kinds.Pods, nil, pod("default", "p", owns("rs", true)))
	if w, _ := g.absent(g.nodes["rs"].identity); names(w.attempt) != "p" || g.nodes["rs"] != nil {
		t.Fatalf("looked at %q", names(w.attempt))
	}
}

func TestForegroundDeletionWaitsForBlockingDependentsOnly(t *testing.T) {
	g := newGraph()
	rs := set("default", "rs")
	g.observe(kinds.ReplicaSets, nil, rs)
	g.observe(kinds.Pods, nil, pod("default", "blocking", owns("rs", true)))
	g.observe(kinds.Pods, nil, pod("default", "free", owns("rs", false)))
	w := g.observe(kinds.ReplicaSets, rs, set("default", "rs", metav1.FinalizerDeleteDependents))
	if names(w.attempt) != "blocking free rs" || names(g.nodes["rs"].blocking()) != "blocking" {
		t.Fatalf("looked at %q, waits for %q", names(w.attempt), names(g.nodes["rs"].blocking()))
	}
	if w, _ := g.forget("blocking"); names(w.attempt) != "rs" {
		t.Fatalf("when the dependent is gone: looked at %q, want rs", names(w.attempt))
	}
}

func TestADependentThatNoLongerBlocksWakesItsOwner(t *testing.T) {
	g := newGraph()
	g.observe(kinds.ReplicaSets, nil, set("default", "rs"))
	before := pod("default", "p", owns("rs", true))
	g.observe(kinds.Pods, nil, before)
	if w := g.observe(kinds.Pods, before, pod("default", "p", owns("rs", false))); names(w.attempt) != "rs" {
		t.Errorf("unblocked: looked at %q, want rs", names(w.attempt))
	}
	if w := g.observe(kinds.Pods, before, pod("default", "p")); names(w.attempt) != "" || len(g.nodes["rs"].blocking()) != 0 {
		t.Errorf("released: looked at %q", names(w.attempt))
	}
}

func TestOrphaningIsToldFromForeground(t *testing.T) {
	g := newGraph()
	rs := set("default", "rs")
	g.observe(kinds.ReplicaSets, nil, rs)
	w := g.observe(kinds.ReplicaSets, rs, set("default", "rs", metav1.FinalizerOrphanDependents))
	if names(w.orphan) != "rs" || names(w.attempt) != "" {
		t.Fatalf("orphan %q, attempt %q", names(w.orphan), names(w.attempt))
	}
}

func TestAnOwnerInAnotherNamespaceIsReported(t *testing.T) {
	g := newGraph()
	g.observe(kinds.ReplicaSets, nil, set("other", "rs"))
	w := g.observe(kinds.Pods, nil, pod("default", "p", owns("rs", true)))
	if len(w.misplaced) != 1 || names(w.attempt) != "p" {
		t.Fatalf("misplaced %v, looked at %q", w.misplaced, names(w.attempt))
	}
}
