package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/components/scheduler/plugins"
)

func TestHowManyNodesAreLookedAt(t *testing.T) {
	for n, want := range map[int]int{1: 1, 99: 99, 100: 100, 150: 100, 1000: 420, 5000: 500, 15000: 750} {
		if got := (&algorithm{}).enough(n); got != want {
			t.Errorf("of %d nodes %d, want %d", n, got, want)
		}
	}
}

func TestSamplesGoRoundTheCluster(t *testing.T) {
	a := large(1000, 3)
	first := a.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 1"))).feasible[0].Name
	second := a.schedule(framework.NewPodInfo(fixture.Pod("q: cpu 1"))).feasible[0].Name
	if at := slices.IndexFunc(a.cluster.Nodes(), func(n *framework.NodeInfo) bool { return n.Name == second }); first == second || at != 420 {
		t.Errorf("searches began at %s and %s (place %d)", first, second, at)
	}
	zones := map[string]int{}
	for _, n := range a.cluster.Nodes()[:300] {
		zones[n.Zone]++
	}
	for z, n := range zones {
		if n != 100 {
			t.Errorf("of 300 nodes in turn %d are in zone %s", n, z)
		}
	}
}

func TestTiesAreChosenEvenly(t *testing.T) {
	a := picture([]string{"w1:", "w2:", "w3:", "w4:"}, nil)
	got := map[string]int{}
	for i := range 4000 {
		node, _, _ := try(a, fmt.Sprintf("p%d: cpu 1", i))
		got[node]++
	}
	for n, k := range got {
		if k < 850 || k > 1150 {
			t.Errorf("%s got %d of 4000", n, k)
		}
	}
}

func TestScoresAreWeighted(t *testing.T) {
	a := picture([]string{"w1:", "w2: label disk=ssd"}, nil)
	r := a.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 2, memory 4Gi, prefers disk=ssd")))
	v := r.verdicts(true)
	want := map[string]int64{"TaintToleration": 300, "NodeAffinity": 200, "NodeResourcesFit": 50, "NodeResourcesBalancedAllocation": 100}
	if r.chosen.Name != "w2" || len(v) != 2 || v[1].Total != 650 || v[0].Total != 450 {
		t.Fatalf("chose %s: %+v", r.chosen.Name, v)
	}
	for name, score := range want {
		if v[1].Scores[name] != score {
			t.Errorf("%s gives %d, want %d", name, v[1].Scores[name], score)
		}
	}
	weights := r.weights()
	if weights["TaintToleration"] != 3 || weights["NodeAffinity"] != 2 || len(weights) != 4 {
		t.Errorf("weights %v", weights)
	}
	for _, x := range v {
		for name, raw := range x.Raw {
			if raw < 0 || raw > framework.MaxScore || raw*weights[name] != x.Scores[name] {
				t.Errorf("%s of %s: raw %d times %d is not %d", name, x.Node, raw, weights[name], x.Scores[name])
			}
		}
		if len(x.Raw) != len(x.Scores) {
			t.Errorf("%s: raw %v, weighted %v", x.Node, x.Raw, x.Scores)
		}
	}
	alone := picture([]string{"w1:"}, nil)
	if w := alone.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 1"))).weights(); w != nil {
		t.Errorf("with nothing to choose from there are weights: %v", w)
	}
}

func TestTheChosenNodeIsAlwaysAmongTheVerdicts(t *testing.T) {
	for _, n := range []int{2, 99, 100, 101, 700} {
		for _, detail := range []bool{true, false} {
			a := large(n, 3)
			r := a.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 1")))
			v := r.verdicts(detail)
			found := false
			for _, x := range v {
				found = found || x.Node == r.chosen.Name && x.Total > 0
			}
			if !found || len(v) > verdictNodesMax {
				t.Errorf("%d nodes, detail %v: %d verdicts, the chosen one among them: %v", n, detail, len(v), found)
			}
			if detail && n <= verdictNodesMax && len(v) != n {
				t.Errorf("%d nodes have %d verdicts", n, len(v))
			}
		}
	}
}

func TestVerdictsStaySmall(t *testing.T) {
	a := large(5000, 3)
	v := a.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 1"))).verdicts(true)
	if len(v) != verdictBest || v[0].Total == 0 {
		t.Errorf("%d verdicts: %+v", len(v), v[:1])
	}
	r := a.schedule(framework.NewPodInfo(fixture.Pod("p: cpu 100")))
	if v := r.verdicts(true); len(v) != 1 || v[0].Plugin != "NodeResourcesFit" {
		t.Errorf("5000 nodes that refuse for one reason make %d verdicts", len(v))
	}
}

