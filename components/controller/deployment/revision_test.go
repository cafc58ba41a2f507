package deployment

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestHistoryKeepsTheNewestRevisions(t *testing.T) {
	limit := int32(2)
	d := rollingDeployment(3, "1", "0")
	d.Spec.RevisionHistoryLimit = &limit
	var old []*appsv1.ReplicaSet
	for i, revision := range []string{"4", "1", "3", "2", "5"} {
		rs := set("r"+revision, i, 0, 0)
		annotate(rs, revisionAnnotation, revision)
		old = append(old, rs)
	}
	old[3].Status.Replicas = 1 // r2 still has a pod
	var got []string
	for _, rs := range planCleanup(d, old) {
		got = append(got, rs.Name)
	}
	if strings.Join(got, " ") != "r1 r3" {
		t.Fatalf("deleted %v, want r1 and r3: the three lowest are beyond the limit, r2 still has a pod", got)
	}
}

func TestRollingBackRaisesTheRevisionAndRemembersTheOldOne(t *testing.T) {
	d := rollingDeployment(3, "1", "0")
	d.Annotations = map[string]string{revisionAnnotation: "2", "team": "blue", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
	rs := set("old", 1, 0, 0)
	annotate(rs, revisionAnnotation, "1")
	if !annotateRevision(rs, d, 3) {
		t.Fatal("no change")
	}
	want := map[string]string{revisionAnnotation: "3", historyAnnotation: "1", "team": "blue"}
	for k, v := range want {
		if rs.Annotations[k] != v {
			t.Errorf("%s is %q, want %q", k, rs.Annotations[k], v)
		}
	}
	if len(rs.Annotations) != len(want) {
		t.Errorf("annotations %v, want %v", rs.Annotations, want)
	}
	if annotateRevision(rs, d, 3) {
		t.Error("the second time changes something")
	}
	annotateRevision(rs, d, 7)
	if rs.Annotations[historyAnnotation] != "1,3" {
		t.Errorf("history %q, want 1,3", rs.Annotations[historyAnnotation])
	}
}

func TestNumbersOfRevisionsAreComparedAsNumbers(t *testing.T) {
	rs := set("old", 1, 0, 0)
	annotate(rs, revisionAnnotation, "9")
	annotateRevision(rs, rollingDeployment(1, "1", "0"), 10)
	if rs.Annotations[revisionAnnotation] != "10" {
		t.Fatalf("revision %s, want 10", rs.Annotations[revisionAnnotation])
	}
}

func TestHistoryDropsTheOldestNumbersBeyondItsLimit(t *testing.T) {
	history := strings.Repeat("1234,", 399) + "5678" // 1999 characters
	got := prolong(history, "99999")
	if len(got) > historyMax || !strings.HasSuffix(got, "5678,99999") {
		t.Fatalf("%d characters ending in %s", len(got), got[len(got)-12:])
	}
}
