package nodelifecycle

import (
	"maps"
	"testing"
)

// The arithmetic of fidelity NODE-8: masters count.
func TestZoneStateByNodesLost(t *testing.T) {
	for name, c := range map[string]struct {
		ready, lost int
		want        ZoneState
		rate        float64
	}{
		"3 masters and 3 workers, all workers dead: half is below 55 %":            {3, 3, Normal, 0.1},
		"3 masters and 4 workers, all workers dead: 57 %":                          {3, 4, PartialDisruption, 0},
		"1 master and 3 workers, all workers dead: 75 %":                           {1, 3, PartialDisruption, 0},
		"3 masters and 2 workers, both workers dead: not more than two nodes":      {3, 2, Normal, 0.1},
		"1 master and 2 workers, both dead: 67 %, but not more than two nodes":     {1, 2, Normal, 0.1},
		"9 ready and 11 lost: exactly 55 %":                                        {9, 11, PartialDisruption, 0},
		"50 nodes, 30 lost: a small zone stops":                                    {20, 30, PartialDisruption, 0},
		"51 nodes, 30 lost: a large zone goes on slowly":                           {21, 30, PartialDisruption, 0.01},
		"nobody ready: full disruption, at the normal rate while other zones live": {0, 3, FullDisruption, 0.1},
		"a single node, lost": {0, 1, FullDisruption, 0.1},
		"everybody ready":     {6, 0, Normal, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			z := zoneCount{ready: c.ready, notReady: c.lost}
			if s := z.state(); s != c.want || z.rate(s) != c.rate {
				t.Errorf("state %s at %g nodes a second, want %s at %g", s, z.rate(s), c.want, c.rate)
			}
		})
	}
}

func TestTransitionsOfZones(t *testing.T) {
	type states = map[string]ZoneState
	type counts = map[string]zoneCount
	for name, c := range map[string]struct {
		before  states
		counts  counts
		rates   map[string]float64
		untaint bool
		restart bool
	}{
		"a first look sets the limit of each zone":           {states{"a": initial}, counts{"a": {3, 0}}, map[string]float64{"a": 0.1}, false, false},
		"nothing new sets nothing":                           {states{"a": Normal}, counts{"a": {3, 0}}, map[string]float64{}, false, false},
		"a small zone partly disrupted stops":                {states{"a": Normal}, counts{"a": {1, 3}}, map[string]float64{"a": 0}, false, false},
		"one zone of two lost is emptied at the normal rate": {states{"a": Normal, "b": Normal}, counts{"a": {0, 3}, "b": {3, 0}}, map[string]float64{"a": 0.1}, false, false},
		"all zones lost: taints off, everything stops":       {states{"a": FullDisruption, "b": Normal}, counts{"a": {0, 3}, "b": {0, 3}}, map[string]float64{"a": 0, "b": 0}, true, false},
		"all still lost: nothing more":                       {states{"a": FullDisruption}, counts{"a": {0, 3}}, map[string]float64{}, false, false},
		"the first node back: fresh clocks and limits": {states{"a": FullDisruption, "b": FullDisruption}, counts{"a": {1, 2}, "b": {0, 3}},
			map[string]float64{"a": 0.1, "b": 0.1}, false, true},
		"a new leader that meets only lost nodes takes their taints off": {states{"a": initial}, counts{"a": {0, 3}}, map[string]float64{"a": 0}, true, false},
		"no nodes at all": {states{}, counts{}, map[string]float64{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := disruption(c.before, c.counts)
			if !maps.Equal(got.rates, c.rates) || got.untaintAll != c.untaint || got.restartClocks != c.restart {
				t.Errorf("got rates %v, untaint %v, restart %v", got.rates, got.untaintAll, got.restartClocks)
			}
		})
	}
}
