package raftstore_test

import (
	"testing"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/storetest"
)

func open(t *testing.T, o raftstore.Options) raftstore.Cluster {
	t.Helper()
	if o.Rate = 5; o.Dir != "" {
		o.Rate = raftstore.WallRate
	}
	c, err := raftstore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRaftInMemoryIsAStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{Bubble: true, Replicated: true,
		Open: func(t *testing.T, members []string, net raftstore.Network, obs raftstore.Observer) raftstore.Cluster {
			return open(t, raftstore.Options{Members: members, InMemory: true, Network: net, Observer: obs})
		}})
}

func TestRaftThatSnapshotsOftenIsAStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{Bubble: true, Replicated: true,
		Open: func(t *testing.T, members []string, net raftstore.Network, obs raftstore.Observer) raftstore.Cluster {
			return open(t, raftstore.Options{Members: members, InMemory: true, Network: net, Observer: obs,
				SnapshotThreshold: 20, TrailingLogs: 10, SnapshotInterval: 50 * time.Millisecond})
		}})
}

func TestRaftOnFilesIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{Replicated: true,
		Open: func(t *testing.T, members []string, net raftstore.Network, obs raftstore.Observer) raftstore.Cluster {
			return open(t, raftstore.Options{Members: members, Dir: t.TempDir(), Network: net, Observer: obs,
				SnapshotThreshold: 50, TrailingLogs: 20, SnapshotInterval: 50 * time.Millisecond})
		}})
}
