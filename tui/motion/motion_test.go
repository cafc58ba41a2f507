package motion

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

var (
	wall = time.Unix(100, 0)
	sim  = time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
)

// reader feeds facts one after the other.
type reader struct {
	l    Lanes
	seq  event.Seq
	at   time.Time
	wall time.Time
}

func begin() *reader { return &reader{at: sim, wall: wall} }

func (r *reader) read(cause event.Seq, e event.Event) event.Seq {
	r.seq++
	r.l.Read(event.Record{Seq: r.seq, At: r.at, Cause: cause, Event: e}, r.wall)
	return r.seq
}

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

func TestWhichWayAMessageGoes(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(*reader)
		lane Lane
		want Mark // Sign, Back, Verb
	}{
		{"a person's request goes to the balancer", func(r *reader) { r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"}) },
			Lane{Ask, You, ""}, Mark{Sign: Request, Verb: "get"}},
		{"and on to an API server", func(r *reader) { r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"}) },
			Lane{Serve, "", "m1"}, Mark{Sign: Request, Verb: "get"}},
		{"its answer comes back", func(r *reader) {
			r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"})
			r.read(1, event.RequestDone{Server: "m1", Verb: "get", User: "kubernetes-admin", Code: 200})
		}, Lane{Ask, You, ""}, Mark{Sign: Answer, Back: true, Verb: "200"}},
		{"a refusal comes back as such", func(r *reader) {
			r.read(0, event.RequestReceived{Server: "m1", Verb: "update", User: "system:kube-scheduler"})
			r.read(1, event.RequestDone{Server: "m1", Verb: "update", User: "system:kube-scheduler", Code: 409})
		}, Lane{Serve, "", "m1"}, Mark{Sign: Refused, Back: true, Verb: "409"}},
		{"a kubelet calls from its machine", func(r *reader) {
			r.read(0, event.RequestReceived{Server: "m1", Verb: "patch", Subresource: "status", User: "system:node:w1"})
		},
			Lane{Call, "w1", ""}, Mark{Sign: Request, Verb: "status"}},
		{"a bound pod is told to the kubelet", func(r *reader) {
			b := r.read(0, event.RequestReceived{Server: "m1", Verb: "create", Subresource: "binding", User: "system:kube-scheduler"})
			r.read(b, event.ObjectChanged{Type: event.Modified, Object: pod("a", "w1")})
		}, Lane{Watch, "", "w1"}, Mark{Sign: Change, Verb: "bind"}},
		{"a new pod is told to the scheduler", func(r *reader) { r.read(0, event.ObjectChanged{Type: event.Added, Object: pod("a", "")}) },
			Lane{Watch, "", Scheduler}, Mark{Sign: Change, Verb: "new"}},
		{"a vote is asked for", func(r *reader) { r.read(0, event.RaftMessage{From: "m2", To: "m3", Kind: "vote"}) },
			Lane{Raft, "m2", "m3"}, Mark{Sign: Vote, Verb: "vote"}},
		{"and granted on the way back", func(r *reader) {
			r.read(0, event.RaftMessage{From: "m3", To: "m2", Kind: "vote", Reply: true, Granted: true})
		},
			Lane{Raft, "m2", "m3"}, Mark{Sign: Granted, Back: true, Verb: "vote"}},
		{"entries reach a member", func(r *reader) { r.read(0, event.RaftAppended{Member: "m3", From: 7, To: 9}) },
			Lane{Raft, "", "m3"}, Mark{Sign: Append, Verb: "append"}},
		{"an append is lost", func(r *reader) { r.read(0, event.RaftMessage{From: "m2", To: "m1", Kind: "append", Lost: true}) },
			Lane{Raft, "m2", "m1"}, Mark{Sign: Refused, Verb: "append"}},
	} {
		r := begin()
		c.read(r)
		m, ok := r.l.Last(c.lane, wall, Shown)
		if !ok || m.Sign != c.want.Sign || m.Back != c.want.Back || m.Verb != c.want.Verb {
			t.Errorf("%s: %+v (%v), want %+v", c.name, m, ok, c.want)
		}
	}
}

func TestWhatIsToldTogetherIsCountedApart(t *testing.T) {
	r := begin()
	r.read(0, event.RaftAppended{Member: "m3", From: 11, To: 30})
	if got := r.l.Rate(Lane{Raft, "", "m3"}, r.at); got != 2 {
		t.Errorf("20 entries in 10 s are %v/s", got)
	}
	if marks, crowd := r.l.On(Lane{Raft, "", "m3"}, wall); crowd || len(marks) != 1 {
		t.Errorf("one message is %d marks, crowd %v", len(marks), crowd)
	}
}

func TestRenewalsOfLeasesAreCountedButDoNotTravel(t *testing.T) {
	r := begin()
	for range 5 {
		r.read(0, event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "w1", Holder: "w1"})
		r.read(0, event.LeaseRenewed{Namespace: "kube-system", Lease: "kube-scheduler"})
		r.read(0, event.LeaseRenewed{Namespace: "kube-system", Lease: "kube-controller-manager"})
		r.read(0, event.LeaseRenewed{Namespace: "kube-system", Lease: "apiserver-x"})
		r.read(0, event.LeaseRenewed{Namespace: "default", Lease: "w1"})
	}
	for _, at := range []Lane{{Ask, Kubelets, ""}, {Call, Kubelets, ""}, {Ask, Scheduler, ""}, {Ask, Controllers, ""}} {
		marks, crowd := r.l.On(at, wall)
		if got := r.l.Rate(at, r.at); got != 0.5 || crowd || marks != nil {
			t.Errorf("%v: %v/s, %d marks", at, got, len(marks))
		}
	}
	if r.l.Total(Kubelets) != 5 || r.l.Total(You) != 0 {
		t.Errorf("in all %d of kubelets, %d of you", r.l.Total(Kubelets), r.l.Total(You))
	}
}

