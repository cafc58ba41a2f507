package raftstore

import (
	"slices"
	"strings"
	"testing"
)

// Each word is what the members say, one letter a member: capitals vote, small ones learn, '.' has said nothing.
func TestOnlyAMajorityOfTheVotersSaysWhoDiffers(t *testing.T) {
	for _, c := range []struct {
		said, odd string
		split     bool
	}{
		{"AAA", "", false},
		{"A", "", false},
		{"AB.", "", false},
		{"AAB", "3", false},
		{"BA.A", "", false}, // two of four are no majority
		{"AB", "", true},
		{"ABC", "", true},
		{"AAa", "", false},
		{"AAb", "3", false},
		{"AABa", "3", false},
		{"AABb", "34", false},
		{"AB.b", "", false}, // a learner makes no majority
		{"ABb", "", true},
		{"..a", "", false},
	} {
		var m Membership
		p := place{said: make(map[string]uint64)}
		for i, r := range c.said {
			name := string(rune('1' + i))
			m.Members = append(m.Members, Member{Name: name, ID: name, Learner: r >= 'a'})
			if r != '.' {
				p.said[name] = uint64(strings.ToUpper(string(r))[0])
			}
		}
		for range 20 { // maps have no order
			odd, split := p.judge(m)
			slices.Sort(odd)
			if got := strings.Join(odd, ""); got != c.odd || split != c.split {
				t.Errorf("%s: %q differ, split %v; want %q, %v", c.said, got, split, c.odd, c.split)
				break
			}
		}
	}
}
