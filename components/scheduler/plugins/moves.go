package plugins

import "strings"

// moves says in a phrase which changes make each plugin look at a pod again that it refused: what its Wakes asks for.
var moves = map[string]string{
	NameSchedulingGates:   "its last scheduling gate is removed",
	NameNodeUnschedulable: "a node is uncordoned or new",
	NameNodeName:          "a node of the name it asks for is new",
	NameTaintToleration:   "a node loses a taint or is new without one",
	NameNodeAffinity:      "a node gets the labels it asks for",
	NameNodePorts:         "a pod with the same host port leaves",
	NameNodeResourcesFit:  "a pod leaves or shrinks, or a node grows or is new",
	NamePodTopologySpread: "a pod or node that its spread counts comes or goes",
	NameInterPodAffinity:  "a pod it wants near comes, or one it shuns leaves",
}

// Moves says what would move a pod that the named plugins refused; empty where none of them is known.
func Moves(refusers []string) string {
	var parts []string
	for _, name := range refusers {
		if m := moves[name]; m != "" {
			parts = append(parts, m)
		}
	}
	return strings.Join(parts, "; ")
}
