package framework

import (
	"slices"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
)

// Cluster is the scheduler's picture of nodes and the pods on them, pods that it has just placed included ("assumed", until the API says so itself). A cycle does
// not park, so the live picture serves as its snapshot.
type Cluster struct {
	nodes  btree.Map[string, *NodeInfo] // nodes known by name, unknown ones that pods name included
	slots  []*NodeInfo                  // by Index
	free   []int
	pods   map[kubeapi.Key]*placed
	counts map[string]*Counts
	uses   uint64

	topologies map[string]*Topology       // by label
	withTerms  btree.Map[string, *placed] // pods with terms of pod affinity
	images     map[string]int             // nodes by image

	list      []*NodeInfo
	listStale bool
}

type placed struct {
	info    *PodInfo
	node    *NodeInfo
	assumed bool
}

// NewCluster is an empty picture.
func NewCluster() *Cluster {
	return &Cluster{pods: map[kubeapi.Key]*placed{}, counts: map[string]*Counts{}, topologies: map[string]*Topology{}, images: map[string]int{}}
}

// Nodes lists the nodes, one zone after the other in turn, by name within a zone. Read only, good until the next change.
func (c *Cluster) Nodes() []*NodeInfo {
	if c.listStale {
		c.list = c.arrange()
		c.listStale = false
	}
	return c.list
}

// Node finds a node by name; false when it does not exist as an object.
func (c *Cluster) Node(name string) (*NodeInfo, bool) {
	n, ok := c.nodes.Get(name)
	return n, ok && n.Node != nil
}

// arrange interleaves the zones (k/k pkg/scheduler/backend/cache/node_tree.go), so that a sample of the nodes is a sample of the zones.
func (c *Cluster) arrange() []*NodeInfo {
	var zones []string
	by := map[string][]*NodeInfo{}
	count := 0
	c.nodes.Scan(func(_ string, n *NodeInfo) bool {
		if n.Node == nil {
			return true
		}
		if by[n.Zone] == nil {
			zones = append(zones, n.Zone)
		}
		by[n.Zone] = append(by[n.Zone], n)
		count++
		return true
	})
	slices.Sort(zones)
	out := make([]*NodeInfo, 0, count)
	for i := 0; len(out) < count; i++ {
		for _, z := range zones {
			if i < len(by[z]) {
				out = append(out, by[z][i])
			}
		}
	}
	return out
}

// SetNode adds a node or takes in its new version.
func (c *Cluster) SetNode(node *corev1.Node) {
	n := c.named(node.Name)
	zone := n.Zone
	if n.Node == nil {
		c.listStale = true
	}
	c.countImages(n, -1)
	n.SetNode(node)
	c.countImages(n, 1)
	c.retopologize(n)
	c.listStale = c.listStale || n.Zone != zone
}

// RemoveNode forgets a node; its pods stay known until they go themselves.
func (c *Cluster) RemoveNode(name string) {
	n, ok := c.nodes.Get(name)
	if !ok {
		return
	}
	c.countImages(n, -1)
	n.SetNode(nil)
	c.retopologize(n)
	c.listStale = true
	c.dropIfEmpty(n)
}

func (c *Cluster) named(name string) *NodeInfo {
	if n, ok := c.nodes.Get(name); ok {
		return n
	}
	index := len(c.slots)
	if k := len(c.free); k > 0 {
		index = c.free[k-1]
		c.free = c.free[:k-1]
	} else {
		c.slots = append(c.slots, nil)
	}
	n := NewNodeInfo(name, index)
	c.slots[index] = n
	c.retopologize(n)
	c.nodes.Set(name, n)
	return n
}

func (c *Cluster) dropIfEmpty(n *NodeInfo) {
	if n.Node == nil && len(n.Pods) == 0 {
		c.nodes.Delete(n.Name)
		c.slots[n.Index] = nil
		c.free = append(c.free, n.Index)
	}
}

// Assume places a pod on a node before the API knows of it.
func (c *Cluster) Assume(p *PodInfo, node string) { c.place(p, node, true) }

// Forget takes an assumed pod back, if it still is assumed and the same pod.
func (c *Cluster) Forget(p *PodInfo) bool {
	at, ok := c.pods[p.Key]
	if !ok || !at.assumed || at.info.Pod.UID != p.Pod.UID {
		return false
	}
	c.remove(at)
	return true
}

// Assumed reports that the pod waits for the API to know of its placement.
func (c *Cluster) Assumed(pod *corev1.Pod) bool {
	at, ok := c.pods[kubeapi.KeyOf(pod)]
	return ok && at.assumed && at.info.Pod.UID == pod.UID
}

// SetPod takes in a pod that the API says is on a node (spec.nodeName), and returns what was known of it before; nil: nothing, or it was only assumed.
func (c *Cluster) SetPod(pod *corev1.Pod) (before *PodInfo) {
	key := kubeapi.KeyOf(pod)
	at, ok := c.pods[key]
	if !ok {
		c.place(NewPodInfo(pod), pod.Spec.NodeName, false)
		return nil
	}
	if !at.assumed {
		before = at.info
	}
	if at.info.Pod.UID != pod.UID || at.node.Name != pod.Spec.NodeName || at.info.Pod.Generation != pod.Generation || pod.Generation == 0 ||
		at.info.Terminating() != (pod.DeletionTimestamp != nil) || !sameLabels(at.info.Pod.Labels, pod.Labels) {
		info := at.info.With(pod)
		c.remove(at)
		c.place(info, pod.Spec.NodeName, false)
		return before
	}
	// Nothing that counts has changed: status of pods changes often, so only the object is exchanged.
	info := at.info.With(pod)
	for i, p := range at.node.Pods {
		if p == at.info {
			at.node.Pods[i] = info
			break
		}
	}
	at.info, at.assumed = info, false
	return before
}

// RemovePod takes a pod out, assumed or not, and returns what was known of it.
func (c *Cluster) RemovePod(key kubeapi.Key) (before *PodInfo, ok bool) {
	at, ok := c.pods[key]
	if !ok {
		return nil, false
	}
	c.remove(at)
	return at.info, true
}

// Pods counts the pods that are placed.
func (c *Cluster) Pods() int { return len(c.pods) }

func (c *Cluster) place(p *PodInfo, node string, assumed bool) {
	if at, ok := c.pods[p.Key]; ok {
		c.remove(at)
	}
	n := c.named(node)
	n.AddPod(p)
	c.count(p, n, 1)
	at := &placed{info: p, node: n, assumed: assumed}
	c.pods[p.Key] = at
	if p.Terms != nil {
		c.withTerms.Set(string(p.Key), at)
	}
}

func (c *Cluster) remove(at *placed) {
	at.node.RemovePod(at.info)
	c.count(at.info, at.node, -1)
	delete(c.pods, at.info.Key)
	c.withTerms.Delete(string(at.info.Key))
	c.dropIfEmpty(at.node)
}

func (c *Cluster) count(p *PodInfo, n *NodeInfo, by int32) {
	for _, k := range c.counts { // each is changed by itself: the order does not matter
		k.change(p, n.Index, by)
	}
}

func sameLabels(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}
