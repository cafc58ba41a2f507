package apiserver

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/apiserver/flowcontrol"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
)

// longRunning are the subresources whose requests last as long as the client likes and so take no seat (as the server's long-running-request check).
var longRunning = []string{"attach", "exec", "log", "portforward", "proxy"}

// seat lets a request wait for its turn. A watch holds a seat only until it is open.
func (s *Server) seat(p *sim.Proc, rq *request) error {
	if p == nil || slices.Contains(longRunning, rq.Subresource) {
		return nil // p == nil: somebody looks at a cluster whose time stands still
	}
	rq.enter(stageFlow)
	a := flowcontrol.Attributes{User: rq.user, Verb: string(rq.Verb), Namespace: rq.Namespace, Subresource: rq.Subresource, Path: rq.Path}
	if rq.Kind != nil {
		a.Group, a.Resource = rq.Kind.Group, rq.Kind.Resource
	}
	rq.level = flowcontrol.LevelOf(a)
	v, free := s.flow.Enter(p, a, s.width(rq), rq.deadline.Sub(p.Now()))
	rq.free = free
	if v.Refused != "" {
		rq.leave(v.Words())
		return tooMany(rq)
	}
	if rq.record != 0 || v.Waited > 0 {
		rq.leave(v.Words())
	}
	return nil
}

// Seats that a list takes: one for each so many objects that may have to be looked at (as pkg/util/flowcontrol/request).
const (
	objectsPerSeat = 100
	seatsMax       = 10
)

// width is how many seats a request takes.
func (s *Server) width(rq *request) int {
	if rq.Verb != kubeapi.List || rq.Kind == nil {
		return 1
	}
	kind := s.cache.kinds[rq.Kind]
	if kind == nil {
		return 1
	}
	n := kind.items.Len()
	if rq.Limit > 0 {
		n = min(n, int(rq.Limit))
	}
	return max(1, min(seatsMax, (n+objectsPerSeat-1)/objectsPerSeat))
}

// tooManyText is what the real server writes as plain text.
const tooManyText = "Too many requests, please try again later."

// tooMany is how clients read that text (client-go makes it of any answer that is no Status).
func tooMany(rq *request) error {
	gr := schema.GroupResource{}
	if rq.Kind != nil {
		gr = rq.Kind.GR()
	}
	return apierrors.NewGenericServerResponse(http.StatusTooManyRequests, method(rq.Verb), gr, rq.Name, tooManyText, 1, true)
}

// method is the HTTP method of a verb, in small letters.
func method(v kubeapi.Verb) string {
	switch v {
	case kubeapi.Create:
		return "post"
	case kubeapi.Update:
		return "put"
	case kubeapi.Patch:
		return "patch"
	case kubeapi.Delete, kubeapi.DeleteCollection:
		return "delete"
	}
	return "get"
}
