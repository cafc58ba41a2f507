package apiserver

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/apiserver/bootstrap"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// ensureRoles is the start hook rbac/bootstrap-roles: it makes the roles and bindings that a cluster starts with, and gives back to those that exist what they miss. What is as
// it should be costs no request, so that a restart writes nothing.
func (s *Server) ensureRoles(p *sim.Proc) {
	for !s.cache.synced {
		s.cache.moved.Wait(p)
	}
	for _, want := range bootstrap.Policy() {
		s.ensure(p, want, bootstrap.Reconcile)
	}
	for _, want := range s.cfg.Founding {
		s.ensure(p, want, func(have, _ kinds.Object) (kinds.Object, bootstrap.Action) { return have, bootstrap.Nothing })
	}
}

// ensureRetry is the pause after a request of a start hook that failed.
const ensureRetry = time.Second

// ensure makes an object, or what reconcile says of the one that exists, trying until it works.
func (s *Server) ensure(p *sim.Proc, want kinds.Object, reconcile func(have, want kinds.Object) (kinds.Object, bootstrap.Action)) {
	k := kinds.MustOf(want)
	do := func(r kubeapi.Request) error {
		r.Kind, r.Namespace, r.Name, r.User, r.Manager, r.From, r.Cause = k, want.GetNamespace(), want.GetName(), loopback, "kube-apiserver", s.proc.Addr, s.proc.Cause
		return s.Serve(p, &r).Err
	}
	have := s.cache.held(k, want.GetNamespace(), want.GetName())
	for {
		var err error
		action, next := bootstrap.Nothing, want
		if have != nil {
			next, action = reconcile(have, want)
			if action == bootstrap.Nothing {
				return
			}
		}
		if action == bootstrap.Recreate {
			err = kubeapi.IgnoreNotFound(do(kubeapi.Request{Verb: kubeapi.Delete}))
		}
		switch {
		case err != nil:
		case action == bootstrap.Update:
			err = do(kubeapi.Request{Verb: kubeapi.Update, Object: next.DeepCopyObject().(kinds.Object)})
		default:
			err = do(kubeapi.Request{Verb: kubeapi.Create, Object: want.DeepCopyObject().(kinds.Object)})
		}
		if err == nil {
			return
		}
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			p.Sleep(ensureRetry)
		}
		// Another server has been at it too: its version is the one to look at.
		r := kubeapi.Request{Verb: kubeapi.Get, Kind: k, Namespace: want.GetNamespace(), Name: want.GetName(), User: loopback, Manager: "kube-apiserver", From: s.proc.Addr, Cause: s.proc.Cause}
		resp := s.Serve(p, &r)
		have = resp.Object
	}
}
