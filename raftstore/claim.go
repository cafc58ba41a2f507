package raftstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/kubeviz/raftstore/internal/peer"
)

const (
	lockFile    = "lock"
	membersFile = "members.json"
)

// claim takes a folder for this process until release is called. It fails, saying why, when the folder cannot be written, another process has it, its layout is another, or what is in it
// belongs to a cluster of other members: raft keeps its list of voters in the log, and a cluster opened with another list would never agree on who votes.
func claim(dir string, members []string, sync bool) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	release, err = lockDir(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	err = peer.CheckLayout(dir, func() bool {
		_, err := os.Stat(filepath.Join(dir, membersFile))
		return err == nil
	}, sync)
	var had *roster
	if err == nil {
		had, err = readRoster(dir)
	}
	if err == nil && had != nil && !had.opens(members) {
		err = had.refusal(dir, members)
	}
	if err == nil && had == nil {
		err = begin(dir, members, sync)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// begin writes whose store the folder is to hold. That is done before anything of a member is made, and so where it is gone and something of one is there, it was lost: who voted, and under which
// names, nobody knows, and a cluster that began on the rest would be another one that takes its disks for its own.
func begin(dir string, members []string, sync bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), peer.UsedSuffix) {
			return fmt.Errorf("%s says who the members of a store are, and it is gone; but something of one is there (%s): %s", filepath.Join(dir, membersFile), e.Name(), withoutRoster(dir))
		}
	}
	r := newRoster(members)
	r.Cluster = rand.Text()
	return r.write(dir, sync)
}

// withoutRoster is what to do where members.json does not say who the members are.
func withoutRoster(dir string) string {
	return fmt.Sprintf("put the file back; or begin anew in another folder, or in this one when the whole of %s is deleted, where a backup can be restored", dir)
}
