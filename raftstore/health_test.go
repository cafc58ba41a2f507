package raftstore

import (
	"errors"
	"fmt"
	"testing"
)

// members are drawn as a word: V a voter at work, v one that is not, L a learner at work, l one that never started.
func drawn(word string, match ...uint64) []standing {
	var all []standing
	for i, r := range word {
		s := standing{Member: Member{Name: fmt.Sprint("m", i), ID: fmt.Sprint("m", i)}, active: r == 'V' || r == 'L', started: r != 'l'}
		s.Learner = r == 'L' || r == 'l'
		if i < len(match) {
			s.match = match[i]
		}
		all = append(all, s)
	}
	return all
}

func TestChangesThatWouldCostTheQuorumAreRefusedAsEtcdDoes(t *testing.T) {
	for _, c := range []struct {
		name    string
		members string
		change  changeKind
		who     string
		want    error
	}{
		{"add to three at work", "VVV", addLearner, "m3", nil},
		{"add to one", "V", addLearner, "m1", nil},
		{"add to an even number", "VVVV", addLearner, "m4", nil},
		{"add to three of which one is dead: replace it first", "VVv", addLearner, "m3", ErrUnhealthy},
		{"add who is there", "VVV", addLearner, "m1", ErrMemberExists},
		{"add a second learner", "VVVL", addLearner, "m4", ErrTooManyLearners},
		{"add a second learner where the first never started", "VVVl", addLearner, "m4", ErrTooManyLearners},
		{"add a tenth", "VVVVVVVVV", addLearner, "m9", errManyMembers},
		{"remove the dead one of three", "VVv", remove, "m2", nil},
		{"remove one of the two at work of three", "VVv", remove, "m1", ErrUnhealthy},
		{"remove one of three at work", "VVV", remove, "m1", nil},
		{"remove one of four of which one is dead", "VVVv", remove, "m1", nil},
		{"remove one of five of which one is dead", "VVVVv", remove, "m1", nil},
		{"remove one of two", "VV", remove, "m1", nil},
		{"remove the last voter", "V", remove, "m0", ErrNotEnoughStarted},
		{"remove the last voter beside a learner", "VL", remove, "m0", ErrNotEnoughStarted},
		{"remove a learner, whatever the others do", "VvvL", remove, "m3", nil},
		{"remove a learner that never started", "VVVl", remove, "m3", nil},
		{"remove who is not there", "VVV", remove, "m7", ErrMemberNotFound},
		{"promote who is not there", "VVV", promote, "m7", ErrMemberNotFound},
		{"promote a voter", "VVV", promote, "m1", ErrMemberNotLearner},
		{"promote one that never started", "VVVl", promote, "m3", ErrLearnerNotReady},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := mayChange(configureQuestion{change: c.change, name: c.who}, drawn(c.members), 100); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestALearnerIsReadyWithNineTenthsOfTheLog(t *testing.T) {
	for match, want := range map[uint64]error{0: ErrLearnerNotReady, 1: ErrLearnerNotReady, 89: ErrLearnerNotReady, 90: nil, 100: nil} {
		if err := mayChange(configureQuestion{change: promote, name: "m3"}, drawn("VVVL", 100, 100, 100, match), 100); !errors.Is(err, want) {
			t.Errorf("%d of 100 entries: %v, want %v", match, err, want)
		}
	}
}
