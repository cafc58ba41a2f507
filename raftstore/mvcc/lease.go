package mvcc

// LeaseInfo is a lease and how many keys hang on it.
type LeaseInfo struct {
	ID LeaseID
	// TTL in virtual seconds. When it runs out is the leader's business, not the state machine's.
	TTL  int64
	Keys int
}

// Grant makes a lease. One that exists already stays as it is.
func (s *Store) Grant(id LeaseID, ttl int64) {}

// Revoke ends a lease and deletes its keys in one revision. It fails with ErrLeaseNotFound.
func (s *Store) Revoke(id LeaseID) ([]Event, error) { return nil, ErrLeaseNotFound }

// Lease returns one lease; ok false: there is none.
func (v *View) Lease(id LeaseID) (l LeaseInfo, ok bool) { return l, false }

// Leases lists all leases by ID.
func (v *View) Leases() []LeaseInfo { return nil }
