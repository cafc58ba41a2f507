package mvcc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// model is the state machine as one would explain it: the whole map at every revision.
type model struct {
	states    []map[string]KV // states[rev]
	events    [][]Event
	compacted int64
	leases    map[LeaseID]int64
	alarms    map[Alarm]bool
	answers   map[string]TxnResult
}

func newModel() *model {
	return &model{states: []map[string]KV{{}, {}}, events: [][]Event{nil, nil}, leases: map[LeaseID]int64{}, alarms: map[Alarm]bool{}, answers: map[string]TxnResult{}}
}

func (m *model) revision() int64 { return int64(len(m.states) - 1) }

func (m *model) now() map[string]KV { return m.states[m.revision()] }

func (m *model) full() bool {
	for a := range m.alarms {
		if a.Kind == NoSpace {
			return true
		}
	}
	return false
}

func (m *model) apply(t Txn) TxnResult {
	if r, ok := m.answers[t.ID]; ok && t.ID != "" {
		return r
	}
	r := m.run(t)
	if t.ID != "" {
		m.answers[t.ID] = r
	}
	return r
}

func (m *model) run(t Txn) TxnResult {
	isPut := func(op Op) bool { return !op.Delete }
	if m.full() && (slices.ContainsFunc(t.Then, isPut) || slices.ContainsFunc(t.Else, isPut)) {
		return TxnResult{Revision: m.revision(), Err: ErrNoSpace}
	}
	res := TxnResult{Succeeded: !slices.ContainsFunc(t.If, func(c Compare) bool { return !m.compare(c) })}
	ops, read := t.Then, t.ReadThen
	if !res.Succeeded {
		ops, read = t.Else, t.Read
	}
	for _, op := range ops {
		if _, ok := m.leases[op.Lease]; !op.Delete && op.Lease != 0 && !ok {
			return TxnResult{Revision: m.revision(), Err: ErrLeaseNotFound}
		}
	}
	res.Changed = len(m.change(ops)) > 0
	for _, k := range read {
		if kv, has := m.now()[k]; has {
			res.Read = append(res.Read, kv)
		}
	}
	res.Revision = m.revision()
	return res
}

func (m *model) compare(c Compare) bool {
	kv, exists := m.now()[c.Key]
	have := map[Target]int64{ModRevision: kv.ModRevision, CreateRevision: kv.CreateRevision, Version: kv.Version, LeaseOf: int64(kv.Lease)}[c.Target]
	order := cmp.Compare(have, c.Value)
	if c.Target == Content {
		if !exists {
			return false
		}
		order = bytes.Compare(kv.Value, c.Bytes)
	}
	return map[Relation]bool{Equal: order == 0, NotEqual: order != 0, Greater: order > 0, Less: order < 0}[c.Relation]
}

func (m *model) change(ops []Op) []Event {
	next, rev := maps.Clone(m.now()), m.revision()+1
	var events []Event
	for _, op := range ops {
		keys := []string{op.Key}
		if op.Delete {
			keys = slices.Sorted(maps.Keys(next))
			keys = slices.DeleteFunc(keys, func(k string) bool { return !inRange(k, op.Key, op.End) })
		}
		for _, key := range keys {
			old, had := next[key]
			var prev *KV
			if had {
				prev = &old
			}
			if op.Delete {
				delete(next, key)
				events = append(events, Event{Deleted: true, KV: KV{Key: key, ModRevision: rev}, Prev: prev})
				continue
			}
			kv := KV{Key: key, Value: op.Value, CreateRevision: rev, ModRevision: rev, Version: 1, Lease: op.Lease}
			if had {
				kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
			}
			next[key] = kv
			events = append(events, Event{KV: kv, Prev: prev})
		}
	}
	if len(events) > 0 {
		m.states, m.events = append(m.states, next), append(m.events, events)
	}
	return events
}

func inRange(k, first, end string) bool {
	if end == "" {
		return k == first
	}
	return k >= first && (k < end || end == "\x00")
}

func (m *model) revoke(id LeaseID) ([]Event, error) {
	if _, ok := m.leases[id]; !ok {
		return nil, ErrLeaseNotFound
	}
	delete(m.leases, id)
	var ops []Op
	for _, key := range slices.Sorted(maps.Keys(m.now())) {
		if m.now()[key].Lease == id {
			ops = append(ops, Op{Delete: true, Key: key})
		}
	}
	return m.change(ops), nil
}

