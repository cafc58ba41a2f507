package mvcc

import (
	"slices"

	"example.com/kubeviz/raftstore/internal/planted"
)

// LeaseInfo is a lease and how many keys hang on it.
type LeaseInfo struct {
	ID LeaseID
	// TTL in virtual seconds. When it runs out is the leader's business, not the state machine's.
	TTL  int64
	Keys int
}

// lease is one as the state holds it; which keys hang on it is what those say.
type lease struct {
	ttl  int64
	keys int
}

// Grant makes a lease. One that exists already stays as it is. It fails with ErrNoSpace while that alarm is on, and with ErrLeaseNotFound for the ID 0, which stands for none.
func (s *Store) Grant(id LeaseID, ttl int64) error {
	if s.noSpace() {
		return ErrNoSpace
	}
	if id == 0 {
		return ErrLeaseNotFound
	}
	if _, exists := s.leases.Get(id); !exists {
		s.leases.Set(id, lease{ttl: ttl})
		s.sum += sumLease(id, ttl)
	}
	return nil
}

// Revoke ends a lease and deletes its keys in one revision, in key order. It fails with ErrLeaseNotFound.
func (s *Store) Revoke(id LeaseID) ([]Event, error) {
	l, ok := s.leases.Get(id)
	if !ok {
		return nil, ErrLeaseNotFound
	}
	keys := make([]string, 0, len(s.attached[id]))
	for key := range s.attached[id] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if planted.Is(planted.KeyOutlivesLease) && len(keys) > 0 {
		keys = keys[1:]
	}
	began := len(s.history.changes)
	for _, key := range keys {
		if v, ok := s.find(key); ok {
			s.bury(v, began)
		}
	}
	s.leases.Delete(id)
	delete(s.attached, id)
	s.sum -= sumLease(id, l.ttl)
	return s.commit(began), nil
}

// Lease returns one lease; ok false: there is none.
func (v *View) Lease(id LeaseID) (info LeaseInfo, ok bool) {
	l, ok := v.leases.Get(id)
	if !ok {
		return info, false
	}
	return LeaseInfo{ID: id, TTL: l.ttl, Keys: l.keys}, true
}

// Leases lists all leases by ID.
func (v *View) Leases() []LeaseInfo {
	var all []LeaseInfo
	v.leases.Scan(func(id LeaseID, l lease) bool {
		all = append(all, LeaseInfo{ID: id, TTL: l.ttl, Keys: l.keys})
		return true
	})
	return all
}

// attach hangs a version that becomes present on its lease, which exists.
func (s *Store) attach(v *version) {
	if v.Lease == 0 {
		return
	}
	keys := s.attached[v.Lease]
	if keys == nil {
		keys = make(map[string]struct{})
		s.attached[v.Lease] = keys
	}
	keys[v.Key] = struct{}{}
	s.count(v.Lease, len(keys))
}

// detach takes a version that is no longer present off its lease.
func (s *Store) detach(v *version) {
	if v.Lease == 0 {
		return
	}
	keys := s.attached[v.Lease]
	delete(keys, v.Key)
	s.count(v.Lease, len(keys))
}

func (s *Store) count(id LeaseID, keys int) {
	if l, ok := s.leases.Get(id); ok {
		l.keys = keys
		s.leases.Set(id, l)
	}
}
