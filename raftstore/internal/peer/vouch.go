package peer

import "github.com/hashicorp/raft"

// vouch lowers a request's commit index to the last entry that the request itself speaks for. That is the rule of the Raft paper (figure 2: the minimum of leaderCommit and the index of
// the last new entry); raft takes the minimum with the end of its own log instead. Behind the entries of the request that log may go on with what an earlier leader never got committed,
// most often this member itself, and raft would apply that as if it were: two members with different entries under one number. It comes to that when a former leader with more than one
// such entry is back, and the first that the new leader sends it fit: with few entries a message, or with more of them left over than fit into one.
func vouch(a *raft.AppendEntriesRequest) {
	a.LeaderCommitIndex = min(a.LeaderCommitIndex, a.PrevLogEntry+uint64(len(a.Entries)))
}
