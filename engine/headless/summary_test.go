package headless

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/engine/world/worldtest"
)

func folded(recs ...event.Record) *world.World {
	w := &world.World{}
	for i, r := range recs {
		if r.Seq == 0 {
			r.Seq = event.Seq(i + 1)
		}
		w.Apply(r)
	}
	return w
}

func at(d time.Duration, cause event.Seq, e event.Event) event.Record {
	return event.Record{At: worldtest.Start.Add(d), Cause: cause, Event: e}
}

func TestTheSummaryOfAnEmptyWorldHasNoNulls(t *testing.T) {
	got, err := json.Marshal(Summarize(&world.World{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"virtualTime":"0s","wallTime":"0s","seed":0,"raft":{"leader":"","term":0,"voters":0,"quorum":0,"up":0,"canLose":0,"members":[],"removed":[],"alarms":[],"troubles":[],"elections":[]},"nodes":[],"pods":[],` +
		`"requests":{"total":0,"byCode":{}},"commands":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheSummaryTellsOfElectionsRequestsAndCommands(t *testing.T) {
	w := folded(
		at(0, 0, event.ClusterStarted{Seed: 42, Store: "raft", Masters: []string{"master-1", "master-2"}}),
		at(0, 1, event.MachineUp{Host: "master-1"}),
		at(0, 1, event.MachineUp{Host: "master-2"}),
		at(time.Second, 0, event.RaftRole{Member: "master-1", Role: "leader", Term: 2}),
		at(time.Second, 0, event.RaftRole{Member: "master-2", Role: "follower", Term: 2, Leader: "master-1"}),
		at(time.Second, 0, event.RaftProgress{Member: "master-2", LastIndex: 9, CommitIndex: 8}),
		at(time.Minute, 0, event.CommandGiven{Text: "kill master-1"}),
		at(time.Minute, 7, event.MachineDown{Host: "master-1", Reason: "killed"}),
		at(time.Minute, 7, event.CommandDone{Text: "kill master-1", Error: "no quorum"}),
		at(61500*time.Millisecond, 0, event.RaftRole{Member: "master-2", Role: "leader", Term: 3}),
		at(5*time.Minute, 0, event.RequestTally{Server: "master-2", Total: 3, ByCode: map[int]int{200: 2, 404: 1}}),
	)
	got, _ := json.Marshal(Summarize(w, 1500*time.Millisecond))
	want := `{"virtualTime":"5m0s","wallTime":"1.5s","seed":42,"raft":{"leader":"","term":3,"voters":2,"quorum":2,"up":1,"canLose":-1,` +
		`"members":[{"name":"master-1","role":"down","term":2,"lastIndex":0,"commitIndex":0,"up":false,"learner":false,"disk":""},{"name":"master-2","role":"leader","term":3,"lastIndex":9,"commitIndex":8,"up":true,"learner":false,"disk":""}],"removed":[],"alarms":[],` +
		`"troubles":[{"kind":"no quorum","text":"no quorum: 1 of 2 voters run and reach each other, 2 are needed: nothing can be written","mend":["start master-1"]}],` +
		`"elections":[{"at":"1s","from":"","to":"master-1","term":2,"virtualMs":0,"wallMs":0,"anew":false},{"at":"1m1.5s","from":"master-1","to":"master-2","term":3,"virtualMs":1500,"wallMs":0,"anew":false}]},` +
		`"nodes":[],"pods":[],"requests":{"total":3,"byCode":{"200":2,"404":1}},"commands":[{"at":"1m0s","text":"kill master-1","error":"no quorum"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNodesAndPodsAreSortedAndReadyIsABoolean(t *testing.T) {
	w := &world.World{}
	for _, r := range worldtest.Records(worldtest.Options{Seed: 3}, 3000) {
		w.Apply(r)
	}
	s := Summarize(w, 0)
	if len(s.Nodes) != 7 || s.Nodes[0].Name != "master-1" || s.Nodes[0].Role != "control-plane" || s.Nodes[6].Role != "worker" {
		t.Errorf("nodes %+v", s.Nodes)
	}
	pods, ready := map[string]int{}, 0
	for i, p := range s.Pods {
		if i > 0 && s.Pods[i-1].Name >= p.Name {
			t.Errorf("%s after %s", p.Name, s.Pods[i-1].Name)
		}
		if p.Ready {
			ready++
		}
		if p.Phase != "Failed" && p.Phase != "Succeeded" {
			pods[p.Node]++
		}
	}
	if ready == 0 || ready == len(s.Pods) {
		t.Errorf("%d of %d ready: this story should have both", ready, len(s.Pods))
	}
	for _, n := range s.Nodes {
		if n.Pods != pods[n.Name] {
			t.Errorf("%s has %d pods, the list says %d", n.Name, n.Pods, pods[n.Name])
		}
	}
}

func TestTheReportOfASmallRun(t *testing.T) {
	s := Summary{
		VirtualTime: "5m0.000213s", WallTime: "1.52345s", Seed: 42,
		Raft: Raft{Leader: "master-2", Term: 3, Voters: 3, Quorum: 2, Up: 2, CanLose: 0, Removed: []string{"master-5", "master-6"},
			Members: []Member{{"master-1", "down", 2, 90, 88, false, false, "zeroed"}, {"master-2", "leader", 3, 120, 120, true, false, ""}, {"master-3", "follower", 3, 120, 120, true, false, ""},
				{"master-4", "learner", 3, 20, 20, true, true, ""}},
			Troubles: []Trouble{{"disk damaged", "etcd on master-1 does not start: its disk is damaged (zeroed: page 7 of the log file is zeros)", []string{"member replace master-1"}},
				{"store full", "writes are refused: NOSPACE", []string{"compact", "defrag all", "disarm"}}},
			Elections: []Election{{"1s", "", "master-1", 2, 0, 0, false}, {"1m1.5s", "master-1", "master-2", 3, 1500, 150, false}, {"1m40s", "master-2", "master-2", 4, 900, 90, false},
				{"2m0s", "", "master-1", 2, 0, 0, true}}},
		Nodes: []Node{{"master-1", "control-plane", false, "NodeStatusUnknown", 4}, {"worker-1", "worker", true, "KubeletReady", 2}},
		Pods: []Pod{{"default", "web-1", "Running", "Running", true, "worker-1", 0, false},
			{"default", "web-2", "Running", "CrashLoopBackOff", false, "worker-1", 4, false}},
		Requests: Requests{Total: 120, ByCode: map[string]int{"200": 110, "409": 10}},
		Commands: []Command{{"1m0s", "kill master-1", ""}, {"2m0s", "kubectl scale deploy/web --replicas=1000000", "the server could not find the requested resource in any of the masters that were asked"}},
	}
	want := `5m0s of simulated time in 1.52s  (seed 42)

store      master-2 leads, term 3, 2 of 3 voters up, quorum 2, can lose 0
  master-1                 down       term 2    log 90       committed 88
  master-2                 leader     term 3    log 120      committed 120
  master-3                 follower   term 3    log 120      committed 120
  master-4                 learner    term 3    log 20       committed 20
  removed: master-5, master-6
  ! etcd on master-1 does not start: its disk is damaged (zeroed: page 7 of the
    log file is zeros)
    mend: member replace master-1
  ! writes are refused: NOSPACE
    mend: compact, then defrag all, then disarm
  at 1s           master-1 was elected for term 2
  at 1m2s         master-2 took over from master-1, term 3, after 1.5s simulated
  at 1m40s        master-2 was elected again, term 4, after 900ms simulated
  at 2m0s         master-1 was elected for term 2 of the store begun anew

nodes      1 of 2 ready
  master-1                 NotReady  control-plane     4 pods  NodeStatusUnknown
  worker-1                 Ready     worker            2 pods

pods       1 of 2 ready: 1 CrashLoopBackOff, 1 Running
  default/web-2  CrashLoopBackOff  worker-1 4 restarts
  default/web-1  Running           worker-1

requests   120 answered: 110 200, 10 409

commands   2 given, 1 failed
  at 1m0s         kill master-1
  at 2m0s         kubectl scale deploy/web --replicas=1000000
                  failed: the server could not find the requested resource in
                  any of the masters that were asked
`
	var b strings.Builder
	if err := WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestNoLineIsWiderThanTheScreenAndNothingActsOnTheTerminal(t *testing.T) {
	long := strings.Repeat("very-long-name-", 20) + "\x1b[31m\ttab\nnew line\u202e"
	s := Summary{Raft: Raft{Members: []Member{{Name: long}}, Elections: []Election{{To: long, From: long}}}, Nodes: []Node{{Name: long, Reason: long}},
		Requests: Requests{ByCode: map[string]int{long: 1}}, Commands: []Command{{Text: long, Error: long}}}
	for range 100 {
		s.Pods = append(s.Pods, Pod{Namespace: long, Name: long, Status: long, Node: long})
	}
	var b strings.Builder
	WriteText(&b, s)
	for l := range strings.Lines(b.String()) {
		l = strings.TrimSuffix(l, "\n")
		if n := utf8.RuneCountInString(l); n > Width {
			t.Errorf("%d columns: %s", n, l)
		}
		if strings.ContainsAny(l, "\x1b\t\u202e") {
			t.Errorf("acts on the terminal: %q", l)
		}
	}
	if !strings.Contains(b.String(), "… and 75 more pods") {
		t.Error("pods that are left out are not counted")
	}
}
