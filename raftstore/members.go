package raftstore

import (
	"context"
	"errors"
	"io"
	"time"

	"example.com/kubeviz/raftstore/failure"
)

var errNotYet = errors.New("not offered yet")

func (c *RaftCluster) Membership() Membership {
	var m Membership
	for _, name := range c.opt.Members {
		m.Members = append(m.Members, Member{Name: name, ID: name})
	}
	return m
}

func (c *RaftCluster) AddMember(_ context.Context, _ string, done func(Written)) {
	done(Written{Outcome: Refused, Err: errNotYet})
}

func (c *RaftCluster) PromoteMember(_ context.Context, _ string, done func(Written)) {
	done(Written{Outcome: Refused, Err: errNotYet})
}

func (c *RaftCluster) RemoveMember(_ context.Context, _ string, done func(Written)) {
	done(Written{Outcome: Refused, Err: errNotYet})
}

func (c *RaftCluster) Backup(string, io.Writer) (BackupInfo, error)      { return BackupInfo{}, errNotYet }
func (c *RaftCluster) Restore(io.Reader) (BackupInfo, error)             { return BackupInfo{}, errNotYet }
func (c *RaftCluster) SetDisk(string, failure.Disk, time.Duration) error { return errNotYet }
func (c *RaftCluster) Traps() *failure.Traps                             { return &failure.Traps{} }
