package raftstore

import (
	"reflect"
	"testing"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

func TestAnEntryIsNamedAfterTheMostTellingOfWhatItHolds(t *testing.T) {
	write := peer.Command{Kind: peer.Txn, Txn: mvcc.Txn{Tag: 7, Then: []mvcc.Op{{Key: "a"}, {Key: "b", Delete: true}}}}
	alarm := mvcc.Alarm{Kind: mvcc.NoSpace, Member: "m"}
	compact, raise := peer.Command{Kind: peer.Compact, Compact: 3}, peer.Command{Kind: peer.Raise, Alarm: alarm}
	grant, expire := peer.Command{Kind: peer.Grant, Lease: 1, TTL: 5}, peer.Command{Kind: peer.Expire, Lease: 2}
	writes := []LogWrite{{Key: "a", Tag: 7}, {Key: "b", Delete: true, Tag: 7}}
	for name, tc := range map[string]struct {
		commands []peer.Command
		want     LogEntry
	}{
		"nothing":                       {nil, LogEntry{Kind: "mark"}},
		"a compaction":                  {[]peer.Command{compact}, LogEntry{Kind: "compaction"}},
		"an alarm and a compaction":     {[]peer.Command{compact, raise}, LogEntry{Kind: "alarm", Alarm: alarm}},
		"all alarms lifted":             {[]peer.Command{{Kind: peer.Disarm}}, LogEntry{Kind: "alarm"}},
		"two leases and an alarm":       {[]peer.Command{grant, raise, expire}, LogEntry{Kind: "lease", Leases: 2, Alarm: alarm}},
		"a write and everything else":   {[]peer.Command{compact, grant, write}, LogEntry{Kind: "write", Leases: 1, Writes: writes}},
		"a write whose compares failed": {[]peer.Command{{Txn: mvcc.Txn{Else: []mvcc.Op{{Key: "e"}}}}}, LogEntry{Kind: "write", Writes: []LogWrite{{Key: "e"}}}},
	} {
		if got := describeCommands(LogEntry{Kind: "mark"}, tc.commands); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestAConfigurationNamesItsMembersAndOneThatCannotBeReadNamesNone(t *testing.T) {
	b := raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{Suffrage: raft.Voter, ID: "m#2", Address: "m"}, {Suffrage: raft.Nonvoter, ID: "n", Address: "n"}}})
	if got, want := configured(b), []Member{{Name: "m", ID: "m#2"}, {Name: "n", ID: "n", Learner: true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := configured([]byte("no configuration")); got != nil {
		t.Errorf("%+v", got)
	}
}
