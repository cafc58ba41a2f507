package engine

import (
	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/apiserver/connect"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/simnet"
)

// connectors are the ways of an API server on this machine to the kubelets of all machines.
func (m *machine) connectors(from simnet.Addr) map[string]apiserver.Connector {
	out := map[string]apiserver.Connector{}
	ways := connect.Pods(connect.Config{Net: m.e.net, From: from, Kubelet: func(node string) (kubeapi.Kubelet, string, bool) {
		n := m.e.byHost[node]
		if n == nil {
			return nil, "", false
		}
		if n.kubelet == nil || n.programs["kubelet"] == nil {
			return nil, n.ip(), true
		}
		return n.kubelet, n.ip(), true
	}})
	for name, way := range ways {
		out[name] = way
	}
	return out
}

// meter finds the door at which the kubelet of a machine tells what is used.
func (e *Engine) meter(node string) kubeapi.Meter {
	m := e.byHost[node]
	if m == nil || m.kubelet == nil || m.programs["kubelet"] == nil {
		return nil
	}
	return m.kubelet
}
