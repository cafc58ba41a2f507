package plugins

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/internal/fixture"
)

func TestScores(t *testing.T) {
	spread := PodTopologySpread{Owner: func(p *corev1.Pod) labels.Selector {
		if len(p.OwnerReferences) == 0 {
			return nil
		}
		return labels.SelectorFromSet(labels.Set{"app": "web"})
	}}
	for _, c := range []struct {
		what   string
		plugin framework.ScorePlugin
		pod    string
		nodes  []string
		placed []string
		want   []int64 // by name of the node; nil: no opinion
	}{
		{"least allocated averages what stays free of cpu and memory", NodeResourcesFit{}, "p: cpu 1, memory 2Gi", []string{"w1:", "w2:"},
			[]string{"q: cpu 1, memory 4Gi, on w2"}, []int64{(75 + 75) / 2, (50 + 25) / 2}},
		{"missing requests count as 100m and 200Mi", NodeResourcesFit{}, "p:", []string{"w1: cpu 1, memory 1000Mi"}, nil, []int64{(90 + 80) / 2}},
		{"an overcommitted resource counts as nothing free", NodeResourcesFit{}, "p: cpu 1, memory 4Gi", []string{"w1:"}, []string{"q: cpu 4, memory 0, on w1"},
			[]int64{(0 + 50) / 2}},
		{"balanced allocation takes off half the distance of the fractions", BalancedAllocation{}, "p: cpu 2, memory 2Gi", []string{"w1:"}, nil, []int64{87}},
		{"equal fractions are perfect", BalancedAllocation{}, "p: cpu 2, memory 4Gi", []string{"w1:"}, nil, []int64{100}},
		{"pods that ask for nothing are not balanced", BalancedAllocation{}, "p:", []string{"w1:"}, nil, nil},
		{"the node with the most taints to avoid gets nothing", TaintToleration{}, "p:",
			[]string{"w1:", "w2: taint a=b:PreferNoSchedule", "w3: taint a=b:PreferNoSchedule, taint c=d:PreferNoSchedule"}, nil, []int64{100, 50, 0}},
		{"tolerated taints are not avoided", TaintToleration{}, "p: tolerates a", []string{"w1:", "w2: taint a=b:PreferNoSchedule"}, nil, []int64{100, 100}},
		{"a preferred label gives the most", NodeAffinity{}, "p: prefers disk=ssd", []string{"w1:", "w2: label disk=ssd"}, nil, []int64{0, 100}},
		{"without preferences there is no opinion", NodeAffinity{}, "p: selector disk=ssd", []string{"w1:"}, nil, nil},
		// Hosts weigh ln(3+2) = 1.609, the one zone that all share is not labelled: scores 2+round(n·1.609), turned around against the highest.
		{"pods of a ReplicaSet spread over hosts by default", spread, "p: owner web, label app=web", []string{"w1:", "w2:", "w3:"},
			[]string{"a: label app=web, on w1", "b: label app=web, on w1", "c: label app=web, on w2"}, []int64{100 * (5 + 2 - 5) / 5, 100 * (5 + 2 - 4) / 5, 100}},
		{"pods without an owner do not", spread, "p: label app=web", []string{"w1:", "w2:"}, []string{"a: label app=web, on w1"}, nil},
		// Zones weigh ln(2+2) = 1.386: w1 and w2 hold 2 matching pods together, w3 none.
		{"a soft constraint spreads over zones", spread, "p: label app=web, spreads zone", []string{"w1: zone a", "w2: zone a", "w3: zone b"},
			[]string{"a: label app=web, on w1", "b: label app=web, on w1"}, []int64{0, 0, 100}},
		{"a node without the label of a soft constraint gets nothing", spread, "p: label app=web, spreads zone", []string{"w1: zone a", "w2:"}, nil, []int64{100, 0}},
		{"liked pods draw, the most of them to the top", InterPodAffinity{}, "p: likes host app=web", []string{"w1:", "w2:", "w3:"},
			[]string{"a: label app=web, on w1", "b: label app=web, on w1", "c: label app=web, on w2"}, []int64{100, 50, 0}},
		{"disliked pods repel", InterPodAffinity{}, "p: dislikes host app=web", []string{"w1:", "w2:"}, []string{"a: label app=web, on w1"}, []int64{0, 100}},
		{"pods that like this one draw it", InterPodAffinity{}, "p: label app=web", []string{"w1:", "w2:"}, []string{"a: likes host app=web, on w2"}, []int64{0, 100}},
		{"pods that must be near this kind draw it too", InterPodAffinity{}, "p: label app=web", []string{"w1:", "w2:"}, []string{"a: near host app=web, on w2"},
			[]int64{0, 100}},
		// 500 MiB that half of the nodes hold count 250 MiB, of 1000 MiB for one container: 100·(250-23)/(1000-23).
		{"nodes that hold the image are preferred", ImageLocality{}, "p:", []string{"w1: image app:latest 500Mi", "w2: image other:1 500Mi"}, nil, []int64{23, 0}},
		{"images that nobody holds give no opinion", ImageLocality{}, "p:", []string{"w1: image other:1 500Mi"}, nil, nil},
	} {
		cl := cluster(c.nodes, c.placed)
		s := c.plugin.PreScore(framework.NewPodInfo(fixture.Pod(c.pod)), cl, cl.Nodes())
		if s == nil {
			if c.want != nil {
				t.Errorf("%s: no opinion", c.what)
			}
			continue
		}
		by := map[string]int64{}
		var scores []int64
		for _, n := range cl.Nodes() {
			scores = append(scores, s.Score(n))
		}
		s.Normalize(scores)
		for i, n := range cl.Nodes() {
			by[n.Name] = scores[i]
		}
		var got []int64
		for _, n := range c.nodes {
			got = append(got, by[fixture.Node(n).Name])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

// Counts are kept up to date pod by pod; a fresh look at everything must agree.
func TestCountsFollowPods(t *testing.T) {
	cl := cluster([]string{"w1:", "w2:"}, []string{"a: label app=web, on w1"})
	sel := labels.SelectorFromSet(labels.Set{"app": "web"})
	n1, _ := cl.Node("w1")
	n2, _ := cl.Node("w2")
	check := func(when string, on1, on2 int) {
		t.Helper()
		c := cl.Counts("default", sel)
		if c.On(n1.Index) != on1 || c.On(n2.Index) != on2 {
			t.Errorf("%s: %d and %d, want %d and %d", when, c.On(n1.Index), c.On(n2.Index), on1, on2)
		}
	}
	check("at first", 1, 0)
	b := framework.NewPodInfo(fixture.Pod("b: label app=web"))
	cl.Assume(b, "w2")
	check("one assumed", 1, 1)
	cl.SetPod(fixture.Pod("b: label app=web, on w2"))
	check("and confirmed", 1, 1)
	cl.SetPod(fixture.Pod("a: label app=web, on w1, deleting"))
	check("one terminating", 0, 1)
	cl.SetPod(fixture.Pod("b: label app=other, on w2"))
	check("one relabelled", 0, 0)
	cl.RemovePod("default/b")
	cl.SetPod(fixture.Pod("c: label app=web, on w2"))
	check("one gone, one new", 0, 1)
	if cl.Forget(framework.NewPodInfo(fixture.Pod("c: label app=web"))) {
		t.Error("a pod that the API confirmed was forgotten")
	}
}
