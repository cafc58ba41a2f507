package apiserver

import (
	"errors"
	"strings"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/simnet"
)

// Why a watch ended, as event.WatchClosed says it.
const (
	watchTimeUp     = "its time was up"
	watchTooSlow    = "the client was too slow"
	watchBeginAnew  = "the server's picture began anew"
	watchRedefined  = "the kind was defined anew, or no more"
	watchLeft       = "the client closed it"
	watchReset      = "connection reset"
	watchLinkIsDead = "connection timed out"
)

// announce journals that a watch is open, and its end when it comes. A server that is dead says nothing any more.
func (c *cache) announce(w *watcher, after int64) {
	s := c.server
	by := client(w.rq.From)
	opened := event.WatchOpened{Server: s.proc.Addr.Host, Watch: w.id, Resource: w.rq.Kind.String(), Namespace: w.rq.Namespace, Selector: selector(w.rq.Request),
		User: w.rq.user.Name, Client: by, Revision: after}
	cause := w.rq.record
	if cause == 0 {
		cause = w.rq.Cause
	}
	began := s.emit(cause, opened)
	w.stream.OnClose(func() {
		if !s.proc.Group.Dead() {
			s.emit(began, event.WatchClosed{Server: opened.Server, Watch: w.id, Resource: opened.Resource, Client: by, Reason: w.ended()})
		}
	})
}

// client is a process as an actor; the user's tools are the user.
func client(from simnet.Addr) event.Actor {
	if from.Host == string(event.You) {
		return event.You
	}
	return event.On(from.Process, from.Host)
}

func (w *watcher) ended() string {
	switch err := w.stream.Err(); {
	case w.reason != "":
		return w.reason
	case errors.Is(err, kubeapi.ErrTooSlow):
		return watchTooSlow
	case errors.Is(err, simnet.ErrTimeout):
		return watchLinkIsDead
	case errors.Is(err, simnet.ErrReset):
		return watchReset
	}
	return watchLeft
}

// selector writes the selectors of a request as its URL would.
func selector(r *kubeapi.Request) string {
	var parts []string
	if r.Fields != nil && !r.Fields.Empty() {
		parts = append(parts, "fieldSelector="+r.Fields.String())
	}
	if r.Labels != nil && !r.Labels.Empty() {
		parts = append(parts, "labelSelector="+r.Labels.String())
	}
	return strings.Join(parts, "&")
}
