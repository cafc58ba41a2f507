package metrics

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// sample is an answer of a kubelet at a second: its machine works one core, the container half of one since it began.
func sample(at, began int) kubeapi.Usage {
	now, since := start.Add(time.Duration(at)*time.Second), start.Add(time.Duration(began)*time.Second)
	return kubeapi.Usage{At: now, Machine: kubeapi.Amount{Since: start, CPUSeconds: float64(at), Memory: 1 << 30},
		Containers: []kubeapi.ContainerUsage{{Namespace: "default", Pod: "p", Container: "c", Amount: kubeapi.Amount{Since: since, CPUSeconds: 0.5 * float64(at-began), Memory: 1 << 20}}}}
}

func TestRatesNeedTwoMeasurementsOfTheSameLife(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	booted := sample(120, 0)
	booted.Machine = kubeapi.Amount{Since: start.Add(110 * time.Second), CPUSeconds: 10}
	for _, row := range []struct {
		what      string
		answers   []kubeapi.Usage // nil At: none came
		node, pod string          // CPU; empty: not known
	}{
		{"one is not enough", []kubeapi.Usage{sample(60, 0)}, "", ""},
		{"two", []kubeapi.Usage{sample(60, 0), sample(75, 0)}, "1", "500m"},
		{"a round without an answer", []kubeapi.Usage{sample(60, 0), sample(75, 0), {}}, "", ""},
		{"one after it", []kubeapi.Usage{sample(60, 0), {}, sample(90, 0)}, "", ""},
		{"a young container counts from its start", []kubeapi.Usage{sample(60, 60), sample(75, 63)}, "1", "500m"},
		{"one that is too young", []kubeapi.Usage{sample(60, 0), sample(75, 70)}, "1", ""},
		{"a container that has begun anew", []kubeapi.Usage{sample(60, 0), sample(75, 0), sample(90, 89)}, "1", ""},
		{"the same answer again", []kubeapi.Usage{sample(60, 0), sample(60, 0)}, "", ""},
		{"a machine that was switched on anew", []kubeapi.Usage{sample(105, 0), booted}, "", "500m"},
	} {
		s := New(Config{})
		for _, u := range row.answers {
			answers := map[string]kubeapi.Usage{}
			if !u.At.IsZero() {
				answers["n"] = u
			}
			s.take([]string{"n"}, answers)
		}
		gotNode, gotPod := "", ""
		if m := s.Node(node, start); m != nil {
			gotNode = m.Usage.Cpu().String()
		}
		if m := s.Pod(pod, start); m != nil {
			gotPod = m.Containers[0].Usage.Cpu().String()
		}
		if gotNode != row.node || gotPod != row.pod {
			t.Errorf("%s: the node uses %q, the pod %q, want %q and %q", row.what, gotNode, gotPod, row.node, row.pod)
		}
	}
}
