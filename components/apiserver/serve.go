package apiserver

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Stages of the pipeline, in order (fidelity API-1).
const (
	stageAuthn    = "authentication"
	stageFlow     = event.StageFlow
	stageAuthz    = "authorization"
	stageMutate   = "mutating admission"
	stageValidate = "validation"
	stageAdmit    = "validating admission"
	stageStore    = "store"
)

// request is one request on its way through the pipeline.
type request struct {
	*kubeapi.Request
	res      *resource.Resource
	user     kubeapi.User
	by       kubeapi.User // who acts as user; empty Name: user itself
	refused  error        // the answer to who is not let in
	free     func()       // gives back the seats it works on; nil: it has none
	key      string       // in the store; empty for lists and for creations before the name is made
	received time.Time
	deadline time.Time
	record   event.Seq // RequestReceived; 0 when untraced
	tag      uint64    // what the store's change is to name as its cause

	// applied: the managed fields of the object are those of a server-side apply already. warnings are what the present try has to say to people.
	applied  bool
	warnings []string
	// ports of nodes, as the present try found them in the store; nil: it has not looked.
	ports *portState

	level  string // of priority and fairness
	stages []event.Stage
	began  time.Time // of the present stage
	stage  string
	now    func() time.Time
}

// enter ends the present stage and begins another; a stage entered again adds to its time.
func (rq *request) enter(stage string) {
	rq.leave("")
	rq.stage, rq.began = stage, rq.now()
}

func (rq *request) leave(note string) {
	if rq.stage == "" {
		return
	}
	took := rq.now().Sub(rq.began)
	i := slices.IndexFunc(rq.stages, func(s event.Stage) bool { return s.Stage == rq.stage })
	if i < 0 {
		i = len(rq.stages)
		rq.stages = append(rq.stages, event.Stage{Stage: rq.stage})
	}
	rq.stages[i].Took += took
	if note != "" {
		rq.stages[i].Note = note
	}
	rq.stage = ""
}

// release gives back what the request held.
func (rq *request) release() {
	if rq.free != nil {
		rq.free()
	}
}

// Serve answers everything but watches.
func (s *Server) Serve(p *sim.Proc, r *kubeapi.Request) *kubeapi.Response {
	rq := s.receive(p, r)
	defer s.inflight.enter(rq)()
	defer rq.release()
	resp, err := s.guarded(p, rq)
	return s.answer(rq, resp, err)
}

// guarded keeps one request's panic from ending the server: it is journalled and answered, as Kubernetes' outermost handler does (fidelity API-1).
func (s *Server) guarded(p *sim.Proc, rq *request) (resp *kubeapi.Response, err error) {
	defer func() {
		if p.Killed() {
			return // not a panic: the process is being unwound
		}
		if v := recover(); v != nil {
			s.emit(p.Cause, event.Crashed{Who: fmt.Sprintf("%s %s %s", s.proc.Addr, rq.Verb, rq.asked()), Value: fmt.Sprint(v), Stack: string(debug.Stack())})
			resp, err = nil, apierrors.NewInternalError(fmt.Errorf("panic in request: %v", v))
		}
	}()
	return s.handle(p, rq)
}

// receive takes a request in. What writes is journalled before any work, so that the work can name the record as its cause.
func (s *Server) receive(p *sim.Proc, r *kubeapi.Request) *request {
	rq := s.taken(p, r, p.Now())
	if s.traced(r) {
		rq.record = s.emit(r.Cause, event.RequestReceived{Server: s.proc.Addr.Host, Verb: string(r.Verb), Resource: rq.asked(), Subresource: r.Subresource,
			Namespace: r.Namespace, ObjectName: r.Name, User: rq.user.Name})
		rq.tag = uint64(rq.record)
		p.Cause = rq.record
	}
	return rq
}

// taken is a request that came at an instant, and whom it is from. p may be nil where nothing may be waited for.
func (s *Server) taken(p *sim.Proc, r *kubeapi.Request, now time.Time) *request {
	rq := &request{Request: r, now: s.proc.Loop.Now, received: now, deadline: now.Add(requestTimeout), tag: uint64(r.Cause)}
	if r.Timeout > 0 && r.Timeout < requestTimeout {
		rq.deadline = now.Add(r.Timeout) // the client will have hung up, which ends the work on its request
	}
	id := s.identify(p, rq)
	rq.user, rq.by, rq.refused = id.user, id.by, id.err
	return rq
}

// traced tells requests that are journalled one by one: all that write, but for renewals of Leases, and what clients from outside read and watch.
func (s *Server) traced(r *kubeapi.Request) bool {
	if r.Container != nil && r.Container.Again {
		return false
	}
	switch r.Verb {
	case kubeapi.Get, kubeapi.List, kubeapi.Watch:
		return r.From.Host == kubeapi.Outside && r.Kind != nil
	case kubeapi.Update:
		if l, ok := r.Object.(*coordinationv1.Lease); ok {
			return !s.renewal(l)
		}
	}
	return true
}

// renewal reports that a Lease stays with its holder.
func (s *Server) renewal(l *coordinationv1.Lease) bool {
	obj, ok := s.cache.kinds[kinds.Leases].items.Get(kinds.Leases.Key(l.Namespace, l.Name))
	if !ok || l.Spec.HolderIdentity == nil {
		return false
	}
	have := obj.(*coordinationv1.Lease).Spec.HolderIdentity
	return have != nil && *have == *l.Spec.HolderIdentity
}

