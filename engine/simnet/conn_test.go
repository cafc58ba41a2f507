package simnet

import (
	"errors"
	"testing"
	"time"

	"example.com/kubeviz/engine/sim"
)

func TestHangingUpEndsWhatIsOpenAndNothingElse(t *testing.T) {
	s := newSite(t, 1)
	var conn Conn
	ends := map[string]time.Duration{}
	call := func(name string, c *Conn, begin time.Duration, broken bool) {
		s.l.Spawn(s.cg, name, func(p *sim.Proc) {
			p.Sleep(begin)
			to := server
			if broken {
				to.Host = "nowhere" // packets vanish: the call keeps sending
			}
			_, err := CallOn(p, s.Net, c, client, to, 30*time.Second, func(sp *sim.Proc) int { sp.Sleep(20 * time.Second); return 1 })
			if (err != nil) != (c != nil) || (err != nil && !errors.Is(err, ErrClosed)) {
				t.Errorf("%s: %v", name, err)
			}
			ends[name] = p.Now().Sub(start).Round(time.Second)
		})
	}
	call("being answered", &conn, 0, false)
	call("being sent", &conn, 0, true)
	call("on no connection", nil, 0, false)
	st := Open[int](s.Net, server, client, nil, s.sg)
	Carry(&conn, st)
	s.at(5*time.Second, conn.HangUp)
	s.run(time.Minute)
	if ends["being answered"] != 5*time.Second || ends["being sent"] != 5*time.Second || ends["on no connection"] != 20*time.Second {
		t.Errorf("ended at %v", ends)
	}
	if !st.Closed() {
		t.Error("the stream is still open")
	}
	if len(conn.open) != 0 {
		t.Errorf("%d things still registered", len(conn.open))
	}
}
