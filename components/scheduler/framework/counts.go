package framework

import (
	"k8s.io/apimachinery/pkg/labels"
)

// Counts tells how many pods that match a selector are on each node, terminating ones left out. It is kept up to date pod by pod, so that spreading over 5,000
// nodes does not look at 150,000 pods.
type Counts struct {
	namespace string
	selector  labels.Selector
	perNode   []int32
	used      uint64
}

// On is the count for the node in that slot (NodeInfo.Index).
func (c *Counts) On(index int) int {
	if index < len(c.perNode) {
		return int(c.perNode[index])
	}
	return 0
}

// matches reports that p is among what is counted.
func (c *Counts) matches(p *PodInfo) bool {
	return p.Pod.Namespace == c.namespace && !p.Terminating() && c.selector.Matches(labels.Set(p.Pod.Labels))
}

func (c *Counts) change(p *PodInfo, index int, by int32) {
	if !c.matches(p) {
		return
	}
	for index >= len(c.perNode) {
		c.perNode = append(c.perNode, make([]int32, index+1-len(c.perNode))...)
	}
	c.perNode[index] += by
}

// countsMax bounds how many selectors are kept counted; the one unused for longest goes.
const countsMax = 256

// Counts gives the counts of a selector in a namespace; the first call for it looks at all pods of the cluster.
func (c *Cluster) Counts(namespace string, sel labels.Selector) *Counts {
	key := namespace + "|" + sel.String()
	c.uses++
	if have, ok := c.counts[key]; ok {
		have.used = c.uses
		return have
	}
	if len(c.counts) >= countsMax {
		c.dropOldestCounts()
	}
	n := &Counts{namespace: namespace, selector: sel, perNode: make([]int32, len(c.slots)), used: c.uses}
	for _, node := range c.slots {
		if node == nil {
			continue
		}
		for _, p := range node.Pods {
			n.change(p, node.Index, 1)
		}
	}
	c.counts[key] = n
	return n
}

func (c *Cluster) dropOldestCounts() {
	oldest, at := "", uint64(0)
	for key, n := range c.counts {
		if oldest == "" || n.used < at { // used differs for all, so the order of the map does not matter
			oldest, at = key, n.used
		}
	}
	delete(c.counts, oldest)
}
