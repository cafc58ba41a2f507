package balancer_test

import (
	"testing"
	"time"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/balancer"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// C-12: through the load balancer the API goes on when a master dies; a client notices one failed call at most.
func TestAClientReachesAnotherAPIServerWhenItsOwnDies(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	addr := simnet.Addr{Host: "balancer", Process: "haproxy"}
	c.Net.SetHost(addr.Host, true)
	names := []string{"master-1", "master-2", "master-3"}
	b := balancer.Start(balancer.Config{Loop: c.Loop, Net: c.Net, Sink: c.Journal, Group: c.Loop.NewGroup("balancer/haproxy"), Addr: addr,
		Backends: func() []balancer.Backend {
			var out []balancer.Backend
			for _, m := range names {
				s := c.Servers[m]
				out = append(out, balancer.Backend{Host: m, Endpoint: kubeapi.Endpoint{Addr: simnet.Addr{Host: m, Process: "apiserver"}, Server: s},
					Ready: func(*sim.Proc) (bool, string) { return s.Ready() }})
			}
			return out
		}})
	c.Run(time.Second)
	pr := c.Process("worker-1", "kubelet", apitest.Admin)
	d := &kubeapi.Dialer{Net: c.Net, From: pr.Addr, Pick: b.Pick, Via: &addr}
	pr.Client.Transport = d
	list := func() (err error) {
		c.DoAs(pr, func(p *sim.Proc, client *kubeapi.Client) {
			_, _, err = kubeapi.FetchList[kinds.Object](p, client.WithTimeout(5*time.Second), kinds.Namespaces, kubeapi.ListOptions{})
		})
		return err
	}
	if err := list(); err != nil {
		t.Fatal(err)
	}
	first := d.Connected()
	c.Net.SetHost(first, false)
	if err := list(); err == nil {
		t.Fatalf("a call to %s, which is off, was answered", first)
	}
	if err := list(); err != nil || d.Connected() == first {
		t.Fatalf("second call: %v, on %s", err, d.Connected())
	}
}
