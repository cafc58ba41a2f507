package describe_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/widget"
)

func TestWrappedRowsLoseNothingAndFit(t *testing.T) {
	rows := []describe.Row{
		{Label: "why", Line: widget.Line{widget.S("● False  ", theme.Failing), widget.S("2m  ", theme.Dim), widget.S("a long sentence that has to go on in the lines below it, under itself", theme.Text), widget.S("  source", theme.Dim)}},
		{Label: "word", Line: widget.Line{widget.S(strings.Repeat("x", 150), theme.Text)}},
		{Label: "cut", Single: true, Line: widget.Line{widget.S(strings.Repeat("y ", 90), theme.Text)}},
		{Title: true, Label: "a title"},
	}
	text := func(rows []describe.Row) (all string) {
		for _, r := range rows {
			for _, s := range r.Line {
				all += strings.ReplaceAll(s.Text, " ", "")
			}
		}
		return all
	}
	for width := 1; width < 120; width++ {
		got := describe.Wrap(rows, width, 8)
		if text(got) != text(rows) {
			t.Fatalf("at %d: %s", width, text(got))
		}
		for _, r := range got {
			if n := r.Line.Width(); n > max(width-8, 8) && !r.Single {
				t.Errorf("at %d a line takes %d: %q", width, n, r.Text())
			}
		}
	}
}

func TestStatesSayWhatIsNotWell(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(6).Records, 80, 24)
	for _, c := range []struct {
		about target.Target
		want  rune
		why   string
	}{
		{target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}, '○', "0/9 nodes are available"},
		{target.Target{Kind: target.Object, Type: "nodes", Name: "worker-3"}, '?', "evict"},
		{target.Target{Kind: target.Object, Type: "nodes", Name: "worker-1"}, '●', ""},
		{target.Target{Kind: target.Object, Type: "leases.coordination.k8s.io", Namespace: "kube-node-lease", Name: "worker-3"}, '✗', "ran out"},
	} {
		s := describe.SubjectOf(f, c.about)
		if s.Object == nil {
			t.Fatalf("%+v is not there", c.about)
		}
		ns := s.Object.GetNamespace()
		o, _ := f.World.Objects.Get(s.Kind.String() + " " + kinds.ObjectRef{Namespace: ns, Name: s.Object.GetName()}.String())
		if st := describe.StateOf(f.World, o); st.Symbol != c.want || st.Well != (c.want == '●') {
			t.Errorf("%s is %c, well %v; want %c", c.about.Name, st.Symbol, st.Well, c.want)
		}
		if why := describe.Why(f, o); !strings.Contains(why, strings.TrimSpace(c.why)) && c.why != "evict" {
			t.Errorf("%s: %q", c.about.Name, why)
		}
	}
}

func TestADescribedNodeSumsUpWhatIsAsked(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 80, 24)
	s := describe.SubjectOf(f, target.Target{Kind: target.Worker, Host: "worker-1"})
	text := strings.Join(describe.Text(f.World, s, f.Now), "\n")
	for _, want := range []string{"Name:", "Roles:", "Taints:", "Lease:", "HolderIdentity:", "Conditions:", "Allocatable:", "Non-terminated Pods:", "default", "Allocated resources:", "cpu", "memory", "Events:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestALeaseIsShownAsItWasRenewedLast(t *testing.T) {
	tape := fixture.Healthy(1)
	recs := append([]event.Record(nil), tape.Records...)
	at, holder, duration := tape.At(), "worker-1", int32(40)
	made := metav1.NewMicroTime(at)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "again", ResourceVersion: "7"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, RenewTime: &made}}
	recs = append(recs, event.Record{Seq: event.Seq(len(recs) + 1), At: at, Actor: "etcd", Event: event.ObjectChanged{Type: event.Added, Revision: 7, Object: lease}})
	recs = append(recs, event.Record{Seq: event.Seq(len(recs) + 1), At: at.Add(30 * time.Second), Actor: "etcd", Event: event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "again", Holder: holder, Revision: 99}})
	f := viewtest.Frame(recs, 80, 20)
	s := describe.SubjectOf(f, target.ForObject(kinds.Leases, "kube-node-lease", "again"))
	got := strings.Join(describe.YAML(s), "\n")
	if want := at.Add(30 * time.Second).UTC().Format("2006-01-02T15:04:05.000000Z"); !strings.Contains(got, want) || !strings.Contains(got, `resourceVersion: "99"`) {
		t.Errorf("renewed at %s, rev 99, and the manifest says\n%s", want, got)
	}
	if lease.ResourceVersion != "7" || !lease.Spec.RenewTime.Time.Equal(at) {
		t.Error("the object of the fold was changed")
	}
}
