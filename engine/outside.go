package engine

import (
	"slices"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/components/apiserver/gateway"
	"example.com/kubeviz/components/controller/csrsigning"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Outside is where clients from outside come in.
type Outside struct {
	Gateway *gateway.Gateway
	// Balancer leads through the load balancer, Masters to one API server each.
	Balancer *gateway.Door
	Masters  []*gateway.Door
	// Custom is what each API server serves of kinds that are in no table.
	Custom *custom.Board
}

// SignWith says who makes the certificates that users ask the cluster for: whoever knows them at the doors. Before Run.
func (e *Engine) SignWith(sign csrsigning.Sign) { e.sign = sign }

// Outside opens the cluster for clients from outside. Before Run; once.
func (e *Engine) Outside() *Outside {
	e.outside = true
	g := gateway.New(gateway.Config{Loop: e.loop, Net: e.net, Sink: e.journal})
	o := &Outside{Gateway: g, Balancer: &gateway.Door{Name: "balancer"}, Custom: e.custom}
	haproxy := simnet.Addr{Host: "balancer", Process: "haproxy"}
	o.Balancer.Dial = func(from simnet.Addr) *kubeapi.Dialer {
		return &kubeapi.Dialer{Net: e.net, From: from, Pick: e.lb.Pick, Via: &haproxy}
	}
	o.Balancer.Server = func() *apiserver.Server {
		for _, h := range e.lb.Healthy() {
			if s := e.byHost[h].listening(); s != nil {
				return s
			}
		}
		return nil
	}
	for _, m := range e.machines {
		if m.master {
			o.Masters = append(o.Masters, &gateway.Door{Name: m.host, Server: m.listening, Dial: func(from simnet.Addr) *kubeapi.Dialer {
				return &kubeapi.Dialer{Net: e.net, From: from, Pick: func(*sim.Proc) (kubeapi.Endpoint, error) {
					ep := kubeapi.Endpoint{Addr: m.addr("apiserver")}
					s := m.listening()
					if s == nil {
						return ep, simnet.ErrRefused
					}
					ep.Server = s
					return ep, nil
				}}
			}})
		}
	}
	return o
}

// listening is the machine's API server if it accepts connections; nil: none does.
func (m *machine) listening() *apiserver.Server {
	pg := m.programs["apiserver"]
	if !m.up || pg == nil || pg.server == nil || !pg.server.Listening() {
		return nil
	}
	return pg.server
}

// neighbour tells whether a program of the control plane runs on the machine and is at its work.
func (m *machine) neighbour(name string) bool {
	pg := m.programs[name]
	return pg != nil && !pg.over && slices.Contains(programNames, name)
}
