package apiserver

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// ensureThere creates what every cluster has unless it exists, trying until it works.
func (s *Server) ensureThere(p *sim.Proc, obj kinds.Object) {
	k := kinds.MustOf(obj)
	for {
		res, err := s.door.read(p, mvcc.Range{Key: k.Key(obj.GetNamespace(), obj.GetName()), KeysOnly: true}, p.Now().Add(requestTimeout))
		if err == nil && res.Count > 0 {
			return
		}
		if err == nil {
			resp := s.Serve(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName(), User: loopback, Manager: "kube-apiserver", From: s.proc.Addr,
				Cause: s.proc.Cause, Object: obj.DeepCopyObject().(kinds.Object)})
			if resp.Err == nil || apierrors.IsAlreadyExists(resp.Err) {
				return
			}
		}
		p.Sleep(ensureRetry)
	}
}
