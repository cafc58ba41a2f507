package motion

import (
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
)

// The clients that lanes begin at. A person with another name than the administrator's is a client by that name.
const (
	You         = "you"
	Kubelets    = "kubelet"
	Scheduler   = "scheduler"
	Controllers = "controller-manager"
	Inside      = "apiserver" // the API server's own
	Others      = "others"    // people beyond the number that is remembered by name
)

// ClientOf names the client group of a user of the API, and the machine if it is a kubelet.
func ClientOf(user string) (client, host string) {
	switch {
	case user == "kubernetes-admin" || user == "":
		return You, ""
	case user == "system:kube-scheduler":
		return Scheduler, ""
	case user == "system:apiserver":
		return Inside, ""
	case strings.HasPrefix(user, "system:node:"):
		return Kubelets, strings.TrimPrefix(user, "system:node:")
	case strings.HasPrefix(user, "system:"):
		return Controllers, ""
	}
	return user, ""
}

// outsideMax bounds the clients from outside that are told apart; the requests of further ones travel as their users'.
const outsideMax = 1 << 14

const outsidePrefix = "outside "

// balancerDoor is the event.ClientConnected.Door of those that the balancer sends on.
const balancerDoor = "balancer"

// Label is a client in a few words: a program with its user ("kubectl (kubernetes-admin)"), one from outside by its name, others as they are called.
func Label(client string) string {
	if program := ProgramOf(client); program != "" {
		name, user, _ := strings.Cut(program, " ")
		if user == "" {
			return name
		}
		return name + " (" + user + ")"
	}
	if a := event.Actor(client); a.Host() != "" {
		return a.Component()
	}
	return client
}

// Outside is the client that a program outside is on the lanes (event.ClientConnected.Program).
func Outside(program string) string { return outsidePrefix + program }

// ProgramOf is the program outside of a client; "": it is none.
func ProgramOf(client string) string {
	if program, ok := strings.CutPrefix(client, outsidePrefix); ok {
		return program
	}
	return ""
}

// Read takes in a record that has just been folded, at an instant of wall time.
func (l *Lanes) Read(r event.Record, wall time.Time) {
	l.note(r.At, wall)
	switch e := r.Event.(type) {
	case event.ClientConnected:
		if l.outside == nil {
			l.outside = map[event.Seq]guest{}
		}
		if len(l.outside) < outsideMax {
			l.outside[r.Seq] = guest{Outside(e.Program()), e.Door != balancerDoor}
		}
	case event.ClientGone:
		delete(l.outside, r.Cause)
	case event.RequestReceived:
		l.received(r, e, wall)
	case event.RequestDone:
		l.done(r, e, wall)
	case event.ObjectChanged:
		l.changed(r, e, wall)
	case event.RaftMessage:
		l.raft(r, e, wall)
	case event.RaftAppended:
		if !e.Opened {
			lane := Lane{Raft, "", e.Member}
			l.put(lane, Mark{Sign: Append, Verb: "append", Name: "i" + strconv.FormatUint(e.To, 10), Seq: r.Seq}, r.At, wall)
			if e.To > e.From { // entries that were told of together
				l.count(lane, int(min(e.To-e.From, 1<<20)), r.At)
			}
		}
	case event.LeaseRenewed:
		l.renewed(r, e)
	case event.ContainerChanged:
		if e.State == event.ContainerRunning {
			l.glow(e.Pod.Namespace+"/"+e.Pod.Name, wall)
		}
	}
}

func (l *Lanes) received(r event.Record, e event.RequestReceived, wall time.Time) {
	client, host := ClientOf(e.User)
	g, ok := l.outside[r.Cause]
	if ok {
		client, host = g.lane, ""
	}
	from := client
	if host != "" {
		from = host
	}
	l.asked[int(r.Seq%event.Seq(len(l.asked)))] = request{r.Seq, from, e.Subresource, g.direct}
	client = l.known(client)
	l.asks(client)
	if client == Inside {
		return // it does not leave the machine
	}
	m := Mark{Sign: Request, Verb: verbOf(e.Verb, e.Subresource), Name: e.ObjectName, Seq: r.Seq}
	l.put(Lane{Ask, client, ""}, m, r.At, wall)
	if !g.direct {
		l.put(Lane{Serve, "", e.Server}, m, r.At, wall)
	}
	if client == Scheduler || client == Controllers || client == Kubelets {
		l.put(Lane{Call, from, ""}, m, r.At, wall)
		if client == Kubelets {
			l.put(Lane{Call, Kubelets, ""}, m, r.At, wall)
		}
	}
}

// renewed counts the renewal of a lease. It is a request that is not listed by itself: there are too many to make marks of.
func (l *Lanes) renewed(r event.Record, e event.LeaseRenewed) {
	client := ""
	switch {
	case e.Namespace == corev1.NamespaceNodeLease:
		client = Kubelets
	case e.Namespace == "kube-system" && e.Lease == "kube-scheduler":
		client = Scheduler
	case e.Namespace == "kube-system" && e.Lease == "kube-controller-manager":
		client = Controllers
	default:
		return
	}
	l.asks(client)
	l.count(Lane{Ask, client, ""}, 1, r.At)
	if client == Kubelets {
		l.count(Lane{Call, Kubelets, ""}, 1, r.At)
	}
}

