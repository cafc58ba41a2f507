package scheduler

import (
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler/framework"
)

// trial is a copy of a node, and of the filters that look beyond it, to try pods on.
type trial struct {
	node    *framework.NodeInfo
	filters []framework.Filter
}

func newTrial(filters []framework.Filter, n *framework.NodeInfo) *trial {
	t := &trial{node: n.Clone(), filters: make([]framework.Filter, len(filters))}
	for i, f := range filters {
		if adj, ok := f.(framework.Adjuster); ok {
			f = adj.Copy()
		}
		t.filters[i] = f
	}
	return t
}

func (t *trial) add(p *framework.PodInfo) {
	t.node.AddPod(p)
	t.adjust(p, 1)
}

func (t *trial) remove(p *framework.PodInfo) {
	if t.node.RemovePod(p) {
		t.adjust(p, -1)
	}
}

func (t *trial) adjust(p *framework.PodInfo, by int) {
	for _, f := range t.filters {
		if adj, ok := f.(framework.Adjuster); ok {
			adj.Adjust(p, t.node, by)
		}
	}
}

// started is when a pod's node took it up; a pod not taken up yet counts as starting last.
func started(p *framework.PodInfo) time.Time {
	if p.Pod.Status.StartTime != nil {
		return p.Pod.Status.StartTime.Time
	}
	return time.Unix(1<<40, 0)
}

// earliestTop is when the first of the victims of the highest priority started.
func earliestTop(c *candidate) time.Time {
	first := started(c.victims[0])
	for _, v := range c.victims {
		if at := started(v); v.Priority == c.victims[0].Priority && at.Before(first) {
			first = at
		}
	}
	return first
}

// nominations are the pods for which nodes are being cleared.
type nominations struct {
	byPod  map[kubeapi.Key]nomination
	byNode map[string]*btree.Map[kubeapi.Key, *framework.PodInfo]
}

type nomination struct {
	pod  *framework.PodInfo
	node string
}

func newNominations() *nominations {
	return &nominations{byPod: map[kubeapi.Key]nomination{}, byNode: map[string]*btree.Map[kubeapi.Key, *framework.PodInfo]{}}
}

// of is the node nominated for a pod: as remembered, else as its status says (a scheduler before this one wrote it).
func (n *nominations) of(pod *framework.PodInfo) string {
	if have, ok := n.byPod[pod.Key]; ok && have.pod.Pod.UID == pod.Pod.UID {
		return have.node
	}
	return pod.Pod.Status.NominatedNodeName
}

// on lists the pods other than pod, of at least its priority, that a node is nominated for.
func (n *nominations) on(node string, pod *framework.PodInfo) []*framework.PodInfo {
	m := n.byNode[node]
	if m == nil {
		return nil
	}
	var out []*framework.PodInfo
	m.Scan(func(_ kubeapi.Key, p *framework.PodInfo) bool {
		if p.Priority >= pod.Priority && p.Pod.UID != pod.Pod.UID {
			out = append(out, p)
		}
		return true
	})
	return out
}

// lower lists the pods of lower priority than pod that a node is nominated for.
func (n *nominations) lower(node string, pod *framework.PodInfo) []*framework.PodInfo {
	m := n.byNode[node]
	if m == nil {
		return nil
	}
	var out []*framework.PodInfo
	m.Scan(func(_ kubeapi.Key, p *framework.PodInfo) bool {
		if p.Priority < pod.Priority {
			out = append(out, p)
		}
		return true
	})
	return out
}

func (n *nominations) remove(pod *corev1.Pod) {
	key := kubeapi.KeyOf(pod)
	have, ok := n.byPod[key]
	if !ok {
		return
	}
	delete(n.byPod, key)
	m := n.byNode[have.node]
	m.Delete(key)
	if m.Len() == 0 {
		delete(n.byNode, have.node)
	}
}

func (n *nominations) set(pod *framework.PodInfo, node string) {
	n.remove(pod.Pod)
	n.byPod[pod.Key] = nomination{pod, node}
	m := n.byNode[node]
	if m == nil {
		m = &btree.Map[kubeapi.Key, *framework.PodInfo]{}
		n.byNode[node] = m
	}
	m.Set(pod.Key, pod)
}
