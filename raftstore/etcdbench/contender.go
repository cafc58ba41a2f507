package main

import (
	"context"
	"fmt"
	"time"
)

// contender is a store of three members that run in this process. Calls of put and watch go to the member that leads.
type contender interface {
	// lead waits for a leader and returns its place.
	lead(ctx context.Context) (int, error)
	// put writes through the member at a place and returns when that member has acknowledged it.
	put(ctx context.Context, member int, key string, value []byte) error
	// get reads linearizably.
	get(ctx context.Context, member int, key string) error
	// compact drops all history.
	compact(ctx context.Context) error
	// watch calls deliver with the number of events of each delivery for one key. It returns when the watch is in place.
	watch(ctx context.Context, member int, key string, deliver func(events int)) error
	// kill ends a member as a crash would, without handing anything over; start brings it back from its disk and waits until it serves.
	kill(member int) error
	start(member int) error
	close() error
}

// members are the places of the contenders' members.
const members = 3

// open starts the contender of that name on a folder.
func open(name, dir string, sync bool) (contender, error) {
	switch name {
	case etcdName:
		return openEtcd(dir, sync)
	case raftstoreName:
		return openRaftstore(dir, sync)
	}
	return nil, fmt.Errorf("no contender %q", name)
}

// await asks until ok, for at most a minute.
func await(what string, ok func() bool) error {
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("no %s within a minute", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}
