package apiserver

import (
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// action answers requests for a subresource that is no part of the object.
type action func(s *Server, p *sim.Proc, rq *request) (*kubeapi.Response, error)

// actionOf finds the action behind a subresource; nil: it is a part of the object, which is read and written as such.
func actionOf(subresource string) action {
	switch subresource {
	case "scale":
		return (*Server).scale
	case "binding":
		return (*Server).bind
	case "token":
		return (*Server).token
	case "eviction":
		return (*Server).evict
	case "log", "exec", "attach", "portforward":
		return (*Server).connect
	case "proxy":
		return (*Server).proxy
	}
	return nil
}

// checkVerb refuses verbs that a subresource does not have.
func (rq *request) checkVerb() error {
	if rq.Subresource == "" {
		return nil
	}
	sub, _ := rq.Kind.Subresource(rq.Subresource)
	if !slices.Contains(sub.Verbs, string(rq.Verb)) {
		return apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	return nil
}

// noSuchPath is the answer to what is not served at all.
func noSuchPath() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{}, Message: "the server could not find the requested resource"}}
}

// A Connector answers a subresource that leads to a process on a node, or into a pod: logs, commands, ports. The object exists, and the user may.
type Connector func(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error)

// connect hands a request on to the connector of its subresource.
func (s *Server) connect(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	if rq.Verb == kubeapi.Get && rq.Subresource != "log" { // by WebSocket, which begins with GET: it runs something all the same
		a := rq.attributes()
		a.Verb = string(kubeapi.Create)
		if ok, why := s.access.chain.Authorize(a); !ok {
			return nil, forbidden(a, why)
		}
	}
	rq.enter(stageStore)
	obj, err := s.current(p, rq)
	if err != nil {
		return nil, err
	}
	if c := s.cfg.Connectors[rq.Kind.Resource+"/"+rq.Subresource]; c != nil {
		return c(p, rq.Request, obj)
	}
	return nil, notServed(rq)
}

func notServed(rq *request) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotImplemented,
		Details: &metav1.StatusDetails{Group: rq.Kind.Group, Kind: rq.Kind.Resource, Name: rq.Name},
		Message: fmt.Sprintf("%s of %s %q is not served by this cluster", rq.Subresource, rq.Kind.GR(), rq.Name)}}
}
