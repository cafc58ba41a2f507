package acceptance

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

const noSpace = "etcdserver: mvcc: database space exceeded"

// TestAStoreOutOfSpace is case C-04: what fails, what works, what freezes, and the way out (fidelity STO-11 to STO-13, LE-6, NODE-11).
func TestAStoreOutOfSpace(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 1}, "")
			s.to(time.Minute)
			s.must("create deployment site --image=httpd --replicas=2")
			s.must("create deployment old --image=httpd --replicas=0")
			s.to(2 * time.Minute)
			settled := s.world().Clone()
			s.must("quota 128Ki")
			full := s.now()
			s.to(full + time.Minute)
			if len(s.world().Store.Alarms) == 0 {
				t.Fatal("no alarm is on")
			}

			s.fails("create deployment x --image=httpd --replicas=0", noSpace)
			s.must("delete deployment old")
			site := s.podsOf("site")
			if len(site) != 2 {
				t.Fatalf("pods of site: %v", site)
			}
			s.fails("delete pod "+site[0], noSpace)
			s.must("delete pod " + site[0] + " --grace-period=0 --force")
			s.must("get pods")
			nodes := s.must("get nodes")
			if strings.Contains(nodes, "NotReady") || strings.Count(nodes, "Ready") != 7 {
				t.Errorf("nodes whose leases nobody can renew read\n%s", nodes)
			}
			s.to(full + 5*time.Minute)
			if got := s.podsOf("site"); len(got) != 1 {
				t.Errorf("pods of site while nothing can be created: %v", got)
			}
			unharmed(t, &settled, s.world())

			before := s.told()
			for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
				lost, _ := must(before, "the leader of "+lease+" gives up", full, func(e event.Leading) bool { return e.Lease == lease && !e.Leading })
				within(t, lease+" has no leader", before.since(lost.At)-full, 8*time.Second, 13*time.Second)
				if again, _, ok := first(before, full, func(e event.Leading) bool { return e.Lease == lease && e.Leading }); ok {
					t.Errorf("somebody leads %s %v after the store was full", lease, before.since(again.At)-full)
				}
			}
			for _, r := range all(before, full+2*time.Second, func(e event.ObjectChanged) bool { return e.Type != event.Deleted }) {
				t.Errorf("%v: %s was written into a full store", before.since(r.At), brief(r.Event))
			}

			s.must("compact")
			s.fails("create deployment y --image=httpd --replicas=0", noSpace)
			if out := s.must("defrag all"); strings.Count(out, "finished defragmenting etcd member[master-") != 3 {
				t.Errorf("defrag: %s", out)
			}
			s.fails("create deployment y --image=httpd --replicas=0", noSpace)
			s.must("quota 8Mi") // 128 KiB would be full again within a minute
			if out := s.must("disarm"); !strings.Contains(out, "alarm:NOSPACE") {
				t.Errorf("disarm: %s", out)
			}
			free := s.now()
			s.must("create deployment y --image=httpd --replicas=0")
			s.to(free + 5*time.Second)
			after := s.told()
			for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
				must(after, "a new leader of "+lease, free-time.Second, func(e event.Leading) bool { return e.Lease == lease && e.Leading })
			}
			s.to(free + 20*time.Second)
			if got := s.podsOf("site"); len(got) != 2 {
				t.Errorf("pods of site 20 s later: %v", got)
			}
			s.to(free + 3*time.Minute)
			after = s.told()
			if r, _, ok := first(after, full, func(e event.NodeJudged) bool { return e.Ready != "True" }); ok {
				t.Errorf("%v: a node is judged %s", after.since(r.At), brief(r.Event))
			}
			if len(s.world().Store.Alarms) != 0 {
				t.Errorf("alarms: %+v", s.world().Store.Alarms)
			}
			whole(t, s.world(), 6)
		})
	}
}

// podsOf lists the pods of a deployment that are there and not going, by name.
func (s *staged) podsOf(deployment string) []string {
	var out []string
	s.world().Pods.Scan(func(_ string, p *world.Pod) bool {
		if p.Object.Namespace == "default" && p.Object.Labels["app"] == deployment && !p.Deleting && !p.Ended {
			out = append(out, p.Object.Name)
		}
		return true
	})
	return out
}