func (m *model) leaseInfos() []LeaseInfo {
	var all []LeaseInfo
	for _, id := range slices.Sorted(maps.Keys(m.leases)) {
		l := LeaseInfo{ID: id, TTL: m.leases[id]}
		for _, kv := range m.now() {
			if kv.Lease == id {
				l.Keys++
			}
		}
		all = append(all, l)
	}
	return all
}

// inUse counts each version that is still readable once, and tombstones in history.
func (m *model) inUse() int64 {
	size := int64(0)
	count := func(kv KV) { size += int64(len(kv.Key)+len(kv.Value)) + versionBytes }
	floor := max(m.compacted, 1)
	for _, kv := range m.states[floor] {
		count(kv)
	}
	for _, events := range m.events[floor+1:] {
		for _, e := range events {
			count(e.KV)
		}
	}
	return size
}

func (m *model) bump(rev int64) {
	now := m.now()
	for m.revision() < rev {
		m.states, m.events = append(m.states, now), append(m.events, nil)
	}
	m.compacted = m.revision()
	clear(m.alarms)
	clear(m.answers)
}

func (m *model) rangeAt(r Range) (RangeResult, error) {
	at := r.Revision
	if at == 0 {
		at = m.revision()
	}
	res := RangeResult{Revision: m.revision()}
	if at > m.revision() {
		return res, ErrFutureRev
	}
	if at < m.compacted {
		return res, ErrCompacted
	}
	for _, k := range slices.Sorted(maps.Keys(m.states[at])) {
		if !inRange(k, r.Key, r.End) {
			continue
		}
		res.Count++
		if r.CountOnly {
			continue
		}
		if r.Limit > 0 && len(res.KVs) >= r.Limit {
			res.More = true
			continue
		}
		kv := m.states[at][k]
		if r.KeysOnly {
			kv.Value = nil
		}
		res.KVs = append(res.KVs, kv)
	}
	return res, nil
}

