package describe_test

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view/viewtest"
)

func TestAMemberIsDescribedWithItsPlaceItsSpaceAndItsDisk(t *testing.T) {
	three := []event.StoreMember{{Name: "master-1", ID: "master-1"}, {Name: "master-2", ID: "master-2"}, {Name: "master-3", ID: "master-3"}}
	for _, c := range []struct {
		name   string
		member string
		events []event.Event
		want   []string
		not    []string
	}{
		{"all is well", "master-1", []event.Event{event.MembersChanged{Members: three}},
			[]string{"★ leader", "a vote", "can lose 1", "3 voters, quorum 2, can lose 1"}, []string{"NOSPACE", "failpoint"}},
		{"a member over its quota, whose history was given up", "master-2", []event.Event{event.MembersChanged{Members: three},
			event.RaftProgress{Member: "master-2", DBSize: 9 << 20, DBInUse: 3 << 20, Quota: 8 << 20}, event.StoreAlarm{Kind: "NOSPACE", Member: "master-2", Raised: true}, event.StoreCompacted{Revision: 40}},
			[]string{"9.0 MiB of 8.0 MiB", "3.0 MiB", "6.0 MiB", "NOSPACE", "40"}, nil},
		{"a learner that joined anew", "master-3", []event.Event{event.MembersChanged{Members: three},
			event.MembersChanged{Members: append(three[:2:2], event.StoreMember{Name: "master-3", ID: "master-3#2", Learner: true})}},
			[]string{"◐ ", "learner", "master-3#2", "2 voters, quorum 2, can lose 0"}, []string{"☆"}},
		{"a damaged disk", "master-2", []event.Event{event.DiskChanged{Member: "master-2", State: "zeroed", Text: "page 7\x1b[31m is zeros"}},
			[]string{"zeros", "page 7", "is zeros"}, []string{"\x1b"}},
		{"a failpoint that waits, and one that was stepped on", "master-2", []event.Event{event.TrapSet{Member: "master-2", Point: "before-store-vote", Action: "stall", Delay: 300 * time.Millisecond, Skip: 2},
			event.TrapSprung{Member: "master-2", Point: "after-store-log", Action: "kill"}}, []string{"before-store-vote: stall 300ms", "2", "after-store-log: kill"}, nil},
		{"a backup and a restore", "master-1", []event.Event{event.StoreBackedUp{File: "a.backup", Revision: 30}, event.StoreRestored{File: "b.backup", Revision: 20}}, []string{"a.backup", "30", "b.backup", "20"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tape := fixture.Healthy(1)
			recs := append([]event.Record(nil), tape.Records...)
			for _, e := range c.events {
				recs = append(recs, event.Record{Seq: event.Seq(len(recs) + 1), At: tape.At().Add(time.Second), Actor: event.On("etcd", c.member), Event: e})
			}
			f := viewtest.Frame(recs, 120, 40)
			var got string
			for _, r := range describe.Overview(f, describe.SubjectOf(f, target.Target{Kind: target.Process, Host: c.member, Process: "etcd"})) {
				got += r.Label + " " + r.Text() + "\n"
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("nothing says %q:\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("it says %q:\n%s", not, got)
				}
			}
		})
	}
}