// Whatever comes and goes, no node holds more than it has; and the same seed places alike.
func TestNodesAreNeverOverfull(t *testing.T) {
	for seed := range uint64(60) {
		one, two := churn(t, seed), churn(t, seed)
		if !slices.Equal(one, two) {
			t.Fatalf("seed %d: two runs placed pods differently", seed)
		}
	}
}

func churn(t *testing.T, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 7))
	a := picture(nil, nil)
	for i := range 3 + rng.IntN(5) {
		a.cluster.SetNode(fixture.Node(fmt.Sprintf("w%d: cpu %d, memory %dGi, pods %d, zone %c", i, 1+rng.IntN(8), 1+rng.IntN(16), 3+rng.IntN(20), 'a'+i%2)))
	}
	a.rand = rand.New(rand.NewPCG(seed, 8))
	var log []string
	var placed []*framework.PodInfo
	for i := range 400 {
		switch k := rng.IntN(10); {
		case k < 6:
			pod := fixture.Pod(fmt.Sprintf("p%d: cpu %dm, memory %dMi, port %d, label app=%c, priority %d", i, rng.IntN(1500), rng.IntN(3000), 1+rng.IntN(300), 'a'+rng.IntN(3), rng.IntN(3)))
			info := framework.NewPodInfo(pod)
			r := a.schedule(info)
			if r.chosen == nil {
				log = append(log, pod.Name+" nowhere: "+r.message())
				a.postFilter(info, r)
				continue
			}
			log = append(log, pod.Name+" on "+r.chosen.Name)
			a.cluster.Assume(info, r.chosen.Name)
			placed = append(placed, info)
		case len(placed) == 0:
		case k < 8: // the API confirms
			p := placed[rng.IntN(len(placed))].Pod.DeepCopy()
			for _, n := range a.cluster.Nodes() {
				if slices.ContainsFunc(n.Pods, func(q *framework.PodInfo) bool { return q.Pod.UID == p.UID }) {
					p.Spec.NodeName = n.Name
				}
			}
			a.cluster.SetPod(p)
		default:
			at := rng.IntN(len(placed))
			if !a.cluster.Forget(placed[at]) {
				a.cluster.RemovePod(placed[at].Key)
			}
			placed = slices.Delete(placed, at, at+1)
		}
		for _, n := range a.cluster.Nodes() {
			var cpu, memory int64
			for j, p := range n.Pods {
				cpu, memory = cpu+p.Requests.MilliCPU, memory+p.Requests.Memory
				for _, q := range n.Pods[:j] {
					if framework.PortsClash(p.Ports, q.Ports) {
						t.Fatalf("seed %d step %d: a host port is held twice on %s", seed, i, n.Name)
					}
				}
			}
			if cpu > n.Allocatable.MilliCPU || memory > n.Allocatable.Memory || int64(len(n.Pods)) > n.AllowedPods {
				t.Fatalf("seed %d step %d: %s is overfull", seed, i, n.Name)
			}
			if cpu != n.Requested.MilliCPU || memory != n.Requested.Memory {
				t.Fatalf("seed %d step %d: the sums of %s are wrong", seed, i, n.Name)
			}
		}
		if len(placed) != a.cluster.Pods() {
			t.Fatalf("seed %d step %d: %d pods placed, %d known", seed, i, len(placed), a.cluster.Pods())
		}
	}
	return log
}

// large makes a cluster of n nodes in some zones.
func large(n, zones int) *algorithm {
	a := picture(nil, nil)
	for i := range n {
		a.cluster.SetNode(fixture.Node(fmt.Sprintf("node-%04d: cpu 32, memory 64Gi, pods 110, zone z%d", i, i%zones)))
	}
	return a
}

func benchmark(b *testing.B, all, owned bool) {
	a := large(5000, 3)
	a.all = all
	sentence := "p: cpu 100m, memory 128Mi, label app=web"
	if owned {
		sentence += ", owner web"
		a.Set = plugins.Default(func(*corev1.Pod) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": "web"}) }, nil)
	}
	pod := fixture.Pod(sentence)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		p := *pod
		p.Name, p.UID = fmt.Sprint("p", i), types.UID(fmt.Sprint("u", i))
		info := framework.NewPodInfo(&p)
		r := a.schedule(info)
		if r.chosen == nil {
			b.Fatal(r.message())
		}
		r.verdicts(true)
		a.cluster.Assume(info, r.chosen.Name)
		if i%100000 == 99999 {
			b.StopTimer()
			a.cluster = large(5000, 3).cluster
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
}

func BenchmarkAllNodesOf5000(b *testing.B)               { benchmark(b, true, false) }
func BenchmarkSampleOf5000(b *testing.B)                 { benchmark(b, false, false) }
func BenchmarkAllNodesOf5000WithReplicaSet(b *testing.B) { benchmark(b, true, true) }
func BenchmarkSampleOf5000WithReplicaSet(b *testing.B)   { benchmark(b, false, true) }
