package raftstore

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

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
		var text []byte
		if text, err = json.Marshal(members); err == nil {
			err = peer.WriteWhole(filepath.Join(dir, membersFile), text, sync)
		}
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}
