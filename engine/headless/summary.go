package headless

// The summary of a World, as JSON for programs and as text for people (text.go); both say the same. It needs a World of its own, on any goroutine.

import (
	"strconv"
	"time"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
)

// Summary is what a run led to. Durations are in Go's notation ("5m0s"); instants ("at") are simulated time since the start. Lists are sorted and never null.
type Summary struct {
	VirtualTime string    `json:"virtualTime"`
	WallTime    string    `json:"wallTime"`
	Seed        uint64    `json:"seed"`
	Raft        Raft      `json:"raft"`
	Nodes       []Node    `json:"nodes"`
	Pods        []Pod     `json:"pods"`
	Requests    Requests  `json:"requests"`
	Commands    []Command `json:"commands"`
}

// Raft is the state of the store's cluster; without members where the store is in memory. Leader is empty while nobody leads a majority. Voters there are, Quorum of
// them that must agree, Up that run and reach each other, and CanLose how many more may fall (negative: so many are missing). Removed are masters that are no
// members any more. Alarms in force are in order of time.
type Raft struct {
	Leader    string     `json:"leader"`
	Term      uint64     `json:"term"`
	Voters    int        `json:"voters"`
	Quorum    int        `json:"quorum"`
	Up        int        `json:"up"`
	CanLose   int        `json:"canLose"`
	Members   []Member   `json:"members"`
	Removed   []string   `json:"removed"`
	Alarms    []Alarm    `json:"alarms"`
	Troubles  []Trouble  `json:"troubles"`
	Elections []Election `json:"elections"`
}

// Alarm of a member: NOSPACE or CORRUPT.
type Alarm struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	At     string `json:"at"`
}

// Trouble of the store in words, and the commands that mend it in the order in which they are given; none where nothing can be ordered. Kind is that of the anomaly
// ("disk damaged"), or "learner" for a member that waits for its promotion.
type Trouble struct {
	Kind string   `json:"kind"`
	Text string   `json:"text"`
	Mend []string `json:"mend"`
}

// Member of the raft cluster, by name. Disk is empty while it is sound.
type Member struct {
	Name        string `json:"name"`
	Role        string `json:"role"`
	Term        uint64 `json:"term"`
	LastIndex   uint64 `json:"lastIndex"`
	CommitIndex uint64 `json:"commitIndex"`
	Up          bool   `json:"up"`
	Learner     bool   `json:"learner"`
	Disk        string `json:"disk"`
}

// Election of a leader, in order of time. Anew: it is the first of a store that was restored or wiped, whose terms count from the beginning; From is empty then. The durations are from the loss of the one before; WallMs is 0 in runs without wall time.
type Election struct {
	At        string `json:"at"`
	From      string `json:"from"`
	To        string `json:"to"`
	Term      uint64 `json:"term"`
	VirtualMs int64  `json:"virtualMs"`
	WallMs    int64  `json:"wallMs"`
	Anew      bool   `json:"anew"`
}

// Node as the API has it, by name. Role is "control-plane" or "worker", Reason that of the Ready condition, Pods how many are bound and have not ended.
type Node struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason"`
	Pods   int    `json:"pods"`
}

// Pod as the API has it, by namespace and name. Status is what kubectl prints, Ready the Ready condition.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Status    string `json:"status"`
	Ready     bool   `json:"ready"`
	Node      string `json:"node"`
	Restarts  int    `json:"restarts"`
	Deleting  bool   `json:"deleting"`
}

// Requests answered by the API servers, by HTTP status code.
type Requests struct {
	Total  int            `json:"total"`
	ByCode map[string]int `json:"byCode"`
}

// Command given by the user or a scenario, in order. Error is empty when it worked.
type Command struct {
	At    string `json:"at"`
	Text  string `json:"text"`
	Error string `json:"error"`
}

// Summarize describes a world; wall is how long the run took in real time, 0 for a run that must repeat byte for byte.
func Summarize(w *world.World, wall time.Duration) Summary {
	s := Summary{
		VirtualTime: w.Elapsed().String(), WallTime: wall.String(), Seed: w.Header.Seed,
		Raft:     raftOf(w),
		Nodes:    make([]Node, 0, w.Nodes.Len()),
		Pods:     make([]Pod, 0, w.Pods.Len()),
		Requests: Requests{Total: w.Requests.Total, ByCode: make(map[string]int, len(w.Requests.ByCode))},
		Commands: make([]Command, 0, len(w.Commands)),
	}
	w.Nodes.Scan(func(name string, n *world.Node) bool {
		role := "worker"
		if n.Master {
			role = "control-plane"
		}
		s.Nodes = append(s.Nodes, Node{Name: name, Role: role, Ready: n.Ready == "True", Reason: n.Reason, Pods: n.Pods})
		return true
	})
	w.Pods.Scan(func(_ string, p *world.Pod) bool {
		s.Pods = append(s.Pods, Pod{
			Namespace: p.Object.Namespace, Name: p.Object.Name, Phase: string(p.Object.Status.Phase), Status: p.Status,
			Ready: kinds.PodIsReady(p.Object), Node: p.Object.Spec.NodeName, Restarts: p.Restarts, Deleting: p.Deleting,
		})
		return true
	})
	for code, n := range w.Requests.ByCode {
		s.Requests.ByCode[strconv.Itoa(code)] = n
	}
	for _, c := range w.Commands {
		s.Commands = append(s.Commands, Command{At: w.SinceStart(c.At).String(), Text: c.Text, Error: c.Error})
	}
	return s
}
