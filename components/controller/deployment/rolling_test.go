package deployment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rollingDeployment is a Deployment with bounds as a manifest writes them ("25%", "1").
func rollingDeployment(replicas int32, surge, unavailable string) *appsv1.Deployment {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "d"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}},
	}}
}

// set is a replica set that asks for replicas and has that many available ones; age orders sets, the higher the older.
func set(name string, age int, replicas, available int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(epoch.Add(-time.Duration(age) * time.Hour))},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas},
		Status:     appsv1.ReplicaSetStatus{Replicas: replicas, AvailableReplicas: available},
	}
}

func words(steps []step) string {
	var out []string
	for _, s := range steps {
		out = append(out, fmt.Sprintf("%s→%d", s.set.Name, s.to))
	}
	return strings.Join(out, " ")
}

func TestBoundsOfARollingUpdate(t *testing.T) {
	for _, c := range []struct {
		replicas           int32
		surge, unavailable string
		most, least        int32
	}{
		{1, "25%", "25%", 2, 1},
		{2, "25%", "25%", 3, 2},
		{3, "25%", "25%", 4, 3},
		{4, "25%", "25%", 5, 3},
		{5, "25%", "25%", 7, 4},
		{8, "25%", "25%", 10, 6},
		{10, "25%", "25%", 13, 8},
		{10, "39%", "39%", 14, 7},
		{3, "0", "1", 3, 2},
		{2, "0", "25%", 2, 1}, // both round to 0, so 1 is forced
		{5, "50%", "0", 8, 5},
		{0, "25%", "25%", 0, 0},
		{3, "1", "100%", 4, 0},
		{3, "1", "7", 4, 0}, // no more can be missing than are wanted
		{2147483647, "2147483647%", "0", 2147483647, 2147483647},
	} {
		d := rollingDeployment(c.replicas, c.surge, c.unavailable)
		if most(d) != c.most || least(d) != c.least {
			t.Errorf("%d replicas, surge %s, unavailable %s: between %d available and %d pods, want %d and %d", c.replicas, c.surge, c.unavailable, least(d), most(d), c.least, c.most)
		}
	}
}

