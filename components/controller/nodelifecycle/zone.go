package nodelifecycle

import corev1 "k8s.io/api/core/v1"

// ZoneState is how much of a zone is lost, which decides how fast its nodes may be emptied.
type ZoneState string

const (
	// initial is a zone nobody has judged yet.
	initial ZoneState = "Initial"
	// Normal: most nodes are ready.
	Normal ZoneState = "Normal"
	// PartialDisruption: more than two nodes and at least UnhealthyZoneThreshold of them are not ready.
	PartialDisruption ZoneState = "PartialDisruption"
	// FullDisruption: no node is ready.
	FullDisruption ZoneState = "FullDisruption"
)

// Limits of eviction (k/k cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go), in nodes a second.
const (
	EvictionRate          = 0.1
	SecondaryEvictionRate = 0.01
	// LargeZone is the number of nodes above which a partly disrupted zone is still emptied, slowly.
	LargeZone              = 50
	UnhealthyZoneThreshold = 0.55
)

// excludeLabel on a node takes it out of the arithmetic of zones.
const excludeLabel = "node.kubernetes.io/exclude-disruption"

// zoneCount counts the nodes of a zone that are not excluded.
type zoneCount struct{ ready, notReady int }

func (z *zoneCount) add(ready corev1.ConditionStatus) {
	if ready == corev1.ConditionTrue {
		z.ready++
	} else {
		z.notReady++
	}
}

func (z zoneCount) state() ZoneState {
	switch {
	case z.ready == 0 && z.notReady > 0:
		return FullDisruption
	case z.notReady > 2 && float32(z.notReady)/float32(z.notReady+z.ready) >= UnhealthyZoneThreshold:
		return PartialDisruption
	default:
		return Normal
	}
}

// rate is how many nodes a second may be tainted in a zone of that size and state, other zones living.
func (z zoneCount) rate(s ZoneState) float64 {
	if s != PartialDisruption {
		return EvictionRate
	}
	if z.ready+z.notReady > LargeZone {
		return SecondaryEvictionRate
	}
	return 0
}

// transition is what follows from a new count of all zones.
type transition struct {
	// after is the new state of every zone.
	after map[string]ZoneState
	// rates are limits to set, by zone.
	rates map[string]float64
	// untaintAll: every zone is lost; take the NoExecute taints off all nodes.
	untaintAll bool
	// restartClocks: the first node is back after all were lost; everybody gets a fresh grace period.
	restartClocks bool
}

// disruption compares the zones' states before with a new count. With every zone lost the likeliest explanation is that the masters lost the network: no node is
// blamed then.
func disruption(before map[string]ZoneState, counts map[string]zoneCount) transition {
	t := transition{after: map[string]ZoneState{}, rates: map[string]float64{}}
	allAre, allWere := true, true
	for zone, c := range counts {
		t.after[zone] = c.state()
		if t.after[zone] != FullDisruption {
			allAre = false
		}
		if before[zone] != FullDisruption {
			allWere = false
		}
	}
	switch {
	case len(counts) == 0 || (allAre && allWere):
	case allAre:
		t.untaintAll = true
		for zone := range counts {
			t.rates[zone] = 0
		}
	default:
		t.restartClocks = allWere
		for zone, c := range counts {
			if allWere || before[zone] != t.after[zone] {
				t.rates[zone] = c.rate(t.after[zone])
			}
		}
	}
	return t
}
