package raftstore

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// inside records what an Insider hears.
type inside struct {
	counter
	logs     []LogChange
	contacts []Contact
	timed    []Timeouts
	empty    int // appends and heartbeats that say nothing new
}

func (r *inside) Message(m Message) {
	r.counter.Message(m)
	if (m.Kind == "append" || m.Kind == "heartbeat") && m.Entries == 0 && !m.Lost {
		r.mu.Lock()
		r.empty++
		r.mu.Unlock()
	}
}

func (r *inside) Logged(c LogChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, c)
}

func (r *inside) Heard(c Contact) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.contacts = append(r.contacts, c)
}

func (r *inside) Timed(t Timeouts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timed = append(r.timed, t)
}

// log is a member's log as the changes add up to it: what each index holds, by its term.
func (r *inside) log(member string) map[uint64]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := map[uint64]uint64{}
	for _, c := range r.logs {
		if c.Member != member {
			continue
		}
		switch c.Kind {
		case LogOpened:
			clear(log)
			for _, e := range c.Entries {
				log[e.Index] = e.Term
			}
		case LogAppended:
			for i := c.From; i <= c.To; i++ {
				log[i] = c.Term
			}
		case LogTruncated:
			for i := c.From; i <= c.To; i++ {
				delete(log, i)
			}
		case LogWiped:
			clear(log)
		}
	}
	return log
}

func TestAnInsiderHearsOfEveryEntryOnceWhatItHoldsAndOfEveryMemberThatHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &inside{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Observer: obs})
		for i := range 20 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		pause(time.Second, nil)
		told, holds := map[[2]uint64]int{}, map[string]int{}
		obs.mu.Lock()
		for _, l := range obs.logs {
			if l.Kind == LogOpened {
				continue
			}
			for _, e := range l.Entries {
				told[[2]uint64{e.Index, e.Term}]++
				for _, w := range e.Writes {
					holds[w.Key]++
				}
			}
		}
		obs.mu.Unlock()
		for e, n := range told {
			if n != 1 {
				t.Errorf("entry %d was described %d times", e[0], n)
			}
		}
		for i := range 20 {
			if n := holds[fmt.Sprint("k", i)]; n != 1 {
				t.Errorf("k%d is in %d entries", i, n)
			}
		}
		for _, m := range names(3) {
			if got, want := fmt.Sprint(obs.log(m)), fmt.Sprint(obs.log(names(3)[0])); got != want {
				t.Errorf("%s has %s, another %s", m, got, want)
			}
		}
		if len(obs.timed) != 1 || obs.timed[0].Heartbeat != heartbeatSlow {
			t.Errorf("timeouts %+v", obs.timed)
		}
		c.SetPace(10)
		if len(obs.timed) != 2 || obs.timed[1].Heartbeat != heartbeatFast {
			t.Errorf("timeouts after a change of pace %+v", obs.timed)
		}
	})
}

func TestAnIdleGroupIsSilentToAnInsider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &inside{}
		openLed(t, Options{Members: names(3), InMemory: true, Observer: obs})
		pause(3*time.Second, nil)
		obs.mu.Lock()
		logs, empty := len(obs.logs), obs.empty
		obs.mu.Unlock()
		pause(30*time.Second, nil)
		obs.mu.Lock()
		defer obs.mu.Unlock()
		if len(obs.logs) != logs || obs.empty != empty || len(obs.contacts) != 0 {
			t.Errorf("%d changes of logs, %d messages, %d contacts in half a minute of nothing", len(obs.logs)-logs, obs.empty-empty, len(obs.contacts))
		}
	})
}

func TestALeaderThatIsCutOffIsMissedAndWhatItHadAloneIsCutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, net := &inside{}, &ruled{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Observer: obs, Network: net})
		mustPut(t, c, "before")
		pause(time.Second, nil)
		old := c.leaderLife().m.name
		net.set(cut(old))
		c.NetworkChanged()
		c.leaderLife().peer.Load().Propose(c.leaderLife().peer.Load().CurrentTerm(), []byte{1}) // nobody else will have it
		pause(5*time.Second, nil)
		obs.mu.Lock()
		missed := slices.ContainsFunc(obs.contacts, func(c Contact) bool { return c.Lost && c.Leader == old && c.Member != old })
		obs.mu.Unlock()
		if !missed {
			t.Errorf("nobody misses %s: %+v", old, obs.contacts)
		}
		net.set(nil)
		c.NetworkChanged()
		pause(5*time.Second, nil)
		obs.mu.Lock()
		cut := slices.ContainsFunc(obs.logs, func(l LogChange) bool { return l.Kind == LogTruncated && l.Member == old && !l.At.IsZero() })
		obs.mu.Unlock()
		if !cut {
			t.Error("nothing was cut back")
		}
		for _, m := range names(3) {
			if got, want := fmt.Sprint(obs.log(m)), fmt.Sprint(obs.log(old)); got != want {
				t.Errorf("%s has %s, %s has %s", m, got, old, want)
			}
		}
	})
}

// A cluster that begins anew has other entries under the same indexes and terms.
func TestAnInsiderHearsWhatTheEntriesOfANewClusterHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &inside{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Observer: obs})
		told := func(key string) bool {
			obs.mu.Lock()
			defer obs.mu.Unlock()
			return slices.ContainsFunc(obs.logs, func(l LogChange) bool {
				return slices.ContainsFunc(l.Entries, func(e LogEntry) bool {
					return slices.ContainsFunc(e.Writes, func(w LogWrite) bool { return w.Key == key })
				})
			})
		}
		for i := range 20 {
			mustPut(t, c, fmt.Sprint("old", i))
		}
		killAll(c)
		for _, name := range names(3) {
			if err := c.WipeMember(name); err != nil {
				t.Fatal(err)
			}
		}
		startAll(t, c)
		awaitWall(t, "a settled cluster", c.Settled)
		for i := range 20 {
			mustPut(t, c, fmt.Sprint("new", i))
			if key := fmt.Sprint("new", i); !told(key) {
				t.Errorf("nobody was told of the entry that writes %s", key)
			}
		}
	})
}

func TestARefusalIsOfTheCommandsThatChangedNothing(t *testing.T) {
	put := &peer.Command{Kind: peer.Txn, Txn: mvcc.Txn{Then: []mvcc.Op{{Key: "/a"}}}}
	read := &peer.Command{Kind: peer.Txn}
	raise := &peer.Command{Kind: peer.Raise}
	done := peer.Outcome{Command: put, Result: mvcc.TxnResult{Succeeded: true, Changed: true}}
	for _, c := range []struct {
		name     string
		outcomes []peer.Outcome
		want     Refusal
	}{
		{"all was done", []peer.Outcome{done}, Refusal{All: 1}},
		{"no space", []peer.Outcome{done, {Command: put, Result: mvcc.TxnResult{Err: mvcc.ErrNoSpace}}}, Refusal{1, 2, "NOSPACE"}},
		{"what it compared with was other", []peer.Outcome{{Command: put}}, Refusal{1, 1, "compare"}},
		{"it was run before", []peer.Outcome{{Command: put, Repeated: true}}, Refusal{1, 1, "unchanged"}},
		{"a command that was turned down", []peer.Outcome{{Command: raise, Err: peer.ErrLate}}, Refusal{1, 1, peer.ErrLate.Error()}},
		{"what writes nothing", []peer.Outcome{{Command: read}, {Command: raise}}, Refusal{All: 2}},
	} {
		if got := refusal(c.outcomes); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
