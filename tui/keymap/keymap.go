// Package keymap is the one table of keys: where a key works, what it means, how help and footer name it, and the sentence for when it cannot act.
//
// Help, footer and the test for clashes read the same table. Small letters look and move (h j k l as in vi), capital letters act on the cluster, and a key means
// the same in every view; what only one view can do is in that view's rows. Users may give keys other places (Remap).
//
// Imports of ours: engine/fault, engine/kinds, engine/world, tui/grid, tui/intent, tui/scene, tui/search, tui/target, tui/view. Goroutines: the table is immutable. Time: none.
package keymap

import (
	"slices"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// Scope is where a key works. The first scope that has the key takes it: an overlay, then the view or page in front, then everywhere.
type Scope string

// The scopes: one for each view and page, by its ID, and these.
const (
	Everywhere Scope = "everywhere"
	Overlay    Scope = "overlay"
)

// Binding is one row of the table.
type Binding struct {
	Scope Scope
	// Keys as the terminal library names them: "k", "ctrl+c", "shift+tab".
	Keys []string
	// Label is how help and footer write the keys.
	Label string
	// Help is the key in the catalogue of what it does, in a sentence; Short in a word for the footer ("": not in the footer).
	Help, Short string
	// ShortNow replaces Short where the word depends on what is selected.
	ShortNow func(view.Frame) string
	Do       intent.Intent
	// Unless gives the catalogue key of why it cannot act now; "" when it can. nil: it always can.
	Unless func(view.Frame) string
	// Offer keeps it out of the footer where it would say nothing new. nil: it is offered.
	Offer func(view.Frame) bool
}

// Table lists all keys in the order of help and footer.
func Table() []Binding {
	var all []Binding
	for _, rows := range [][]Binding{mapRows(), raftRows(), queueRows(), storyRows(), objectRows(), detailRows(), chainRows(), whyRows(), decisionRows(), historyRows(),
		overlayRows(), actRows(), lookRows(), moveRows(), timeRows(), screenRows()} {
		all = append(all, rows...)
	}
	return all
}

// Keys by scope, made once from the table.
type Keys struct {
	rows  []Binding
	index map[Scope]map[string]*Binding
}

// New makes the map of a table.
func New(rows []Binding) *Keys {
	m := &Keys{rows: rows, index: map[Scope]map[string]*Binding{}}
	for i := range rows {
		b := &rows[i]
		if m.index[b.Scope] == nil {
			m.index[b.Scope] = map[string]*Binding{}
		}
		for _, k := range b.Keys {
			m.index[b.Scope][k] = b
		}
	}
	return m
}

// Find looks a key up in the scopes, the first first.
func (m *Keys) Find(key string, scopes ...Scope) (*Binding, bool) {
	for _, s := range scopes {
		if b, ok := m.index[s][key]; ok {
			return b, true
		}
	}
	return nil, false
}

// Scopes lists the scopes that have rows, in the order of the table.
func (m *Keys) Scopes() []Scope {
	var out []Scope
	for _, b := range m.rows {
		if !slices.Contains(out, b.Scope) {
			out = append(out, b.Scope)
		}
	}
	return out
}

// All rows of the table.
func (m *Keys) All() []Binding { return m.rows }

// Rows of the table in the scope.
func (m *Keys) Rows(scope Scope) []Binding {
	var out []Binding
	for _, b := range m.rows {
		if b.Scope == scope {
			out = append(out, b)
		}
	}
	return out
}

// Foot lists what the footer shows: the keys of the scopes that do something now. A key that a scope before has taken is not shown twice.
func (m *Keys) Foot(f view.Frame, scopes ...Scope) []Binding {
	var out []Binding
	taken := map[string]bool{}
	for _, s := range scopes {
		for _, b := range m.rows {
			if b.Scope != s || taken[b.Keys[0]] {
				continue
			}
			for _, k := range b.Keys {
				taken[k] = true
			}
			if b.Short == "" || (b.Unless != nil && b.Unless(f) != "") || (b.Offer != nil && !b.Offer(f)) {
				continue
			}
			if b.ShortNow != nil {
				b.Short = b.ShortNow(f)
			}
			out = append(out, b)
		}
	}
	return out
}
