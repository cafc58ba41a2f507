package swarm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// client is one that calls, and what it remembers of its answers.
type client struct {
	run    *run
	calls  *history.Client
	rand   *rand.Rand
	n      int
	member string
	// seen are revisions it has been told, kv what it has last seen of each key, leases those it holds.
	seen   []int64
	kvs    map[string]mvcc.KV
	leases []mvcc.LeaseID
	asked  int
}

// load calls until the storm is over.
func (c *client) load(ctx context.Context) {
	for ctx.Err() == nil {
		c.call()
		sleep(ctx, time.Duration(c.rand.Int64N(int64(c.run.plan.ThinkMax))+1))
	}
}

func (c *client) key() string {
	return fmt.Sprintf("g%d/%d", c.rand.IntN(c.run.plan.Groups), c.rand.IntN(c.run.plan.Keys))
}

// sibling is another key of the same group.
func (c *client) sibling(key string) string {
	for {
		other := fmt.Sprintf("%s%d", key[:len(key)-1], c.rand.IntN(c.run.plan.Keys))
		if other != key || c.run.plan.Keys == 1 {
			return other
		}
	}
}

func (c *client) chance(p float64) bool { return c.rand.Float64() < p }

func (c *client) call() {
	p := &c.run.plan
	if c.member == "" || c.chance(0.1) {
		all := c.run.cluster.Members()
		c.member = all[c.rand.IntN(len(all))]
	}
	switch {
	case c.chance(p.Compactions) && len(c.seen) > 0:
		c.calls.Compact(c.member, c.seen[c.rand.IntN(len(c.seen))])
	case c.chance(p.Leases):
		c.lease()
	case c.chance(0.35):
		c.read()
	default:
		c.write()
	}
}

func (c *client) lease() {
	n := len(c.leases)
	switch k := c.rand.IntN(4); {
	case n == 0 || n < 3 && k == 0:
		if o := c.calls.Grant(c.member, time.Duration(1+c.rand.IntN(4))*time.Second); o.Done() {
			c.leases = append(c.leases, o.Lease)
		}
	case k == 1:
		i := c.rand.IntN(n)
		c.calls.Revoke(c.member, c.leases[i])
		c.leases = append(c.leases[:i], c.leases[i+1:]...)
	default:
		i := c.rand.IntN(n)
		if o := c.calls.KeepAlive(c.member, c.leases[i]); o.Err == raftstore.ErrLeaseNotFound.Error() {
			c.leases = append(c.leases[:i], c.leases[i+1:]...)
		}
	}
}

// txn draws a transaction on one group of keys.
func (c *client) txn() mvcc.Txn {
	key := c.key()
	op := c.op(key)
	t := mvcc.Txn{Then: []mvcc.Op{op}, Read: []string{key}, ReadThen: []string{key}}
	if c.chance(0.25) && c.run.plan.Keys > 1 && op.End == "" {
		other := c.sibling(key)
		t.Then = append(t.Then, c.op1(other))
		t.ReadThen = append(t.ReadThen, other)
	}
	if c.chance(0.5) {
		t.If = append(t.If, c.compare(key))
		if c.chance(0.3) {
			t.If = append(t.If, c.compare(c.sibling(key)))
		}
		if c.chance(0.3) {
			t.Else = []mvcc.Op{c.op1(c.sibling(key))}
		}
	}
	return t
}

// op is a put or a deletion, also of several keys.
func (c *client) op(key string) mvcc.Op {
	if c.chance(0.04) {
		group := key[:len(key)-1]
		return mvcc.Op{Delete: true, Key: group, End: mvcc.PrefixEnd(group)}
	}
	return c.op1(key)
}

func (c *client) op1(key string) mvcc.Op {
	if c.chance(0.15) {
		return mvcc.Op{Delete: true, Key: key}
	}
	op := mvcc.Op{Key: key, Value: make([]byte, c.rand.IntN(40))}
	for i := range op.Value {
		op.Value[i] = 'a' + byte(i%26)
	}
	if len(c.leases) > 0 && c.chance(0.3) {
		op.Lease = c.leases[c.rand.IntN(len(c.leases))]
	}
	return op
}

