package framework

// Topology numbers the values of one node label, so that domains are counted by number and not by looking up labels of thousands of nodes for each pod.
type Topology struct {
	key     string
	numbers map[string]int
	of      []int32 // by slot
}

// NoDomain is the domain of a node without the label.
const NoDomain = -1

// Topology gives the numbering of a label; it follows the nodes from then on.
func (c *Cluster) Topology(key string) *Topology {
	if t, ok := c.topologies[key]; ok {
		return t
	}
	t := &Topology{key: key, numbers: map[string]int{}}
	for _, n := range c.slots {
		if n != nil {
			t.set(n)
		}
	}
	c.topologies[key] = t
	return t
}

// Domains counts the numbers given so far; each is below.
func (t *Topology) Domains() int { return len(t.numbers) }

// Of is the domain of the node, NoDomain if it has none.
func (t *Topology) Of(n *NodeInfo) int { return int(t.of[n.Index]) }

func (t *Topology) set(n *NodeInfo) {
	for n.Index >= len(t.of) {
		t.of = append(t.of, NoDomain)
	}
	t.of[n.Index] = NoDomain
	if n.Node == nil {
		return
	}
	if v, ok := n.Node.Labels[t.key]; ok {
		number, known := t.numbers[v]
		if !known {
			number = len(t.numbers)
			t.numbers[v] = number
		}
		t.of[n.Index] = int32(number)
	}
}

// retopologize takes in the labels of a node as they are now.
func (c *Cluster) retopologize(n *NodeInfo) {
	for _, t := range c.topologies { // each is changed by itself: the order does not matter
		t.set(n)
	}
}
