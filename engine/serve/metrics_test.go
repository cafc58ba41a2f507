package serve

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"example.com/kubeviz/engine/command"
)

const usage = "/apis/metrics.k8s.io/v1beta1"

// nodeUsage lists what nodes are said to use, by name.
func (c *cluster) nodeUsage() map[string]metricsv1beta1.NodeMetrics {
	c.t.Helper()
	var l metricsv1beta1.NodeMetricsList
	r := c.get(usage + "/nodes")
	if err := json.Unmarshal(r.body, &l); err != nil || r.code != http.StatusOK {
		c.t.Fatalf("%d %v %s", r.code, err, r.body)
	}
	out := map[string]metricsv1beta1.NodeMetrics{}
	for _, n := range l.Items {
		out[n.Name] = n
	}
	return out
}

func TestWhatMachinesAndPodsUseIsMeasuredThroughTheNetwork(t *testing.T) {
	c := open(t, 1, 2, "")
	c.until("all nodes are measured", func() bool { return len(c.nodeUsage()) == 3 })
	for name, n := range c.nodeUsage() {
		if cpu, memory := n.Usage.Cpu().MilliValue(), n.Usage.Memory().Value(); cpu < 40 || cpu > 400 || memory < 400<<20 || memory > 2<<30 {
			t.Errorf("%s uses %dm and %d bytes", name, cpu, memory)
		}
		if n.Window.Duration < 10*time.Second || n.Window.Duration > 20*time.Second {
			t.Errorf("%s was measured over %s", name, n.Window.Duration)
		}
		if age := n.CreationTimestamp.Sub(n.Timestamp.Time); age < 0 || age > 35*time.Second {
			t.Errorf("%s was measured %s before the answer", name, age)
		}
	}

	for _, r := range []struct {
		what, path, message string
		code                int
	}{
		{"a node that is none", "/nodes/nosuch", `nodes "nosuch" not found`, 404},
		{"a pod that is none", "/namespaces/default/pods/nosuch", `pods "default/nosuch" not found`, 404},
		{"a watch", "/nodes?watch=true", "the server does not allow this method on the requested resource", 405},
	} {
		if got := c.get(usage + r.path); got.code != r.code || got.status(t).Message != r.message {
			t.Errorf("%s: %d %s", r.what, got.code, got.body)
		}
	}
	c.must(ask{method: "POST", path: "/api/v1/namespaces/default/pods", body: pod("a")})
	nowhere := pod("nowhere")
	nowhere["spec"].(map[string]any)["nodeSelector"] = map[string]any{"disk": "none"}
	c.must(ask{method: "POST", path: "/api/v1/namespaces/default/pods", body: nowhere})
	if got := c.get(usage + "/namespaces/default/pods/nowhere"); got.code != 404 || got.status(t).Message != `podmetrics.metrics.k8s.io "default/nowhere" not found` {
		t.Errorf("a pod that does not run: %d %s", got.code, got.body)
	}
	c.until("the pod is measured", func() bool { return c.get(usage+"/namespaces/default/pods/a").code == 200 })
	var l metricsv1beta1.PodMetricsList
	if err := json.Unmarshal(c.get(usage+"/pods?labelSelector=tier%3Dcontrol-plane").body, &l); err != nil || len(l.Items) != 4 {
		t.Errorf("the control plane has %d pods that use something: %v", len(l.Items), err)
	}

	c.e.Do(command.Cut{A: "worker-1", B: "all"})
	c.until("the node behind the cut is not known any more", func() bool { n := c.nodeUsage(); _, there := n["worker-1"]; return !there && len(n) == 2 })
	c.e.Do(command.Heal{})
	c.until("it is known again", func() bool { return len(c.nodeUsage()) == 3 })
}
