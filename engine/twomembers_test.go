package engine

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubectl"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
)

// asked is how a request ended that went straight to the API server of one master.
type asked struct {
	lines []string
	err   error
	took  time.Duration
	over  bool
}

// direct lets kubectl talk to the API server of a master, not through the load balancer.
func (e *Engine) direct(host string, ask func(*sim.Proc, *kubeapi.Client) ([]string, error)) *asked {
	a := new(asked)
	client := e.client(e.you.Addr, kubeapi.User{Name: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}}, "kubectl", e.byHost[host])
	e.you.Go("kubectl", func(p *sim.Proc) {
		began := p.Now()
		a.lines, a.err = ask(p, client)
		a.took, a.over = p.Now().Sub(began), true
	})
	return a
}

// TestOfTwoStoreMembersOneDies is case C-03 (fidelity STO-1, API-31, API-32).
func TestOfTwoStoreMembersOneDies(t *testing.T) {
	for _, store := range []string{StoreMemory, StoreRaft} {
		t.Run(store, func(t *testing.T) {
			s := scenario.Scenario{Name: "two-members", Cluster: scenario.Cluster{Masters: 3, Workers: 3}, Manifests: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "nginx:1.27"}
`}
			s.Default()
			e, err := New(Options{Scenario: s, Store: store, Seed: 1, Rate: sim.Unpaced, Start: RepeatableStart})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			to := func(d time.Duration) {
				t.Helper()
				if err := e.RunFor(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			do := func(line string) {
				t.Helper()
				c, err := command.Parse(line)
				if err != nil {
					t.Fatal(err)
				}
				e.Do(c)
			}
			to(time.Minute)
			do("member remove master-3")
			to(70 * time.Second)
			do("kill master-3")
			to(75 * time.Second)
			do("delete node master-3")
			const T = 5 * time.Minute
			to(T)
			server := func() (ready, live string) {
				pg := e.byHost["master-1"].programs["apiserver"]
				if pg == nil || pg.server == nil {
					return "no server", "no server"
				}
				_, ready = pg.server.Ready()
				_, live = pg.server.Live()
				return ready, live
			}
			kubectlTo := func(args string) *asked {
				return e.direct("master-1", func(p *sim.Proc, c *kubeapi.Client) ([]string, error) { return kubectl.Run(p, c, strings.Fields(args)) })
			}
			do("kill master-2")
			from := e.journal.Last()
			to(T + 3*time.Second)
			for name, s := range e.store.leader {
				if s.Role == "leader" {
					t.Errorf("1. %s still leads", name)
				}
			}
			to(T + 3*time.Second + 500*time.Millisecond)
			if ready, live := server(); !strings.Contains(ready, "[-]etcd failed: reason withheld") || !strings.Contains(live, "[-]etcd failed: reason withheld") {
				t.Errorf("2. /readyz %q, /livez %q", ready, live)
			}
			to(T + 20*time.Second)
			create := kubectlTo("create deployment a --image=nginx --replicas=0")
			to(T + 30*time.Second)
			for _, m := range e.machines {
				for _, sb := range m.runtime.ListPodSandbox() {
					if m.host == "worker-1" && strings.HasPrefix(sb.Pod.Name, "web-") {
						do("crash pod/default/" + sb.Pod.Name)
					}
				}
			}
			to(T + 40*time.Second)
			if !create.over || create.err == nil || create.err.Error() != "error: failed to create deployment: etcdserver: request timed out" || create.took < 7*time.Second || create.took > 8*time.Second {
				t.Errorf("3. the create: %+v", create)
			}
			get := kubectlTo("get pods")
			to(T + 45*time.Second)
			raw := e.direct("master-1", func(p *sim.Proc, c *kubeapi.Client) ([]string, error) {
				r, err := c.Do(p, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", ResourceVersion: "0"})
				if err != nil {
					return nil, err
				}
				var names []string
				for _, o := range r.Items {
					names = append(names, o.GetName())
				}
				return names, nil
			})
			to(T + 46*time.Second)
			if get.over {
				t.Errorf("4. the plain get has ended: %+v", get)
			}
			if !raw.over || raw.err != nil || len(raw.lines) != 3 || raw.took > time.Second {
				t.Errorf("4. the get of any version: %+v", raw)
			}
			to(T + 65*time.Second)
			recs, _ := e.journal.Read(nil, from, 1<<20)
			restarted := false
			for _, r := range recs {
				switch f := r.Event.(type) {
				case event.ObjectChanged:
					if !r.At.Before(RepeatableStart.Add(T + time.Second)) {
						t.Errorf("%v: revision %d was written without a quorum", r.At.Sub(RepeatableStart)-T, f.Revision)
					}
				case event.ContainerChanged:
					restarted = restarted || f.Container == "app" && f.State == event.ContainerRunning && f.Pod.Namespace == "default"
				case event.NodeJudged:
					if f.Ready != "True" {
						t.Errorf("5. node %s is judged %s", f.Node, f.Ready)
					}
				}
			}
			if !restarted {
				t.Error("5. the container that was killed does not run again")
			}
			do("start master-2")
			to(T + 66*time.Second)
			var runs time.Duration
			for runs == 0 && e.loop.Now().Before(RepeatableStart.Add(T+2*time.Minute)) {
				to(e.loop.Now().Sub(RepeatableStart) + 100*time.Millisecond)
				if e.byHost["master-2"].programs["etcd"] != nil {
					runs = e.loop.Now().Sub(RepeatableStart)
				}
			}
			to(runs + 3*time.Second)
			if e.storeLeader() == nil {
				t.Errorf("6. nobody leads 3 s after the store's member runs again, at T+%v", runs-T)
			}
			to(runs + 15*time.Second)
			again := kubectlTo("create deployment b --image=nginx --replicas=0")
			to(runs + 20*time.Second)
			if !again.over || again.err != nil {
				t.Errorf("6. a write then: %+v", again)
			}
			if d := get.took; !get.over || d > 61*time.Second {
				t.Errorf("4. the plain get: %+v", get)
			}
			if ready, _ := server(); ready != "" && ready != "ok" {
				t.Logf("/readyz at the end: %q", ready)
			}
		})
	}
}
