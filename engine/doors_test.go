package engine

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
)

// TestALogIsReadThroughTheAPI goes the whole way: client, API server, network, kubelet, runtime.
func TestALogIsReadThroughTheAPI(t *testing.T) {
	s := scenario.Scenario{Name: "logs", Cluster: scenario.Cluster{Masters: 1, Workers: 1}, Manifests: `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: "nginx:1.27"}
`}
	s.Default()
	e, err := New(Options{Scenario: s, Store: StoreMemory, Seed: 1, Rate: sim.Unpaced, Start: RepeatableStart})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	passed := time.Duration(0)
	to := func(d time.Duration) {
		t.Helper()
		passed += d
		if err := e.RunFor(t.Context(), passed); err != nil {
			t.Fatal(err)
		}
	}
	to(time.Minute)
	master := ""
	for _, m := range e.machines {
		if m.master {
			master = m.host
		}
	}
	var node string
	read := func(namespace, name string) string {
		t.Helper()
		a := e.direct(master, func(p *sim.Proc, c *kubeapi.Client) ([]string, error) {
			pod, err := kubeapi.Fetch[*corev1.Pod](p, c, kinds.Pods, namespace, name)
			if err != nil {
				return nil, err
			}
			node = pod.Spec.NodeName
			resp, err := c.Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: namespace, Name: name, Subresource: "log", Container: &kubeapi.ContainerQuery{}})
			if err != nil {
				return nil, err
			}
			log := resp.Container.OpenLog()
			defer log.Close()
			var lines []string
			for _, l := range log.Next(resp.Container) {
				lines = append(lines, l.Text)
			}
			return lines, nil
		})
		to(5 * time.Second)
		switch {
		case !a.over:
			t.Fatal("no answer")
		case a.err != nil:
			return a.err.Error()
		}
		return strings.Join(a.lines, "")
	}
	if got := read("default", "web"); !strings.Contains(got, "nginx/1.27.0") {
		t.Errorf("log of web: %s", got)
	}
	worker := e.byHost[node]
	if got := read("kube-system", "kube-scheduler-"+master); !strings.Contains(got, "attempting to acquire leader lease kube-system/kube-scheduler...") {
		t.Errorf("log of a scheduler: %s", got)
	}
	worker.held = true
	worker.programs["kubelet"].end(0, 137, "killed", "")
	if got, want := read("default", "web"), `Get "https://`+worker.ip()+`:10250/containerLogs/default/web/app": dial tcp `+worker.ip()+`:10250: connect: connection refused`; got != want {
		t.Errorf("without a kubelet: %s\nwant %s", got, want)
	}
}
