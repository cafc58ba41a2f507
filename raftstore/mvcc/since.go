package mvcc

// Since visits the events of an interval of keys (as in Range) in revisions from rev on, oldest first, until visit returns false. It looks through all changes since rev, and takes no memory;
// EventsWithin is better where the interval holds few keys. It fails with ErrCompacted when some of the events are gone; a rev in the future has none yet.
func (v *View) Since(key, end string, rev int64, visit func(e Event) bool) error {
	if rev <= v.compacted {
		return ErrCompacted
	}
	if rev > v.revision {
		return nil
	}
	within := spanOf(key, end)
	for _, c := range v.history.changes[v.history.begin(max(rev-1, v.floor())-v.floor()):] {
		if within.holds(c.after.Key) && !visit(c.event()) {
			return nil
		}
	}
	return nil
}