func TestWhatIsNotAMessageDoesNotTravel(t *testing.T) {
	r := begin()
	r.read(0, event.RequestReceived{Server: "m1", Verb: "create", User: "system:apiserver"})
	r.read(0, event.RaftAppended{Member: "m3", From: 1, To: 9, Opened: true})
	r.read(0, event.RaftMessage{From: "m2", To: "m3", Kind: "append", Entries: 1}) // the member tells what it took in
	b := r.read(0, event.RequestReceived{Server: "m1", Verb: "patch", Subresource: "status", User: "system:node:w1"})
	r.read(b, event.ObjectChanged{Type: event.Modified, Object: pod("a", "w1")}) // it knows what it wrote itself
	for _, l := range []Lane{{Ask, Inside, ""}, {Raft, "", "m3"}, {Raft, "m2", "m3"}, {Watch, "", "w1"}} {
		if m, ok := r.l.Last(l, wall, Shown); ok {
			t.Errorf("on %v travels %+v", l, m)
		}
	}
}

func TestAMarkIsSeenForAtLeastThreeTenthsOfASecondAndThenGone(t *testing.T) {
	r := begin()
	r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"})
	at := Lane{Ask, You, ""}
	if marks, _ := r.l.On(at, wall.Add(300*time.Millisecond)); len(marks) != 1 || marks[0].At(wall) != 0 || marks[0].At(wall.Add(Shown)) != 1 {
		t.Errorf("after 300 ms: %+v", marks)
	}
	if marks, _ := r.l.On(at, wall.Add(Shown)); len(marks) != 0 {
		t.Errorf("it is still there: %+v", marks)
	}
	if !r.l.Moving(wall.Add(200*time.Millisecond)) || r.l.Moving(wall.Add(2*time.Second)) {
		t.Error("moving is told wrongly")
	}
}

func TestTooManyMessagesAreARate(t *testing.T) {
	r := begin()
	for range 40 {
		r.at = r.at.Add(100 * time.Millisecond)
		r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"})
	}
	at := Lane{Serve, "", "m1"}
	if marks, crowd := r.l.On(at, wall); !crowd || marks != nil {
		t.Errorf("40 at once: crowd %v, %d marks", crowd, len(marks))
	}
	if got := r.l.Rate(at, r.at); got != 4 {
		t.Errorf("40 in 10 s are %v/s", got)
	}
	if got := r.l.Rate(at, r.at.Add(time.Minute)); got != 0 {
		t.Errorf("a minute later: %v/s", got)
	}
	if r.l.Total(You) != 40 {
		t.Errorf("in all %d", r.l.Total(You))
	}
}

func TestHistoryThatIsReadAtOnceDoesNotTravel(t *testing.T) {
	r := begin()
	r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"})
	r.at = r.at.Add(time.Minute)
	r.read(0, event.RateChanged{Rate: 1})
	if marks, crowd := r.l.On(Lane{Ask, You, ""}, wall); len(marks) > 0 || crowd {
		t.Errorf("a request of a minute ago travels: %+v", marks)
	}
	r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "kubernetes-admin"})
	if marks, _ := r.l.On(Lane{Ask, You, ""}, wall); len(marks) != 1 {
		t.Errorf("%d marks, want the new one", len(marks))
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	r := begin()
	for i := range 5_000 {
		r.at = r.at.Add(time.Millisecond)
		name := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26))
		r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "system:node:" + name})
		r.read(0, event.RequestReceived{Server: "m1", Verb: "get", User: "person-" + name})
		r.read(0, event.ContainerChanged{Pod: kinds.ObjectRef{Namespace: "n", Name: name}, State: event.ContainerRunning})
	}
	if len(r.l.lanes) > lanesMax+8 || len(r.l.glows) > glowsMax || len(r.l.total) > peopleMax+1 {
		t.Errorf("%d lanes, %d glows, %d clients", len(r.l.lanes), len(r.l.glows), len(r.l.total))
	}
}

func TestAPodGlowsWhenItsContainerStarts(t *testing.T) {
	r := begin()
	r.read(0, event.ContainerChanged{Pod: kinds.ObjectRef{Namespace: "n", Name: "p"}, State: event.ContainerRunning})
	if !r.l.Glows("n/p", wall) || r.l.Glows("n/p", wall.Add(time.Second)) || r.l.Glows("n/q", wall) {
		t.Error("glow is told wrongly")
	}
	r.l.Clear()
	if r.l.Glows("n/p", wall) || r.l.Moving(wall) {
		t.Error("after Clear something is left")
	}
}

func TestClients(t *testing.T) {
	for user, want := range map[string][2]string{
		"kubernetes-admin": {You, ""}, "system:node:w1": {Kubelets, "w1"}, "system:kube-scheduler": {Scheduler, ""}, "system:serviceaccount:kube-system:x": {Controllers, ""},
		"system:kube-controller-manager": {Controllers, ""}, "alice": {"alice", ""}, "system:apiserver": {Inside, ""},
	} {
		if c, h := ClientOf(user); c != want[0] || h != want[1] {
			t.Errorf("%s is %s on %q", user, c, h)
		}
	}
	var none *Lanes
	if none.Rate(Lane{}, sim) != 0 || none.Moving(wall) || none.Total("x") != 0 || none.People() != nil || none.Glows("x", wall) {
		t.Error("no lanes are not empty lanes")
	}
}
