package apiserver

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// answerer answers requests for a kind that is served and never stored (kinds.Virtual). The user is authenticated and authorized by then, and the verb is one of the kind's; the
// object of a creation is in rq.Object, with the namespace of the request.
type answerer func(s *Server, p *sim.Proc, rq *request) (*kubeapi.Response, error)

// answerers is the table of the kinds that are never stored. What is missing here is not served at all.
func answerers() map[*kinds.Kind]answerer {
	return map[*kinds.Kind]answerer{
		kinds.Bindings:          (*Server).bindByBody,
		kinds.ComponentStatuses: (*Server).componentStatuses,

		kinds.SelfSubjectReviews:        (*Server).reviewSelf,
		kinds.TokenReviews:              (*Server).reviewToken,
		kinds.LocalSubjectAccessReviews: (*Server).reviewLocalAccess,
		kinds.SelfSubjectAccessReviews:  (*Server).reviewSelfAccess,
		kinds.SelfSubjectRulesReviews:   (*Server).reviewSelfRules,
		kinds.SubjectAccessReviews:      (*Server).reviewAccess,

		kinds.NodeMetrics: (*Server).nodeMetrics,
		kinds.PodMetrics:  (*Server).podMetrics,
	}
}

// Serves reports whether the server answers requests for a kind.
func (s *Server) Serves(k *kinds.Kind) bool { return s.resources[k] != nil || s.virtual[k] != nil }

// answerVirtual answers a request for a kind that is never stored.
func (s *Server) answerVirtual(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	if !slices.Contains(rq.Kind.Verbs, string(rq.Verb)) || rq.Subresource != "" {
		return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	if rq.Verb == kubeapi.Create {
		if err := rq.checkObject(); err != nil {
			return nil, err
		}
		if err := rq.nameObject(rq.Object); err != nil {
			return nil, err
		}
	}
	return s.virtual[rq.Kind](s, p, rq)
}

// bindByBody is POST to bindings: pods/binding for the pod that the body names.
func (s *Server) bindByBody(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	r := *rq.Request
	r.Kind, r.Name, r.Subresource = kinds.Pods, rq.Object.GetName(), "binding"
	part := *rq
	part.Request, part.res, part.key = &r, s.resources[kinds.Pods], kinds.Pods.Key(r.Namespace, r.Name)
	resp, err := s.bind(p, &part)
	rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began
	return resp, err
}

// The programs that componentstatuses tells of, in the order of its list, by the name they have there.
var components = []struct{ name, program string }{{"controller-manager", "controller-manager"}, {"etcd-0", "etcd"}, {"scheduler", "scheduler"}}

// componentStatuses is the old list of what runs beside the server.
func (s *Server) componentStatuses(_ *sim.Proc, rq *request) (*kubeapi.Response, error) {
	var all []kinds.Object
	for _, c := range components {
		healthy := c.program == "etcd" && s.storeOK || c.program != "etcd" && s.cfg.Neighbour != nil && s.cfg.Neighbour(c.program)
		cs := &corev1.ComponentStatus{}
		cs.Name = c.name
		cond := corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}
		if !healthy {
			cond.Status, cond.Message = corev1.ConditionFalse, neighbourDown[c.program]
		}
		cs.Conditions = []corev1.ComponentCondition{cond}
		if rq.Verb == kubeapi.Get && c.name == rq.Name {
			return &kubeapi.Response{Object: cs}, nil
		}
		all = append(all, cs)
	}
	if rq.Verb == kubeapi.Get {
		return nil, notFound(rq.Kind, rq.Name)
	}
	return &kubeapi.Response{Items: all}, nil
}

// neighbourDown is what a probe says of a program that does not listen.
var neighbourDown = map[string]string{
	"controller-manager": `Get "https://127.0.0.1:10257/healthz": dial tcp 127.0.0.1:10257: connect: connection refused`,
	"scheduler":          `Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused`,
	"etcd":               `context deadline exceeded`,
}