// TestRolloutStaysWithinItsBounds plays whole rollouts on the plans alone: pods come up one after another, and after each step the plan is asked again.
func TestRolloutStaysWithinItsBounds(t *testing.T) {
	for _, c := range []struct {
		replicas           int32
		surge, unavailable string
	}{{1, "25%", "25%"}, {4, "25%", "25%"}, {10, "25%", "25%"}, {10, "39%", "39%"}, {3, "0", "1"}, {2, "0", "25%"}, {5, "50%", "0"}, {7, "100%", "100%"}} {
		d := rollingDeployment(c.replicas, c.surge, c.unavailable)
		newest, old := set("new", 0, 0, 0), set("old", 1, c.replicas, c.replicas)
		newest.Spec.Replicas = ptr(newSize(d, []*appsv1.ReplicaSet{old, newest}, 0))
		for i := 0; ; i++ {
			if i > 1000 {
				t.Fatalf("%+v: the rollout does not end: new %d, old %d", c, *newest.Spec.Replicas, *old.Spec.Replicas)
			}
			pods := newest.Status.Replicas + old.Status.Replicas
			up := newest.Status.AvailableReplicas + old.Status.AvailableReplicas
			if pods > most(d) || up < least(d) {
				t.Fatalf("%+v: %d pods with at most %d allowed, %d available with at least %d needed", c, pods, most(d), up, least(d))
			}
			steps := planOld(d, newest, []*appsv1.ReplicaSet{old})
			if s, ok := planNew(d, newest, []*appsv1.ReplicaSet{old}); ok {
				steps = []step{s}
			}
			for _, s := range steps {
				*s.set.Spec.Replicas = s.to
			}
			switch { // the replica set controller and the kubelets take one small step
			case old.Status.Replicas > *old.Spec.Replicas:
				old.Status.Replicas = *old.Spec.Replicas
				old.Status.AvailableReplicas = min(old.Status.AvailableReplicas, old.Status.Replicas)
			case newest.Status.Replicas < *newest.Spec.Replicas:
				newest.Status.Replicas++
			case newest.Status.AvailableReplicas < newest.Status.Replicas:
				newest.Status.AvailableReplicas++
			case len(steps) == 0:
				if newest.Status.AvailableReplicas != c.replicas || old.Status.Replicas != 0 {
					t.Fatalf("%+v: stuck with %d new and %d old pods", c, newest.Status.AvailableReplicas, old.Status.Replicas)
				}
			}
			if newest.Status.AvailableReplicas == c.replicas && old.Status.Replicas == 0 {
				break
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestOldSetsShrinkInOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		d      *appsv1.Deployment
		newest *appsv1.ReplicaSet
		old    []*appsv1.ReplicaSet
		want   string
	}{
		{"nothing goes while the new pod is not available", rollingDeployment(3, "1", "0"), set("new", 0, 1, 0), []*appsv1.ReplicaSet{set("old", 1, 3, 3)}, ""},
		{"one old pod goes for one new pod that is available", rollingDeployment(3, "1", "0"), set("new", 0, 1, 1), []*appsv1.ReplicaSet{set("old", 1, 3, 3)}, "old→2"},
		{"what may be missing goes at once", rollingDeployment(10, "25%", "25%"), set("new", 0, 3, 0), []*appsv1.ReplicaSet{set("old", 1, 10, 10)}, "old→8"},
		{"pods that are not available go first, whatever set they are of", rollingDeployment(10, "3", "2"), set("new", 0, 3, 3),
			[]*appsv1.ReplicaSet{set("older", 2, 5, 5), set("younger", 1, 5, 3)}, "younger→3 older→2"},
		{"the oldest set goes first", rollingDeployment(4, "2", "2"), set("new", 0, 2, 2), []*appsv1.ReplicaSet{set("younger", 1, 2, 2), set("older", 2, 2, 2)}, "older→0 younger→0"},
		{"sick old pods free room though nothing new works", rollingDeployment(10, "3", "2"), set("new", 0, 5, 5), []*appsv1.ReplicaSet{set("bad", 1, 8, 3)}, "bad→3"},
		{"crash-looping new pods keep the old ones", rollingDeployment(10, "3", "2"), set("new", 0, 5, 0), []*appsv1.ReplicaSet{set("old", 1, 8, 7)}, ""},
	} {
		if got := words(planOld(c.d, c.newest, c.old)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNewSetGrowsUnderTheSurgeLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		d      *appsv1.Deployment
		newest *appsv1.ReplicaSet
		old    []*appsv1.ReplicaSet
		want   string
	}{
		{"up to what is wanted when nothing else runs", rollingDeployment(3, "1", "0"), set("new", 0, 0, 0), nil, "new→3"},
		{"by the surge beside a full old set", rollingDeployment(10, "25%", "25%"), set("new", 0, 0, 0), []*appsv1.ReplicaSet{set("old", 1, 10, 10)}, "new→3"},
		{"not at all when the limit is reached", rollingDeployment(3, "1", "0"), set("new", 0, 1, 0), []*appsv1.ReplicaSet{set("old", 1, 3, 3)}, ""},
		{"down when less is wanted", rollingDeployment(3, "1", "0"), set("new", 0, 5, 5), nil, "new→3"},
		{"never beyond what is wanted", rollingDeployment(3, "5", "0"), set("new", 0, 2, 2), []*appsv1.ReplicaSet{set("old", 1, 1, 1)}, "new→3"},
	} {
		got := ""
		if s, ok := planNew(c.d, c.newest, c.old); ok {
			got = words([]step{s})
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestScalingDuringARolloutIsProportional(t *testing.T) {
	noted := func(rs *appsv1.ReplicaSet, d *appsv1.Deployment) *appsv1.ReplicaSet { annotateSizes(rs, d); return rs }
	ten := rollingDeployment(10, "3", "2")
	for _, c := range []struct {
		name   string
		d      *appsv1.Deployment
		newest *appsv1.ReplicaSet
		old    []*appsv1.ReplicaSet
		want   string
	}{
		// the example of the Kubernetes documentation: 10 replicas in the middle of a rollout become 15
		{"documentation: 10 to 15 gives the larger old set 3 and the new one 2", rollingDeployment(15, "3", "2"), noted(set("new", 0, 5, 0), ten),
			[]*appsv1.ReplicaSet{noted(set("old", 1, 8, 8), ten)}, "old→11 new→7"},
		{"an only set takes everything", rollingDeployment(5, "25%", "25%"), set("new", 0, 3, 3), []*appsv1.ReplicaSet{set("old", 1, 0, 0)}, "new→5"},
		{"down to zero empties every set", rollingDeployment(0, "3", "2"), noted(set("new", 0, 5, 0), ten), []*appsv1.ReplicaSet{noted(set("old", 1, 8, 8), ten)}, "old→0 new→0"},
		{"down keeps the shares", rollingDeployment(5, "3", "2"), noted(set("new", 0, 5, 0), ten), []*appsv1.ReplicaSet{noted(set("old", 1, 8, 8), ten)}, "old→5 new→3"},
		{"of equals the newer grows first", rollingDeployment(11, "3", "2"), noted(set("new", 0, 6, 0), ten), []*appsv1.ReplicaSet{noted(set("old", 1, 6, 6), ten)}, "new→8 old→6"},
		{"a complete new set lets the others go", rollingDeployment(3, "1", "0"), noted(set("new", 0, 3, 3), rollingDeployment(3, "1", "0")), []*appsv1.ReplicaSet{set("old", 1, 2, 2)}, "old→0"},
		{"without pods anywhere the newest gets them", rollingDeployment(2, "1", "0"), nil, []*appsv1.ReplicaSet{set("older", 2, 0, 0), set("younger", 1, 0, 0)}, "younger→2"},
	} {
		if got := words(planScale(c.d, c.newest, c.old)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
