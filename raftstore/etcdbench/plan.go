package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// plan says how long to look.
type plan struct {
	rounds   int
	round    time.Duration
	trials   int // of fail-over
	keys     int
	watchers int
}

var (
	full  = plan{rounds: 7, round: 3 * time.Second, trials: 30, keys: 1_000_000, watchers: 5000}
	short = plan{rounds: 3, round: time.Second, trials: 5, keys: 200_000, watchers: 5000}
)

// row is one line of the table. Ratio is ours to theirs, or theirs to ours where less is better, so that more is better throughout.
type row struct {
	what         string
	etcd, ours   float64
	show         func(float64) string
	less         bool // is better
	goal         float64
	goalAbsolute bool // goal is a limit for ours, not a ratio
}

// ratio says how many times better ours is.
func (r row) ratio() float64 {
	if r.less {
		return r.etcd / r.ours
	}
	return r.ours / r.etcd
}

// met tells whether the goal is reached; goals of zero are not.
func (r row) met() bool {
	if r.goalAbsolute {
		return r.ours <= r.goal
	}
	return r.ratio() >= r.goal
}

// throughputGoals by sync and writers; the issue of the store sets them.
var throughputGoals = map[bool]map[int]float64{true: {1: 0.6, 64: 1.8, 1000: 3.8}, false: {1: 3, 1000: 5}}

