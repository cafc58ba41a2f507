package raftstore

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

const (
	lockFile    = "lock"
	membersFile = "members.json"
)

// claim takes a folder for this process until release is called. It fails, saying why, when the folder cannot be written, another process has it, or what is in it
// belongs to a cluster of other members: raft keeps its list of voters in the log, and a cluster opened with another list would never agree on who votes.
func claim(dir string, members []string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	release, err = lockDir(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	had, err := readRoster(dir)
	if err == nil && had != nil && !had.opens(members) {
		err = had.refusal(dir, members)
	}
	if err == nil && had == nil {
		var text []byte
		if text, err = json.Marshal(members); err == nil {
			err = os.WriteFile(filepath.Join(dir, membersFile), append(text, '\n'), 0o600)
		}
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}
