package simnet

import "slices"

// watcher is an open call or stream, which hears of changes of the network on its hosts and links.
type watcher interface {
	netChanged()
	// ended reports that it hears nothing any more.
	ended() bool
	// hosts are those it has an end on, or a proxy.
	hosts() []string
}

// roster lists watchers in the order in which they were opened, so that what a change wakes is repeatable. Those that have ended are swept out in bulk.
type roster struct {
	list []watcher
	gone int
}

func (r *roster) add(w watcher) { r.list = append(r.list, w) }

func (r *roster) left() {
	if r.gone++; r.gone > 64 && 2*r.gone > len(r.list) {
		r.list = slices.DeleteFunc(r.list, watcher.ended)
		r.gone = 0
	}
}

func (r *roster) netChanged() {
	for _, w := range slices.Clone(r.list) { // hearing of it may open and end others
		if !w.ended() {
			w.netChanged()
		}
	}
}

func (n *Net) opened(w watcher) {
	n.open.add(w)
	for _, h := range distinct(w.hosts()) {
		r := n.openOn[h]
		if r == nil {
			r = &roster{}
			n.openOn[h] = r
		}
		r.add(w)
	}
}

// ended is called once for a watcher whose ended reports true from now on.
func (n *Net) ended(w watcher) {
	n.open.left()
	for _, h := range distinct(w.hosts()) {
		n.openOn[h].left()
	}
}

func distinct(hosts []string) []string {
	kept := hosts[:0]
	for _, h := range hosts {
		if !slices.Contains(kept, h) {
			kept = append(kept, h)
		}
	}
	return kept
}
