package plugins

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// ImageLocality prefers nodes that hold the pod's images already. An image counts the more nodes hold it, lest a few nodes attract everything.
type ImageLocality struct{}

// Bounds of the sum of image sizes, in bytes; the upper one is per container (k/k pkg/scheduler/framework/plugins/imagelocality).
const (
	imagesMin          = 23 << 20
	imagesMaxContainer = 1000 << 20
)

func (ImageLocality) Name() string { return NameImageLocality }

func (ImageLocality) PreScore(pod *framework.PodInfo, cl *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	s := imageScorer{total: int64(len(cl.Nodes())), containers: int64(len(pod.Pod.Spec.InitContainers) + len(pod.Pod.Spec.Containers))}
	for _, cs := range [][]corev1.Container{pod.Pod.Spec.InitContainers, pod.Pod.Spec.Containers} {
		for i := range cs {
			name := tagged(cs[i].Image)
			if nodes := cl.NodesWithImage(name); nodes > 0 {
				s.names, s.nodes = append(s.names, name), append(s.nodes, int64(nodes))
			}
		}
	}
	if len(s.names) == 0 {
		return nil
	}
	return s
}

// tagged is an image's name as nodes report it.
func tagged(image string) string {
	if strings.LastIndex(image, ":") <= strings.LastIndex(image, "/") {
		return image + ":latest"
	}
	return image
}

type imageScorer struct {
	names             []string
	nodes             []int64 // that hold each
	total, containers int64
}

func (s imageScorer) Score(n *framework.NodeInfo) int64 {
	var sum int64
	for i, name := range s.names {
		sum += int64(float64(n.ImageSize(name)) * (float64(s.nodes[i]) / float64(s.total)))
	}
	most := imagesMaxContainer * s.containers
	return framework.MaxScore * (min(max(sum, imagesMin), most) - imagesMin) / (most - imagesMin)
}

func (imageScorer) Normalize([]int64) {}