// compare draws a compare that often holds.
func (c *client) compare(key string) mvcc.Compare {
	have := c.kvs[key]
	x := mvcc.Compare{Key: key}
	switch x.Target = mvcc.Target(c.rand.IntN(int(mvcc.Content) + 1)); x.Target {
	case mvcc.ModRevision:
		x.Value = have.ModRevision
	case mvcc.CreateRevision:
		x.Value = have.CreateRevision
	case mvcc.Version:
		x.Value = have.Version
	case mvcc.LeaseOf:
		x.Value = int64(have.Lease)
	case mvcc.Content:
		x.Bytes = have.Value
	}
	if c.chance(0.3) {
		x.Relation = mvcc.Relation(c.rand.IntN(int(mvcc.Less) + 1))
	}
	return x
}

// write makes a transaction, and when nobody knows how it ended, sometimes the same again under its request id.
func (c *client) write() {
	t := c.txn()
	again := c.chance(c.run.plan.Retries)
	if again {
		c.asked++
		t.ID = fmt.Sprintf("c%d-%d", c.n, c.asked)
	}
	for try := 0; ; try++ {
		o := c.calls.Txn(c.member, t)
		c.learn(o)
		if !again || !o.Open() || try == 2 {
			return
		}
		all := c.run.cluster.Members()
		c.member = all[c.rand.IntN(len(all))]
	}
}

func (c *client) read() {
	key := c.key()
	q := mvcc.Range{Key: key}
	switch c.rand.IntN(4) {
	case 0:
		q.Key, q.End = "g", "h"
	case 1:
		q.Key = key[:len(key)-1]
		q.End = mvcc.PrefixEnd(q.Key)
	}
	if q.End != "" && c.chance(0.3) {
		q.Limit = 1 + c.rand.IntN(4)
	}
	q.KeysOnly, q.CountOnly = c.chance(0.1), c.chance(0.1)
	if len(c.seen) > 0 && c.chance(0.25) {
		q.Revision = c.seen[c.rand.IntN(len(c.seen))]
	}
	c.learn(c.calls.Range(c.member, q, c.chance(0.4)))
}

// learn remembers what an answer tells.
func (c *client) learn(o *history.Op) {
	var kvs []mvcc.KV
	switch {
	case o.Answer != nil:
		c.seen, kvs = append(c.seen, o.Answer.Revision), o.Answer.Read
	case o.Read != nil && !o.Range.KeysOnly:
		c.seen, kvs = append(c.seen, o.Read.Revision), o.Read.KVs
	}
	for _, x := range kvs {
		c.kvs[x.Key] = x
	}
	if n := len(c.seen); n > 200 {
		c.seen = c.seen[n-100:]
	}
	if o.Err == raftstore.ErrStopped.Error() {
		c.member = ""
	}
}

// watcher keeps a watch open all the time, going on where the last one ended.
func (c *client) watcher(ctx context.Context) {
	q := raftstore.WatchRequest{Prefix: "g", Progress: c.chance(0.7), NoPrev: c.chance(0.2), Fragment: c.chance(0.3)}
	if c.chance(0.4) {
		q.Prefix = fmt.Sprintf("g%d/", c.rand.IntN(c.run.plan.Groups))
		if c.chance(0.4) {
			q.Prefix, q.Exact = c.key(), true
		}
	}
	if c.chance(0.2) {
		q.NoDelete = true
	} else if c.chance(0.1) {
		q.NoPut = true
	}
	if c.chance(0.5) {
		q.From = 2
	}
	for ctx.Err() == nil {
		all := c.run.cluster.Members()
		w, ended, cancel := c.calls.Watch(all[c.rand.IntN(len(all))], q)
		stay := time.NewTimer(time.Duration(1+c.rand.IntN(8)) * time.Second)
		select {
		case <-ended:
			stay.Stop()
		case <-stay.C:
			if c.chance(0.7) {
				// A client that goes elsewhere, and goes on there from where it was.
				cancel()
			} else {
				select {
				case <-ended:
				case <-ctx.Done():
				}
			}
		case <-ctx.Done():
			stay.Stop()
			return
		}
		reached, end := c.calls.Reached(w)
		switch {
		case ctx.Err() != nil:
			return
		case end == raftstore.ErrCompacted.Error():
			// List, and watch from there.
			if o := c.calls.Range(c.run.any(c.rand), mvcc.Range{Key: "g", End: "h"}, false); o.Read != nil {
				q.From = o.Read.Revision + 1
			}
		case reached > 0:
			q.From = reached + 1
		}
		sleep(ctx, time.Duration(1+c.rand.IntN(50))*time.Millisecond)
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
