package mvcc

// Since visits the events of revisions from rev on, oldest first, until visit returns false. They are shared and immutable. It fails with ErrCompacted when some of them are
// gone; a rev in the future has no events yet.
func (v *View) Since(rev int64, visit func(e *Event) bool) error {
	if rev <= v.compacted {
		return ErrCompacted
	}
	if rev > v.revision {
		return nil
	}
	for _, r := range v.since(max(rev-1, v.floor())) {
		for i := range r.events {
			if !visit(&r.events[i]) {
				return nil
			}
		}
	}
	return nil
}
