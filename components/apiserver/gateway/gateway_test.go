package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// told counts what is journalled.
type told struct{ came, gone int }

func (t *told) Emit(_ event.Actor, _ event.Seq, e event.Event) event.Seq {
	switch e.(type) {
	case event.ClientConnected:
		t.came++
	case event.ClientGone:
		t.gone++
	}
	return 1
}

// A loop takes in what is ordered (Control) and what is posted from two boxes. A request that is posted between the two must not find its client missing, which would reset the connection
// of a program that has only just come.
func TestARequestThatOvertakesTheComingOfItsClientIsCarried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sim.New(sim.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 1, Rate: sim.Unpaced})
		journal := &told{}
		net := simnet.New(l)
		g := New(Config{Loop: l, Net: net, Sink: journal})
		asked := errors.New("asked")
		d := &Door{Name: "balancer", Server: func() *apiserver.Server { return nil }, Dial: func(from simnet.Addr) *kubeapi.Dialer {
			return &kubeapi.Dialer{Net: net, From: from, Pick: func(*sim.Proc) (kubeapi.Endpoint, error) { return kubeapi.Endpoint{}, asked }}
		}}
		var c *Client
		got := make(chan error, 1)
		l.Control(func() { // the loop is taking orders: a further one waits, and what is posted now does not
			c = g.Enter(d, Hello{})
			go func() {
				_, err := c.Do(context.Background(), &kubeapi.Request{Verb: kubeapi.Get})
				got <- err
			}()
			synctest.Wait()
		})
		if err := l.RunUntil(context.Background(), l.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, asked) {
			t.Errorf("%v, want what the way to the server said", err)
		}
		if err := l.RunUntil(context.Background(), l.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		c.Leave()
		if err := l.RunUntil(context.Background(), l.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if journal.came != 1 || journal.gone != 1 {
			t.Errorf("came %d times, left %d times", journal.came, journal.gone)
		}
	})
}
