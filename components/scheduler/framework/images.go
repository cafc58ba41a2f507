package framework

import corev1 "k8s.io/api/core/v1"

// imagesOf are the images that a node holds, by each of their names, with their sizes in bytes.
func imagesOf(node *corev1.Node) map[string]int64 {
	if node == nil || len(node.Status.Images) == 0 {
		return nil
	}
	out := make(map[string]int64, len(node.Status.Images))
	for _, img := range node.Status.Images {
		for _, name := range img.Names {
			out[name] = img.SizeBytes
		}
	}
	return out
}

// ImageSize is the size of an image on the node in bytes; 0 when the node does not hold it.
func (n *NodeInfo) ImageSize(name string) int64 { return n.images[name] }

// NodesWithImage counts the nodes that hold an image.
func (c *Cluster) NodesWithImage(name string) int { return c.images[name] }

// countImages takes the images of a node in (by 1) or out (by -1).
func (c *Cluster) countImages(n *NodeInfo, by int) {
	for name := range n.images { // each is counted by itself: the order does not matter
		if c.images[name] += by; c.images[name] == 0 {
			delete(c.images, name)
		}
	}
}
