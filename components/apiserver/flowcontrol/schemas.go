package flowcontrol

import (
	"slices"
	"strings"

	"example.com/kubeviz/components/kubeapi"
)

// Attributes of a request by which it is matched.
type Attributes struct {
	User        kubeapi.User // as whom it is made
	Verb        string       // "get", "list", "deletecollection"; the HTTP method in small letters where Path is set
	Group       string       // API group; empty: core
	Resource    string
	Subresource string
	Namespace   string
	Path        string // of a request that is about no resource
}

// level of priority: shares of the seats, what of them may be lent, and queues (as pkg/apis/flowcontrol/bootstrap).
type level struct {
	name     string
	shares   int
	lendable int // percent
	queues   int // 0: who finds no seat is refused at once
	hand     int
	exempt   bool
}

var (
	exempt         = &level{name: "exempt", exempt: true}
	nodeHigh       = &level{name: "node-high", shares: 40, lendable: 25, queues: 64, hand: 6}
	system         = &level{name: "system", shares: 30, lendable: 33, queues: 64, hand: 6}
	leaderElection = &level{name: "leader-election", shares: 10, queues: 16, hand: 4}
	workloadHigh   = &level{name: "workload-high", shares: 40, lendable: 50, queues: 128, hand: 6}
	workloadLow    = &level{name: "workload-low", shares: 100, lendable: 90, queues: 128, hand: 6}
	globalDefault  = &level{name: "global-default", shares: 20, lendable: 50, queues: 128, hand: 6}
	catchAll       = &level{name: "catch-all", shares: 5}

	levels = []*level{nodeHigh, system, leaderElection, workloadHigh, workloadLow, globalDefault, catchAll}
)

// How a schema tells the flows of its requests apart.
type distinguisher int

const (
	byNothing distinguisher = iota
	byUser
	byNamespace
)

type schema struct {
	name  string
	level *level
	by    distinguisher
	match func(a *Attributes) bool
}

const (
	kubeSystem      = "system:serviceaccount:kube-system:"
	masters         = "system:masters"
	nodes           = "system:nodes"
	serviceAccounts = "system:serviceaccounts"
	authenticated   = "system:authenticated"
	unauthenticated = "system:unauthenticated"
)

// schemas in the order of their precedence; the first that matches counts.
var schemas = []*schema{
	{"exempt", exempt, byNothing, func(a *Attributes) bool { return a.in(masters) }},
	{"probes", exempt, byNothing, func(a *Attributes) bool {
		return a.Verb == "get" && (a.Path == "/healthz" || a.Path == "/readyz" || a.Path == "/livez")
	}},
	{"system-leader-election", leaderElection, byUser, func(a *Attributes) bool {
		return a.lease() && (a.Verb == "get" || a.Verb == "create" || a.Verb == "update") && (a.program() || strings.HasPrefix(a.User.Name, kubeSystem))
	}},
	{"system-node-high", nodeHigh, byUser, func(a *Attributes) bool {
		return a.in(nodes) && (a.lease() || a.Path == "" && a.Group == "" && a.Resource == "nodes" && (a.Subresource == "" || a.Subresource == "status"))
	}},
	{"system-nodes", system, byUser, func(a *Attributes) bool { return a.in(nodes) }},
	{"kube-controller-manager", workloadHigh, byNamespace, func(a *Attributes) bool { return a.User.Name == "system:kube-controller-manager" }},
	{"kube-scheduler", workloadHigh, byNamespace, func(a *Attributes) bool { return a.User.Name == "system:kube-scheduler" }},
	{"kube-system-service-accounts", workloadHigh, byNamespace, func(a *Attributes) bool { return strings.HasPrefix(a.User.Name, kubeSystem) }},
	{"service-accounts", workloadLow, byUser, func(a *Attributes) bool { return a.in(serviceAccounts) }},
	{"global-default", globalDefault, byUser, func(a *Attributes) bool { return a.in(authenticated) || a.in(unauthenticated) }},
	{"catch-all", catchAll, byUser, func(*Attributes) bool { return true }},
}

func (a *Attributes) in(group string) bool { return slices.Contains(a.User.Groups, group) }

// program tells the two programs that elect a leader.
func (a *Attributes) program() bool {
	return a.User.Name == "system:kube-controller-manager" || a.User.Name == "system:kube-scheduler"
}

func (a *Attributes) lease() bool {
	return a.Path == "" && a.Group == "coordination.k8s.io" && a.Resource == "leases" && a.Subresource == ""
}

// classify finds the schema of a request and what tells its flow from others of the schema.
func classify(a *Attributes) (s *schema, flow string) {
	for _, s := range schemas {
		if s.match(a) {
			switch s.by {
			case byUser:
				return s, a.User.Name
			case byNamespace:
				return s, a.Namespace
			}
			return s, ""
		}
	}
	panic("flowcontrol: the last schema matches everything")
}
