package raftstore

import "io"

func (c *RaftCluster) Backup(string, io.Writer) (BackupInfo, error) {
	return BackupInfo{}, errNotYet
}
func (c *RaftCluster) Restore(io.Reader) (BackupInfo, error) { return BackupInfo{}, errNotYet }
