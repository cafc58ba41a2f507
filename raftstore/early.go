package raftstore

import (
	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// answerEarly is planted.AckBeforeCommit: it answers writes with what will probably become of them.
func (l *life) answerEarly(term uint64, batch []peer.Encoded) {
	revision := l.revision.Load()
	var outcomes []peer.Outcome
	for _, enc := range batch {
		revision++
		outcomes = append(outcomes, peer.Outcome{ID: enc.ID, Result: mvcc.TxnResult{Succeeded: true, Changed: true, Revision: revision}})
	}
	l.answer(0, term, outcomes)
}
