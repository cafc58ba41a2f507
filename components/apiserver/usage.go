package apiserver

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/apiserver/metrics"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// measure lets the server know what machines and pods use, if it is told where kubelets are.
func (s *Server) measure() {
	if s.cfg.Meter == nil {
		return
	}
	s.metrics = metrics.New(metrics.Config{Net: s.proc.Net, From: s.proc.Addr, Meter: s.cfg.Meter, Rand: s.proc.Loop.Rand("metrics " + s.door.id), Nodes: func() []string {
		var names []string
		s.cache.kinds[kinds.Nodes].items.Ascend("", func(_ string, obj kinds.Object) bool {
			names = append(names, obj.GetName())
			return true
		})
		return names
	}})
	s.proc.Go("metrics", s.metrics.Run)
}

// The names by which metrics-server speaks of what it has not measured.
var (
	nodeUsage = schema.GroupResource{Group: "metrics.k8s.io", Resource: "nodemetrics"}
	podUsage  = schema.GroupResource{Group: "metrics.k8s.io", Resource: "podmetrics"}
)

// unmeasured is the answer for a group whose server cannot be reached.
func unmeasured() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Details: &metav1.StatusDetails{}, Message: "the server is currently unable to handle the request"}}
}

// nodeMetrics tells what nodes use.
func (s *Server) nodeMetrics(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	return usage(s, p, rq, kinds.Nodes, nodeUsage, rq.Name, func(n *corev1.Node) kinds.Object {
		if m := s.metrics.Node(n, p.Now()); m != nil {
			return m
		}
		return nil
	})
}

// podMetrics tells what pods use that run.
func (s *Server) podMetrics(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	return usage(s, p, rq, kinds.Pods, podUsage, rq.Namespace+"/"+rq.Name, func(pod *corev1.Pod) kinds.Object {
		if pod.Status.Phase != corev1.PodRunning {
			return nil
		}
		if m := s.metrics.Pod(pod, p.Now()); m != nil {
			return m
		}
		return nil
	})
}

// usage answers for the objects of a kind: one by its name, or all that the selectors of the request choose.
func usage[T kinds.Object](s *Server, _ *sim.Proc, rq *request, of *kinds.Kind, called schema.GroupResource, name string, measured func(T) kinds.Object) (*kubeapi.Response, error) {
	if s.metrics == nil || !s.cache.synced {
		return nil, unmeasured()
	}
	items := &s.cache.kinds[of].items
	if rq.Verb == kubeapi.Get {
		obj, ok := items.Get(of.Key(rq.Namespace, rq.Name))
		if !ok {
			return nil, apierrors.NewNotFound(of.GR(), name)
		}
		if m := measured(obj.(T)); m != nil {
			return &kubeapi.Response{Object: m}, nil
		}
		return nil, apierrors.NewNotFound(called, name)
	}
	var out []kinds.Object
	eachSeen(&attributes{server: s}, of, rq.Namespace, func(obj T) bool {
		labelled := rq.Labels == nil || rq.Labels.Matches(labelsOf{obj})
		if labelled && (rq.Fields == nil || rq.Fields.Matches(fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()})) {
			if m := measured(obj); m != nil {
				out = append(out, m)
			}
		}
		return true
	})
	return &kubeapi.Response{Items: out}, nil
}
