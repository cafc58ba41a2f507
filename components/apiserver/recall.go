package apiserver

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
)

// Recall answers a read at once out of the watch cache, as of the version that holds, for somebody who looks at a cluster whose time stands still: nothing is asked of the store, nothing
// is counted or journalled, and no version is waited for.
func (s *Server) Recall(r *kubeapi.Request) *kubeapi.Response {
	rq := s.taken(nil, r, s.proc.Loop.Now())
	resp, err := s.recall(rq)
	if resp == nil {
		resp = &kubeapi.Response{}
	}
	resp.Err = err
	return resp
}

func (s *Server) recall(rq *request) (*kubeapi.Response, error) {
	if err := s.admitted(nil, rq); err != nil {
		return nil, err
	}
	switch {
	case rq.Kind == nil:
		return s.path(rq), nil
	case rq.res == nil || (rq.Subresource != "" && rq.Subresource != "status" && rq.Subresource != "scale"):
		return nil, apierrors.NewServiceUnavailable("the simulated cluster is paused")
	case !s.cache.synced:
		return nil, reinitializing()
	case rq.Verb == kubeapi.List:
		if err := rq.checkFields(); err != nil {
			return nil, err
		}
		if rq.Continue != "" {
			return nil, apierrors.NewResourceExpired("the simulated cluster is paused: further pages of a list are read when it goes on")
		}
		out := s.cache.list(rq, 0)
		out.Causes = make([]event.Seq, len(out.Items))
		return out, nil
	case rq.Verb != kubeapi.Get:
		return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	obj, ok := s.cache.kinds[rq.Kind].items.Get(rq.Kind.Key(rq.Namespace, rq.Name))
	if !ok {
		return nil, notFound(rq.Kind, rq.Name)
	}
	if rq.Subresource == "scale" {
		return written(scaleOf(rq.res, obj)), nil
	}
	return written(obj), nil
}
