package acceptance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
)

// ordeal is a run of chance: trouble with a command every so often on average, then repair, then time to converge. Ten minutes of that are enough for the longest
// back-off of a container, which is five.
type ordeal struct {
	store                    string
	trouble, every, converge time.Duration
}

// chance makes the commands of a run: random trouble with random things, and a write now and then.
func (o ordeal) chance(seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 0xacce97))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	masters := []string{"master-1", "master-2", "master-3"}
	machines := append([]string{"worker-1", "worker-2", "worker-3", "worker-4"}, masters...)
	thing := func() string {
		switch rng.IntN(4) {
		case 0:
			return one("leader", "scheduler-leader", "controller-manager-leader")
		case 1:
			return one(masters...) + "/" + one("apiserver", "etcd", "scheduler", "controller-manager", "kubelet")
		case 2:
			return one(machines...) + "/kubelet"
		}
		return one(machines...)
	}
	end := func() string {
		return one(append([]string{"all", "balancer", "master-1/etcd", "master-2/etcd"}, machines...)...)
	}
	link := func() string {
		a, b := one(machines...), end()
		for a == b {
			b = end()
		}
		return a + " " + b
	}
	way := func() string { return one("", "", " oneway") }
	var do []string
	writes := 0
	for at := 40 * time.Second; at < o.trouble; at += time.Duration(rng.Int64N(int64(2 * o.every))) {
		var c string
		switch rng.IntN(14) {
		case 0, 1, 2:
			c = one("kill", "kill", "stop", "restart") + " " + thing()
		case 3, 4, 5:
			c = "start " + thing()
		case 6:
			c = "cut " + link() + way()
		case 7:
			c = one("delay "+link()+" 50ms", "loss "+link()+" 30%") + way()
		case 8, 9:
			c = one("heal", "heal", "heal "+one(machines...))
		case 10:
			all := append([]string(nil), machines...)
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			n := 1 + rng.IntN(len(all)-1)
			c = "partition " + strings.Join(all[:n], ",") + " | " + strings.Join(all[n:], ",")
		default:
			writes++
			c = fmt.Sprintf("kubectl create deployment w%d --image=nginx --replicas=0", writes)
		}
		do = append(do, at.Round(time.Millisecond).String()+" "+c)
	}
	// Repair: links, machines, and kubelets that were stopped on purpose.
	end0 := o.trouble.String() + " "
	do = append(do, end0+"heal")
	for _, m := range machines {
		do = append(do, end0+"start "+m)
	}
	for _, m := range machines {
		do = append(do, (o.trouble+20*time.Second).String()+" start "+m+"/kubelet")
	}
	return append(do, (o.trouble+o.converge-2*time.Second).String()+" get deployments")
}

// survives plays a run of chance and checks what must hold whatever happened.
func (o ordeal) survived(t *testing.T, seed uint64) {
	t.Helper()
	do := o.chance(seed)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d on %s:\n%s", seed, o.store, strings.Join(do, "\n"))
		}
	}()
	p := play(t, run{unwritten: true, store: o.store, seed: seed, length: o.trouble + o.converge, do: do})
	for _, s := range wrong(p.world, 6) {
		t.Error(s)
	}
	n := p.kept()
	p.invariants()
	if o.store == engine.StoreMemory {
		p.everyFactIsRooted()
	}
	t.Logf("%d commands, %d writes acknowledged, %d records", len(do), n, len(p.recs))
}

func TestAfterAnyTroubleEverythingConverges(t *testing.T) {
	t.Parallel()
	seeds := 20
	if testing.Short() {
		seeds = 3
	}
	o := ordeal{store: engine.StoreMemory, trouble: 15 * time.Minute, every: 20 * time.Second, converge: 10 * time.Minute}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			besides(t, engine.StoreMemory)
			o.survived(t, seed)
		})
	}
}

func TestAfterAnyTroubleARaftStoreConvergesToo(t *testing.T) {
	t.Parallel()
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	o := ordeal{store: engine.StoreRaft, trouble: 90 * time.Second, every: 6 * time.Second, converge: 5 * time.Minute} // short: a raft store costs wall time
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			besides(t, engine.StoreRaft)
			o.survived(t, seed)
		})
	}
}
