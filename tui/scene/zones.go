package scene

import "slices"

// Zone is a group of workers with one value of the label topology.kubernetes.io/zone.
type Zone struct {
	Name string // empty: those without the label
	// Workers are places in Scene.Workers, in the order of names.
	Workers []int
}

// Zones of the workers by label, by name; nil where no worker has the label.
func (s *Scene) Zones() []Zone { return s.zones }

// Everyone lists the places of all Workers, in order.
func (s *Scene) Everyone() []int { return s.everyone }

// makeZones groups the workers again when one has come, gone or changed its label.
func (k *Maker) makeZones() []Zone {
	if !k.rezone {
		return k.zones
	}
	k.rezone, k.zones = false, nil
	k.everyone = make([]int, len(k.workers))
	for i := range k.everyone {
		k.everyone[i] = i
	}
	at := map[string]int{}
	for i := range k.workers {
		name := k.workers[i].Zone
		z, ok := at[name]
		if !ok {
			z = len(k.zones)
			at[name] = z
			k.zones = append(k.zones, Zone{Name: name})
		}
		k.zones[z].Workers = append(k.zones[z].Workers, i)
	}
	if len(k.zones) == 1 && k.zones[0].Name == "" {
		k.zones = nil
	}
	slices.SortFunc(k.zones, func(a, b Zone) int { return NaturalCompare(a.Name, b.Name) })
	return k.zones
}
