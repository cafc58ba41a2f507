package acceptance

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
)

// TestABrokenLivenessProbeRestartsTheContainerAndLeadsBackToTheCommand: three failed probes, 10 s apart, then a restart that mends it (fidelity KLT-15).
func TestABrokenLivenessProbeRestartsTheContainerAndLeadsBackToTheCommand(t *testing.T) {
	besides(t, engine.StoreMemory)
	s, err := scenario.Parse([]byte(`
cluster: {masters: 1, workers: 1}
manifests: |
  apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: default}
  spec:
    containers:
    - name: web
      image: nginx:1.27
      livenessProbe: {httpGet: {path: /, port: 80}}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, run{scenario: &s, seed: 1, length: 3 * time.Minute, do: []string{"60s break liveness pod/default/web", "61s break readiness pod/default/web"}})
	var killing time.Duration
	for _, r := range p.recs {
		c, ok := r.Event.(event.ObjectChanged)
		if !ok {
			continue
		}
		if e, ok := c.Object.(*corev1.Event); ok && e.Reason == "Killing" && strings.Contains(e.Message, "failed liveness probe") {
			killing = p.since(r.At)
		}
	}
	if killing < 80*time.Second || killing > 92*time.Second {
		t.Errorf("the container was killed after %s, want 20-30 s after the order", killing)
	}
	pod, _ := p.world.Pods.Get("default/web")
	if pod == nil || pod.Restarts != 1 || pod.Status != "Running" || pod.Ready != 1 {
		t.Errorf("the pod at the end: %+v", pod)
	}
	if _, done := p.done("break readiness pod/default/web"); !strings.Contains(done.Error, "has no readiness probe") {
		t.Errorf("a probe that is not there: %q", done.Error)
	}
}