// answer ends a request: counted always, journalled when it was traced or failed.
func (s *Server) answer(rq *request, resp *kubeapi.Response, err error) *kubeapi.Response {
	if resp == nil {
		resp = &kubeapi.Response{}
	}
	resp.Err, resp.Record, resp.Warnings = err, rq.record, append(resp.Warnings, rq.warnings...)
	done := event.RequestDone{Code: http.StatusOK}
	if rq.Verb == kubeapi.Create && err == nil {
		done.Code = http.StatusCreated
	}
	if err != nil {
		st := statusOf(err)
		done.Code, done.Reason, done.Message = int(st.Code), string(st.Reason), st.Message
		rq.leave(st.Message)
	} else {
		rq.leave("")
	}
	s.tally.total++
	s.tally.byCode[done.Code]++
	if rq.record == 0 && err == nil {
		return resp
	}
	done.Server, done.Verb, done.Resource, done.Subresource = s.proc.Addr.Host, string(rq.Verb), rq.asked(), rq.Subresource
	done.Namespace, done.ObjectName, done.User, done.Stages = rq.Namespace, rq.Name, rq.user.Name, rq.stages
	if err == nil && resp.ResourceVersion != "" {
		done.Revision = parseRevision(resp.ResourceVersion)
	}
	cause := rq.record
	if cause == 0 {
		cause = rq.Cause
	}
	s.emit(cause, done)
	return resp
}

// admitted runs the stages every request passes: who asks, and may they.
func (s *Server) admitted(p *sim.Proc, rq *request) error {
	rq.enter(stageAuthn)
	if rq.refused != nil {
		return rq.refused
	}
	if rq.by.Name != "" {
		rq.leave(fmt.Sprintf("User %q acts as %q", rq.by.Name, rq.user.Name))
	}
	if err := s.seat(p, rq); err != nil {
		return err
	}
	if rq.Kind == nil {
		rq.enter(stageAuthz)
		return s.authorize(rq)
	}
	if rq.Kind.Custom != nil {
		now := s.customs.current(rq.Kind)
		if now == nil {
			return noSuchPath()
		}
		own := *rq.Request // the client's request stays as it was
		own.Kind = now
		rq.Request = &own
	}
	rq.res = s.resources[rq.Kind]
	known := rq.res != nil || s.virtual[rq.Kind] != nil
	if known && rq.Subresource != "" {
		_, known = rq.Kind.Subresource(rq.Subresource)
	}
	if !known {
		return noSuchPath()
	}
	rq.enter(stageAuthz)
	return s.authorize(rq)
}

func (s *Server) handle(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	if err := s.admitted(p, rq); err != nil {
		return nil, err
	}
	if rq.Kind == nil {
		return s.path(rq), nil
	}
	if rq.Kind.Namespaced && rq.Namespace == "" && rq.Verb != kubeapi.List {
		return nil, apierrors.NewBadRequest("namespace is required")
	}
	if rq.res == nil {
		return s.answerVirtual(p, rq)
	}
	if rq.Name != "" {
		rq.key = rq.Kind.Key(rq.Namespace, rq.Name)
	}
	if err := rq.checkVerb(); err != nil {
		return nil, err
	}
	if err := s.admitCustom(p, rq); err != nil {
		return nil, err
	}
	if act := actionOf(rq.Subresource); act != nil {
		return act(s, p, rq)
	}
	if err := rq.checkObject(); err != nil {
		return nil, err
	}
	switch rq.Verb {
	case kubeapi.Get:
		return s.get(p, rq)
	case kubeapi.List:
		return s.list(p, rq)
	case kubeapi.Create:
		if rq.Subresource == "" {
			return s.create(p, rq)
		}
	case kubeapi.Update:
		return s.replace(p, rq)
	case kubeapi.Patch:
		return s.patch(p, rq)
	case kubeapi.Delete:
		if rq.Subresource == "" {
			resp, err := s.delete(p, rq)
			return deleted(rq, resp), err
		}
	case kubeapi.DeleteCollection:
		return s.deleteCollection(p, rq)
	}
	return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
}

// Watch opens a watch towards r.From.
func (s *Server) Watch(p *sim.Proc, r *kubeapi.Request, via *simnet.Addr) (*kubeapi.WatchStream, error) {
	rq := s.receive(p, r)
	defer s.inflight.enter(rq)()
	defer rq.release()
	err := s.admitted(p, rq)
	if err == nil && rq.res == nil {
		err = apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	var stream *kubeapi.WatchStream
	if err == nil {
		stream, err = s.cache.watch(p, rq, via)
	}
	s.answer(rq, nil, err)
	return stream, err
}

func written(obj kinds.Object) *kubeapi.Response {
	return &kubeapi.Response{Object: obj, ResourceVersion: obj.GetResourceVersion()}
}

// newUID makes a random (version 4) UID from the server's stream.
func (s *Server) newUID() string {
	a, b := s.rng.Uint64(), s.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", uint32(a>>32), uint16(a>>16), a&0xfff, 0x8000|b>>50, b&0xffffffffffff)
}

// suffixLetters are those of generated names: no vowels, so that no words appear (am pkg/util/rand).
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

func (s *Server) nameSuffix() string {
	b := make([]byte, 5)
	for i := range b {
		b[i] = suffixLetters[s.rng.IntN(len(suffixLetters))]
	}
	return string(b)
}
