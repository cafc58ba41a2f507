// Package robust proves the store: recorded histories (history), the checks that judge them (check), a swarm of faults in virtual time (swarm), and, in its tests, real kills of a real
// process and bugs planted on purpose.
//
//	go test ./raftstore/robust/...                                            a slice of each
//	KUBEVIZ_SWARM_SEEDS=2000 go test ./raftstore/robust -run Swarm -timeout 2h  many seeds; KUBEVIZ_SWARM_FROM=n begins at another than 1
//	KUBEVIZ_KILL_CYCLES=500 go test ./raftstore/robust -run Killed -timeout 1h  many kill -9; KUBEVIZ_KILL_FROM=n as above
//	go test -tags planted ./raftstore/robust -run Planted -timeout 2h           every planted bug is found within 500 seeds, two minutes in all; with -short those that
//	                                                                          show within a few (.ci/run does that); KUBEVIZ_PLANTED_SEEDS=n and
//	                                                                          KUBEVIZ_PLANTED_ONLY=names, with commas between, narrow it
//	KUBEVIZ_HISTORY=file go test ./raftstore/robust -run HistoryInAFile -v      judges again what a failed run left
//
// A run that breaks a promise leaves its history, one JSON line per event, in KUBEVIZ_HISTORIES (kubeviz-histories in the temporary folder), and its name in the test's output. A seed fixes
// what is drawn from it and not how goroutines are scheduled, so that history is the evidence; the first seed that fails is run 20 times more, to tell how often it does.
//
// A run counts only with 200 acknowledged writes and three changes of leader; where more than a fifth do not count the test fails.
//
// Imports of ours: as its parts. Time: virtual in the swarm, wall where processes are killed. Goroutines: as its parts.
package robust
