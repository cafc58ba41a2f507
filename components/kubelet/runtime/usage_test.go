package runtime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func amounts(cpu, memory string) corev1.ResourceList {
	out := corev1.ResourceList{}
	if cpu != "" {
		out[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		out[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return out
}

func TestWhatAContainerUsesIsPlausible(t *testing.T) {
	for _, row := range []struct {
		what                       string
		image                      string
		requests, limits           corev1.ResourceList
		coresMin, coresMax         float64
		megabytesMin, megabytesMax float64
	}{
		{"a server that asks for nothing", "example.com/app", nil, nil, 0.0005, 0.01, 5, 60},
		{"idle nginx", "nginx:1.27", nil, nil, 0.0001, 0.003, 3, 9},
		{"a share of what is asked for", "example.com/app", amounts("500m", "256Mi"), nil, 0.07, 0.4, 60, 220},
		{"limits hold", "example.com/app", amounts("2", "2Gi"), amounts("100m", "64Mi"), 0.05, 0.1, 20, 64},
		{"a program of the control plane, whatever it asks for", "registry.k8s.io/kube-apiserver:v1.37.2", amounts("250m", ""), nil, 0.03, 0.07, 120, 330},
		{"absurd requests", "example.com/app", amounts("1e309", "9999999999999999999999Ei"), nil, 0, 1 << 11, 0, 1 << 25},
	} {
		for attempt := range 5 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}}
			l := loadOf(pod, &corev1.Container{Name: "c", Image: row.image, Resources: corev1.ResourceRequirements{Requests: row.requests, Limits: row.limits}}, attempt)
			last := l.cpu(0)
			for at := 15.0; at < 86400; at += 15 {
				now, mb := l.cpu(at), float64(l.bytes(at))/(1<<20)
				if rate := (now - last) / 15; at > 120 && (rate < row.coresMin || rate > row.coresMax) || now < last || mb < row.megabytesMin || mb > row.megabytesMax {
					t.Fatalf("%s: %.4f cores and %.1f MiB after %.0f s", row.what, rate, mb, at)
				}
				last = now
			}
		}
	}
}