func (p plan) run(base string, only []string) ([]row, error) {
	var rows []row
	for _, part := range []struct {
		name string
		do   func(base string) ([]row, error)
	}{
		{"unsynced", func(base string) ([]row, error) { return p.writes(base, false) }},
		{"synced", func(base string) ([]row, error) { return p.writes(base, true) }},
		{"read", p.reads},
		{"watch", p.watches},
		{"fail", p.failOvers},
		{"hold", p.holds},
	} {
		if !slices.Contains(only, part.name) {
			continue
		}
		more, err := part.do(base)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// both starts the two contenders, hands them over, and ends them.
func both(base string, sync bool, do func(pair [2]*child) error) (err error) {
	var pair [2]*child
	for i, name := range []string{etcdName, raftstoreName} {
		if pair[i], err = spawn(name, base, sync); err != nil {
			return err
		}
		defer pair[i].end()
	}
	return do(pair)
}

// alternate gives an order to both in turn, so many times, and changes who begins.
func alternate(pair [2]*child, times int, o order) (replies [2][]reply, err error) {
	for n := range times {
		for k := range pair {
			i := (n + k) % 2
			r, err := pair[i].tell(o)
			if err != nil {
				return replies, err
			}
			replies[i] = append(replies[i], r)
		}
	}
	return replies, nil
}

func (p plan) writes(base string, sync bool) (rows []row, err error) {
	return rows, both(base, sync, func(pair [2]*child) error {
		for _, writers := range []int{1, 64, 1000} {
			got, err := alternate(pair, p.rounds, order{Do: "write", Writers: writers, For: p.round})
			if err != nil {
				return err
			}
			rows = append(rows, loadRows(fmt.Sprintf("%s, %d writers", synced(sync), writers), "writes", got, throughputGoals[sync][writers], 1)...)
			progress(rows[len(rows)-4:])
		}
		return nil
	})
}

func synced(sync bool) string {
	if sync {
		return "synced"
	}
	return "unsynced"
}

// loadRows are throughput and latencies of the median rounds.
func loadRows(what, unit string, got [2][]reply, goal, goal99 float64) []row {
	per := func(r reply) float64 { return float64(r.Writes) / r.Elapsed.Seconds() }
	work := func(r reply) float64 { return float64(r.Processor) / float64(r.Writes) }
	p50 := func(r reply) float64 { return float64(r.P50) }
	p99 := func(r reply) float64 { return float64(r.P99) }
	return []row{
		{what: what + ": " + unit + "/s", etcd: median(got[0], per), ours: median(got[1], per), show: count, goal: goal},
		{what: what + ": processor time each", etcd: median(got[0], work), ours: median(got[1], work), show: duration, less: true},
		{what: what + ": p50", etcd: median(got[0], p50), ours: median(got[1], p50), show: duration, less: true},
		{what: what + ": p99", etcd: median(got[0], p99), ours: median(got[1], p99), show: duration, less: true, goal: goal99},
	}
}

func (p plan) reads(base string) (rows []row, err error) {
	return rows, both(base, false, func(pair [2]*child) error {
		for _, readers := range []int{1, 64} {
			got, err := alternate(pair, p.rounds, order{Do: "read", Writers: readers, For: p.round})
			if err != nil {
				return err
			}
			rows = append(rows, loadRows(fmt.Sprintf("linearizable on a follower, %d readers", readers), "reads", got, 0, 0)...)
		}
		progress(rows)
		return nil
	})
}

func (p plan) watches(base string) (rows []row, err error) {
	return rows, both(base, false, func(pair [2]*child) error {
		// Without watches first: the difference is what they cost.
		bare, err := alternate(pair, p.rounds, order{Do: "write", Writers: 64, For: p.round})
		if err != nil {
			return err
		}
		// The watches stay, so there is one round.
		got, err := alternate(pair, 1, order{Do: "watch", Count: p.watchers, For: 2 * p.round})
		if err != nil {
			return err
		}
		per := func(r reply) float64 { return float64(r.Writes) / r.Elapsed.Seconds() }
		delivered := func(r reply) float64 { return float64(r.Delivered) / float64(r.Writes) }
		what := fmt.Sprintf("%d watches of distinct keys, 64 writers: ", p.watchers)
		rows = append(rows,
			row{what: what + "writes/s", etcd: median(got[0], per), ours: median(got[1], per), show: count},
			row{what: what + "part of the speed without", etcd: median(got[0], per) / median(bare[0], per), ours: median(got[1], per) / median(bare[1], per), show: fraction},
			row{what: what + "deliveries a write", etcd: median(got[0], delivered), ours: median(got[1], delivered), show: fraction, goal: 1, goalAbsolute: true},
		)
		progress(rows)
		return nil
	})
}

func (p plan) failOvers(base string) (rows []row, err error) {
	return rows, both(base, false, func(pair [2]*child) error {
		got, err := alternate(pair, p.trials, order{Do: "fail over"})
		if err != nil {
			return err
		}
		for _, q := range []struct {
			name string
			part float64
			goal float64
		}{{"p50", 0.5, 0}, {"p95", 0.95, 1 / 0.75}} {
			at := func(rs []reply) float64 {
				var all []time.Duration
				for _, r := range rs {
					all = append(all, r.Outage)
				}
				slices.Sort(all)
				return float64(quantile(all, q.part))
			}
			rows = append(rows, row{what: fmt.Sprintf("fail-over, %d trials: %s", p.trials, q.name), etcd: at(got[0]), ours: at(got[1]), show: duration, less: true, goal: q.goal})
		}
		progress(rows)
		return nil
	})
}

func (p plan) holds(base string) (rows []row, err error) {
	return rows, both(base, false, func(pair [2]*child) error {
		got, err := alternate(pair, 1, order{Do: "hold", Count: p.keys})
		if err != nil {
			return err
		}
		limit := 1e9 * float64(p.keys) / 1e6
		what := fmt.Sprintf("%d keys held by three members: ", p.keys)
		rows = append(rows,
			row{what: what + "heap", etcd: float64(got[0][0].Heap), ours: float64(got[1][0].Heap), show: megabytes, less: true},
			row{what: what + "resident", etcd: float64(got[0][0].Resident), ours: float64(got[1][0].Resident), show: megabytes, less: true, goal: limit, goalAbsolute: true},
			row{what: what + "seconds to write", etcd: got[0][0].Elapsed.Seconds(), ours: got[1][0].Elapsed.Seconds(), show: fraction, less: true},
		)
		progress(rows)
		return nil
	})
}

// median over rounds of what of takes from each.
func median(rs []reply, of func(reply) float64) float64 {
	var all []float64
	for _, r := range rs {
		all = append(all, of(r))
	}
	slices.Sort(all)
	if len(all)%2 == 0 {
		return (all[len(all)/2-1] + all[len(all)/2]) / 2
	}
	return all[len(all)/2]
}

// progress shows on stderr what is known already.
func progress(rows []row) {
	for line := range strings.Lines(table(rows)) {
		fmt.Fprint(os.Stderr, "  ", line)
	}
}
