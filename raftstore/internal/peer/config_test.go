package peer

import "testing"

// A follower whose answers are lost is ahead of what its leader knows by what one request carries. Its log must reach back further than that (found by a swarm: the two exchanged one snapshot
// for ever, without a pause).
func TestOneRequestCarriesLessThanALogKeeps(t *testing.T) {
	for _, trailing := range []uint64{2, 3, 10, 64, 65, 2048} {
		p := &Peer{conf: Config{Name: "m1", Timing: Timing{TrailingLogs: trailing}}}
		if got := p.raftConfig().MaxAppendEntries; got < 1 || uint64(got) >= trailing {
			t.Errorf("%d entries a request, %d kept", got, trailing)
		}
	}
}
