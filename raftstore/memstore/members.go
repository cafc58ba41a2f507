package memstore

import (
	"context"
	"errors"
	"io"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
)

var errNotYet = errors.New("not offered yet")

func (c *Cluster) Membership() raftstore.Membership {
	var m raftstore.Membership
	for _, name := range c.Members() {
		m.Members = append(m.Members, raftstore.Member{Name: name, ID: name})
	}
	return m
}

func (c *Cluster) AddMember(_ context.Context, _ string, done func(raftstore.Written)) {
	done(raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet})
}

func (c *Cluster) PromoteMember(_ context.Context, _ string, done func(raftstore.Written)) {
	done(raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet})
}

func (c *Cluster) RemoveMember(_ context.Context, _ string, done func(raftstore.Written)) {
	done(raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet})
}

func (c *Cluster) Backup(string, io.Writer) (raftstore.BackupInfo, error) {
	return raftstore.BackupInfo{}, errNotYet
}
func (c *Cluster) Restore(io.Reader) (raftstore.BackupInfo, error) {
	return raftstore.BackupInfo{}, errNotYet
}
func (c *Cluster) SetQuota(int64)                                    {}
func (c *Cluster) SetDisk(string, failure.Disk, time.Duration) error { return errNotYet }
func (c *Cluster) Traps() *failure.Traps                             { return &failure.Traps{} }
func (c *Cluster) Advance(time.Time)                                 {}