func (m *model) eventsWithin(first, end string, rev int64) ([]Event, error) {
	if rev <= m.compacted {
		return nil, ErrCompacted
	}
	var out []Event
	for r := rev; r <= m.revision(); r++ {
		for _, e := range m.events[r] {
			if inRange(e.KV.Key, first, end) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func randomKey(r *rand.Rand) string { return fmt.Sprintf("/%c/%d", 'a'+rune(r.IntN(3)), r.IntN(6)) }

func randomOps(r *rand.Rand) []Op {
	var ops []Op
	for range r.IntN(4) {
		op := Op{Key: randomKey(r)}
		switch r.IntN(8) {
		case 0, 1:
			op.Delete = true
		case 2:
			op.Delete = true
			op.End = []string{PrefixEnd(op.Key[:3]), randomKey(r), "\x00"}[r.IntN(3)]
		case 3:
			op.Lease = LeaseID(1 + r.IntN(5))
		}
		if !op.Delete && r.IntN(8) > 0 {
			op.Value = fmt.Append(nil, "v", r.IntN(20))
		}
		ops = append(ops, op)
	}
	return ops
}

func randomCompare(r *rand.Rand, revision int64) Compare {
	c := Compare{Key: randomKey(r), Target: Target(r.IntN(5)), Relation: Relation(r.IntN(4))}
	switch c.Target {
	case Content:
		c.Bytes = fmt.Append(nil, "v", r.IntN(20))
	case ModRevision, CreateRevision:
		c.Value = r.Int64N(revision + 2)
	default:
		c.Value = r.Int64N(3)
	}
	return c
}

// randomTxn gives transactions that Validate accepts.
func randomTxn(r *rand.Rand, revision int64) Txn {
	for {
		t := Txn{Then: randomOps(r), Else: randomOps(r), Tag: r.Uint64()}
		for range r.IntN(3) {
			t.If = append(t.If, randomCompare(r, revision))
		}
		if r.IntN(2) == 0 {
			t.Read, t.ReadThen = []string{randomKey(r), randomKey(r)}, []string{randomKey(r)}
		}
		if r.IntN(3) == 0 {
			t.ID = fmt.Sprint("id", r.IntN(40))
		}
		if Validate(t) == nil {
			return t
		}
	}
}

// pair is the state machine and the model of it, driven together.
type pair struct {
	t     *testing.T
	r     *rand.Rand
	s     *Store
	m     *model
	where string
}

func (p *pair) want(ok bool, format string, args ...any) {
	p.t.Helper()
	want(p.t, ok, "%s: "+format, append([]any{p.where}, args...)...)
}

func (p *pair) step() {
	switch p.r.IntN(24) {
	case 0, 1:
		p.compact()
	case 2, 3:
		restored, err := DecodeSnapshot(p.s.Encode())
		p.want(err == nil, "%v", err)
		p.want(restored.Size() == p.s.Size() && restored.Hash() == p.s.Hash() && restored.Digest() == p.s.Digest(), "restored state differs")
		p.s = restored
	case 4, 5:
		id, ttl := LeaseID(1+p.r.IntN(5)), 1+p.r.Int64N(100)
		err := p.s.Grant(id, ttl)
		p.want(errors.Is(err, ErrNoSpace) == p.m.full() && (err == nil) != p.m.full(), "grant: %v", err)
		if _, exists := p.m.leases[id]; err == nil && !exists {
			p.m.leases[id] = ttl
		}
	case 6, 7:
		id := LeaseID(1 + p.r.IntN(5))
		events, err := p.s.Revoke(id)
		wanted, wantedErr := p.m.revoke(id)
		p.want(err == wantedErr && reflect.DeepEqual(events, wanted), "revoke %d: %+v %v, want %+v %v", id, events, err, wanted, wantedErr)
	case 8:
		a := Alarm{[]string{NoSpace, Corrupt}[p.r.IntN(2)], fmt.Sprint("m", p.r.IntN(2))}
		p.want(p.s.Raise(a) != p.m.alarms[a], "raise %v", a)
		p.m.alarms[a] = true
	case 9, 10:
		p.want(len(p.s.Disarm()) == len(p.m.alarms), "disarm")
		clear(p.m.alarms)
	case 11:
		if p.r.IntN(4) == 0 {
			rev := p.s.Revision() + p.r.Int64N(30) - 5
			p.s.Bump(rev)
			p.m.bump(rev)
		}
	default:
		p.apply(randomTxn(p.r, p.m.revision()))
	}
}

func (p *pair) compact() {
	rev := p.m.compacted + p.r.Int64N(p.m.revision()-p.m.compacted+2)
	err := p.s.Compact(rev)
	switch {
	case rev <= p.m.compacted:
		p.want(errors.Is(err, ErrCompacted), "compact %d: %v", rev, err)
	case rev > p.m.revision():
		p.want(errors.Is(err, ErrFutureRev), "compact %d: %v", rev, err)
	default:
		p.want(err == nil, "compact %d: %v", rev, err)
		p.m.compacted = rev
	}
}

func (p *pair) apply(t Txn) {
	before := p.m.revision()
	got, events := p.s.Apply(t)
	wanted := p.m.apply(t)
	p.want(reflect.DeepEqual(got, wanted), "%+v: got %+v, want %+v", t, got, wanted)
	var wantedEvents []Event
	if p.m.revision() > before {
		wantedEvents = p.m.events[p.m.revision()]
	}
	p.want(reflect.DeepEqual(events, wantedEvents), "events of %+v: %+v, want %+v", t, events, wantedEvents)
}

func (p *pair) compareReads() {
	r, s, m := p.r, p.s, p.m
	req := Range{Key: randomKey(r), Revision: r.Int64N(m.revision() + 2), Limit: r.IntN(4), KeysOnly: r.IntN(4) == 0, CountOnly: r.IntN(6) == 0}
	switch r.IntN(4) {
	case 0:
		req.Key, req.End = "/", PrefixEnd("/")
	case 1:
		req.End = PrefixEnd("/b")
	case 2:
		req.End = "\x00"
	}
	got, gotErr := s.Range(req)
	wanted, wantedErr := m.rangeAt(req)
	p.want(errors.Is(gotErr, wantedErr) && reflect.DeepEqual(got, wanted), "range %+v: got %+v %v, want %+v %v", req, got, gotErr, wanted, wantedErr)

	key, rev := randomKey(r), 1+r.Int64N(m.revision()+1)
	for _, end := range []string{"", PrefixEnd(key[:3]), "\x00", PrefixEnd(key)} {
		ev, evErr := s.EventsWithin(key, end, rev)
		wantedEv, wantedErr := m.eventsWithin(key, end, rev)
		p.want(errors.Is(evErr, wantedErr) && reflect.DeepEqual(ev, wantedEv), "events of [%s, %q) since %d: %+v, want %+v; %v %v", key, end, rev, ev, wantedEv, evErr, wantedErr)
	}
	ev, _ := s.EventsSince("/b", rev)
	wantedEv, _ := m.eventsWithin("/b", PrefixEnd("/b"), rev)
	p.want(reflect.DeepEqual(ev, wantedEv), "events of prefix /b since %d", rev)

	p.want(reflect.DeepEqual(s.Leases(), m.leaseInfos()), "leases %+v, want %+v", s.Leases(), m.leaseInfos())
	for _, l := range m.leaseInfos() {
		one, ok := s.Lease(l.ID)
		p.want(ok && one == l, "lease %d: %+v", l.ID, one)
	}
	p.want(s.InUse() == m.inUse() && s.DBSize() >= s.InUse(), "in use %d of %d, want %d", s.InUse(), s.DBSize(), m.inUse())
	p.want(len(s.Alarms()) == len(m.alarms) && s.Len() == len(m.now()) && s.Revision() == m.revision() && s.CompactedRevision() == m.compacted, "numbers")
}

func TestStateMachineAgreesWithTheNaiveModelOnManySeeds(t *testing.T) {
	for seed := range uint64(250) {
		p := &pair{t: t, r: rand.New(rand.NewPCG(seed, 1)), s: New(), m: newModel()}
		var frozen *View
		var frozenBytes []byte
		for step := range 150 {
			p.where = fmt.Sprintf("seed %d step %d", seed, step)
			if p.r.IntN(30) == 0 {
				frozen = p.s.Snapshot()
				frozenBytes = frozen.Encode()
			}
			p.step()
			p.compareReads()
		}
		if frozen != nil {
			p.want(bytes.Equal(frozen.Encode(), frozenBytes), "a frozen view changed")
		}
	}
}

// TestEventsOfManyKeysAndOfFewAreTheSame has enough changes that a narrow interval follows chains and a wide one looks through history.
func TestEventsOfManyKeysAndOfFewAreTheSame(t *testing.T) {
	for seed := range uint64(5) {
		p := &pair{t: t, r: rand.New(rand.NewPCG(seed, 2)), s: New(), m: newModel(), where: fmt.Sprint("seed ", seed)}
		for i := range 400 {
			op := Op{Key: fmt.Sprintf("/k/%02d", p.r.IntN(40)), Value: fmt.Append(nil, i), Delete: p.r.IntN(4) == 0}
			if op.Delete {
				op.Value = nil
				if p.r.IntN(4) == 0 {
					op.End = op.Key + "~"
				}
			}
			p.apply(Txn{Then: []Op{op}})
		}
		for range 200 {
			p.compareReads()
			first := fmt.Sprintf("/k/%02d", p.r.IntN(40))
			for _, end := range []string{"", first + "~", fmt.Sprintf("/k/%02d", p.r.IntN(40)), "\x00"} {
				rev := 2 + p.r.Int64N(p.m.revision())
				got, err := p.s.EventsWithin(first, end, rev)
				wanted, _ := p.m.eventsWithin(first, end, rev)
				p.want(err == nil && reflect.DeepEqual(got, wanted), "[%s, %q) since %d: %d events, want %d", first, end, rev, len(got), len(wanted))
			}
		}
	}
}

func TestPrefixEndHoldsAllKeysOfThePrefixAndNoOthers(t *testing.T) {
	for _, prefix := range []string{"", "a", "a/", "a\xff", "\xff", "\xff\xff", "\x00"} {
		within := spanOf(prefix, PrefixEnd(prefix))
		for _, key := range []string{"\x00", "a", "a/", "a/b", "a0", "a\xff", "a\xff\xff", "b", "\xff", "\xff\xff", "\xff\xff\xff", "\x01"} {
			want(t, within.holds(key) == strings.HasPrefix(key, prefix), "prefix %q, key %q", prefix, key)
		}
	}
}
