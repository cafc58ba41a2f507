package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// NodeResourcesFit refuses nodes that have too little left, and prefers those with the most left (LeastAllocated over cpu and memory).
type NodeResourcesFit struct{}

func (NodeResourcesFit) Name() string { return NameNodeResourcesFit }

func (NodeResourcesFit) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	return framework.PreFilterResult{Filter: &fitFilter{pod: pod}}
}

// Bits of what a node lacks.
const (
	lackPods = 1 << iota
	lackCPU
	lackMemory
	lackEphemeral
	lackForGood // more is asked for than the node has altogether
	lackKinds   = iota
)

type fitFilter struct {
	pod *framework.PodInfo
	// answers by what is lacking: on a full cluster thousands of nodes give the same one.
	answers [1 << lackKinds]*framework.Status
}

func (f *fitFilter) Filter(n *framework.NodeInfo) *framework.Status {
	lack := 0
	if int64(len(n.Pods))+1 > n.AllowedPods {
		lack |= lackPods
	}
	r := &f.pod.Requests
	check := func(bit int, want, used, have int64) {
		if want > 0 && want > have-used {
			lack |= bit
			if want > have {
				lack |= lackForGood
			}
		}
	}
	check(lackCPU, r.MilliCPU, n.Requested.MilliCPU, n.Allocatable.MilliCPU)
	check(lackMemory, r.Memory, n.Requested.Memory, n.Allocatable.Memory)
	check(lackEphemeral, r.EphemeralStorage, n.Requested.EphemeralStorage, n.Allocatable.EphemeralStorage)
	var scalars []string
	for _, s := range r.Scalars {
		have, used := n.Allocatable.Of(s.Name), n.Requested.Of(s.Name)
		if s.Value > 0 && s.Value > have-used {
			scalars = append(scalars, "Insufficient "+string(s.Name))
			if s.Value > have {
				lack |= lackForGood
			}
		}
	}
	switch {
	case scalars != nil:
		return f.status(lack, scalars)
	case lack == 0:
		return nil
	}
	if f.answers[lack] == nil {
		f.answers[lack] = f.status(lack, nil)
	}
	return f.answers[lack]
}

func (f *fitFilter) status(lack int, scalars []string) *framework.Status {
	var reasons []string
	for i, text := range [...]string{"Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"} {
		if lack&(1<<i) != 0 {
			reasons = append(reasons, text)
		}
	}
	reasons = append(reasons, scalars...)
	if lack&lackForGood != 0 {
		return framework.RefuseForGood(NameNodeResourcesFit, reasons...)
	}
	return framework.Refuse(NameNodeResourcesFit, reasons...)
}

// Wakes when a pod leaves or asks for less, and on a node that has more of what the pod wants and would hold it if empty.
func (NodeResourcesFit) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	switch {
	case ch.Kind&(framework.PodGone|framework.PodShrunk) != 0:
		return true
	case ch.Kind&(framework.NodeAdded|framework.NodeAllocatable) != 0:
		now := framework.NewNodeInfo("", 0)
		now.SetNode(ch.NewNode)
		if (&fitFilter{pod: pod}).Filter(now) != nil {
			return false
		}
		return ch.OldNode == nil || grew(ch.OldNode, now, &pod.Requests)
	}
	return false
}

// grew reports that a node has more than before of something the pod asks for.
func grew(old *corev1.Node, now *framework.NodeInfo, r *framework.Resource) bool {
	was := framework.NewNodeInfo("", 0)
	was.SetNode(old)
	if now.AllowedPods > was.AllowedPods || r.MilliCPU > 0 && now.Allocatable.MilliCPU > was.Allocatable.MilliCPU ||
		r.Memory > 0 && now.Allocatable.Memory > was.Allocatable.Memory ||
		r.EphemeralStorage > 0 && now.Allocatable.EphemeralStorage > was.Allocatable.EphemeralStorage {
		return true
	}
	for _, s := range r.Scalars {
		if s.Value > 0 && now.Allocatable.Of(s.Name) > was.Allocatable.Of(s.Name) {
			return true
		}
	}
	return false
}

func (NodeResourcesFit) PreScore(pod *framework.PodInfo, _ *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	return leastAllocated{pod.ScoringMilliCPU, pod.ScoringMemory}
}

type leastAllocated struct{ milliCPU, memory int64 }

// Score averages the free percentages of cpu and memory after the pod came; a resource the node does not have is left out.
func (s leastAllocated) Score(n *framework.NodeInfo) int64 {
	var sum, count int64
	if have := n.Allocatable.MilliCPU; have > 0 {
		sum += freePercent(n.ScoringMilliCPU+s.milliCPU, have)
		count++
	}
	if have := n.Allocatable.Memory; have > 0 {
		sum += freePercent(n.ScoringMemory+s.memory, have)
		count++
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

func freePercent(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * framework.MaxScore / capacity
}

func (leastAllocated) Normalize([]int64) {}

// BalancedAllocation prefers nodes where cpu and memory would be used to the same degree.
type BalancedAllocation struct{}

func (BalancedAllocation) Name() string { return NameBalancedAllocation }

// PreScore has no opinion on pods that ask for neither cpu nor memory: they would all go to one node (k/k #129138).
func (BalancedAllocation) PreScore(pod *framework.PodInfo, _ *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	if pod.Requests.MilliCPU == 0 && pod.Requests.Memory == 0 {
		return nil
	}
	return balanced{pod.Requests.MilliCPU, pod.Requests.Memory}
}

type balanced struct{ milliCPU, memory int64 }

// Score is 100 less the standard deviation, in per cent, of the used fractions; of two fractions that is half their distance.
func (s balanced) Score(n *framework.NodeInfo) int64 {
	if n.Allocatable.MilliCPU == 0 || n.Allocatable.Memory == 0 {
		return framework.MaxScore
	}
	cpu := min(1, float64(n.Requested.MilliCPU+s.milliCPU)/float64(n.Allocatable.MilliCPU))
	memory := min(1, float64(n.Requested.Memory+s.memory)/float64(n.Allocatable.Memory))
	deviation := math.Abs((cpu - memory) / 2)
	return int64((1 - deviation) * float64(framework.MaxScore))
}

func (balanced) Normalize([]int64) {}