// asks counts a request of a client.
func (l *Lanes) asks(client string) {
	if l.total == nil {
		l.total = map[string]int{}
	}
	l.total[client]++
}

// ours: the client is you or a part of the cluster.
func ours(client string) bool {
	switch client {
	case You, Kubelets, Scheduler, Controllers, Inside:
		return true
	}
	return false
}

// known is the client, or Others where too many have been seen.
func (l *Lanes) known(client string) string {
	if ours(client) {
		return client
	}
	if _, ok := l.total[client]; !ok && len(l.total) >= peopleMax {
		return Others
	}
	return client
}

func verbOf(verb, sub string) string {
	switch sub {
	case "binding":
		return "bind"
	case "eviction":
		return "evict"
	case "":
		return verb
	}
	return sub
}

func (l *Lanes) done(r event.Record, e event.RequestDone, wall time.Time) {
	client, host := ClientOf(e.User)
	direct := false
	if g, ok := l.outside[r.Cause]; ok {
		client, host, direct = g.lane, "", g.direct
	} else if q := l.asked[int(r.Cause%event.Seq(len(l.asked)))]; q.seq == r.Cause && r.Cause != 0 && ProgramOf(q.from) != "" {
		client, host, direct = q.from, "", q.direct
	}
	if client == Inside {
		return
	}
	m := Mark{Sign: Answer, Back: true, Verb: strconv.Itoa(e.Code), Name: e.ObjectName, Seq: r.Seq}
	if e.Code >= 400 {
		m.Sign = Refused
	} else if person := client == You || client == e.User || ProgramOf(client) != ""; !person { // the answers that matter are people's, and the bad ones
		return
	}
	l.back(Lane{Ask, l.known(client), ""}, m, r.At, wall)
	if !direct {
		l.back(Lane{Serve, "", e.Server}, m, r.At, wall)
	}
	if host != "" && e.Code >= 400 {
		l.back(Lane{Call, host, ""}, m, r.At, wall)
	}
}

// changed follows a committed change to those that are told of it: the kubelet of the pod's node, the scheduler for what has no node, the controllers.
func (l *Lanes) changed(r event.Record, e event.ObjectChanged, wall time.Time) {
	var by request
	if q := l.asked[int(r.Cause%event.Seq(len(l.asked)))]; q.seq == r.Cause && r.Cause != 0 {
		by = q
	}
	m := Mark{Sign: Change, Verb: changeVerb(e.Type), Seq: r.Seq}
	switch o := e.Object.(type) {
	case *corev1.Pod:
		m.Name = o.Name
		node := o.Spec.NodeName
		switch {
		case by.sub == "binding":
			m.Verb = "bind"
		case o.DeletionTimestamp != nil:
			m.Verb = "delete"
		}
		if node == "" {
			l.put(Lane{Watch, "", Scheduler}, m, r.At, wall)
		} else if by.from != node { // it knows what it wrote itself
			l.put(Lane{Watch, "", node}, m, r.At, wall)
			l.put(Lane{Watch, "", Kubelets}, m, r.At, wall)
		}
		if by.from != Controllers {
			l.put(Lane{Watch, "", Controllers}, m, r.At, wall)
		}
	case *corev1.Node:
		m.Name = o.Name
		l.put(Lane{Watch, "", Scheduler}, m, r.At, wall)
		l.put(Lane{Watch, "", Controllers}, m, r.At, wall)
	case *appsv1.Deployment, *appsv1.ReplicaSet:
		m.Name = e.Object.GetName()
		l.put(Lane{Watch, "", Controllers}, m, r.At, wall)
	}
}

func changeVerb(t event.ChangeType) string {
	switch t {
	case event.Added:
		return "new"
	case event.Deleted:
		return "gone"
	}
	return "change"
}

// raft follows votes, snapshots and what is lost. What an append brought is told by the member that has it (RaftAppended); of those that arrive only some are.
func (l *Lanes) raft(r event.Record, e event.RaftMessage, wall time.Time) {
	m := Mark{Verb: e.Kind, Seq: r.Seq}
	switch {
	case e.Lost:
		m.Sign = Refused
	case e.Kind == "append" || e.Kind == "heartbeat":
		return
	case e.Kind == "snapshot":
		m.Sign = Append
	case e.Reply && e.Granted:
		m.Sign = Granted
	case e.Reply:
		m.Sign = Refused
	default:
		m.Sign = Vote
	}
	at := Lane{Raft, e.From, e.To}
	if e.Reply { // it goes back on the lane of its question
		at, m.Back = Lane{Raft, e.To, e.From}, true
	}
	l.put(at, m, r.At, wall)
}

// People lists the clients that are neither you nor a part of the cluster, by name.
func (l *Lanes) People() []string {
	if l == nil {
		return nil
	}
	var out []string
	for c := range l.total {
		if !ours(c) && ProgramOf(c) == "" {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}
