package engine

import "example.com/kubeviz/raftstore"

// storeChanged brings a change of the store that is neither a revision nor a role to the journal. Loop.
func (d *storeDoor) storeChanged(raftstore.Change) {}
