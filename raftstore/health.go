package raftstore

import "slices"

// standing is a member as the leader sees it.
type standing struct {
	Member
	// started: it ran at some time; active: it was heard a moment ago, and votes if it is a voter (one whose disk was wiped does not until a leader has caught it up).
	started, active bool
	// match is how far its log is known to be the leader's.
	match uint64
}

// readyPercent of the leader's log is what a learner needs to be promoted (etcd's readyPercentThreshold).
const readyPercent = 0.9

// mayChange is etcd's strict reconfiguration check (server.go: mayAddMember, isLearnerReady, mayRemoveMember; membership/cluster.go: IsReadyTo…, ValidateConfigurationChange). It refuses
// what would leave a quorum that cannot be had with the members at work. last is the end of the leader's log.
func mayChange(q configureQuestion, now []standing, last uint64) error {
	i := slices.IndexFunc(now, func(s standing) bool { return s.Name == q.name })
	voters := 0
	for _, s := range now {
		if !s.Learner {
			voters++
		}
	}
	if q.change == addLearner {
		return mayAdd(i >= 0, now, voters)
	}
	if i < 0 {
		return ErrMemberNotFound
	}
	if it := now[i]; q.change == promote {
		switch {
		case !it.Learner:
			return ErrMemberNotLearner
		case it.match == 0 || float64(it.match) < readyPercent*float64(last):
			return ErrLearnerNotReady
		case startedBut(now, i)+1 < (voters+1)/2+1:
			return ErrNotEnoughStarted
		}
		return nil
	}
	return mayRemove(now, i, voters)
}

func mayAdd(exists bool, now []standing, voters int) error {
	switch {
	case exists:
		return ErrMemberExists
	case len(now) > voters:
		return ErrTooManyLearners
	case len(now) >= membersMax:
		return errManyMembers
	case slices.ContainsFunc(now, func(s standing) bool { return !s.active }):
		return ErrUnhealthy
	}
	return nil
}

func mayRemove(now []standing, i, voters int) error {
	it := now[i]
	if it.Learner {
		return nil
	}
	if startedBut(now, i) < (voters-1)/2+1 {
		return ErrNotEnoughStarted
	}
	if !it.active {
		return nil // it is no part of the quorum at work
	}
	active := 0
	for _, s := range now {
		if !s.Learner && s.active {
			active++
		}
	}
	if active-1 < (voters-1)/2+1 {
		return ErrUnhealthy
	}
	return nil
}

// startedBut counts the voters that have started, without one.
func startedBut(now []standing, i int) int {
	n := 0
	for j, s := range now {
		if j != i && !s.Learner && s.started {
			n++
		}
	}
	return n
}
