package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// attributes are what admission sees of a request. obj is nil for deletions, old for creations.
type attributes struct {
	server *Server
	proc   *sim.Proc
	rq     *request
	obj    kinds.Object
	old    kinds.Object
}

func (a *attributes) creates() bool { return a.old == nil && a.rq.Subresource == "" }

func (a *attributes) forbid(format string, args ...any) error {
	name := a.rq.Name
	if a.obj != nil {
		name = a.obj.GetName()
	}
	return apierrors.NewForbidden(a.rq.Kind.GR(), name, fmt.Errorf(format, args...))
}

// plugin is one admission plugin: it changes objects, or refuses them.
type plugin func(a *attributes) error

// The plugins of this model, in Kubernetes' order (fidelity API-4). NamespaceLifecycle refuses in both passes in Kubernetes; the first is enough. Deletions
// pass the second one alone.
var (
	mutating = []plugin{namespaceLifecycle, limitRanger, serviceAccount, nodeRestriction, taintNewNodes, priority, defaultTolerationSeconds, defaultStorageClass, protectStorage, runtimeClass, requester,
		defaultIngressClass, podTopologyLabels, noEscalation}
	validating = []plugin{withinLimits, nodeDeletion, podSecurity, onePriorityDefault, resizableClaim, certificateApproval, certificateSigning, certificateSubject, validatingPolicies,
		resourceQuota}
)

func (s *Server) mutate(a *attributes) error {
	if err := run(mutating, a); err != nil {
		return err
	}
	return mutatingPolicies(a)
}

func (s *Server) validate(a *attributes) error { return run(validating, a) }

func run(plugins []plugin, a *attributes) error {
	for _, pl := range plugins {
		if err := pl(a); err != nil {
			return err
		}
	}
	return nil
}

// namespaceLifecycle lets objects be made only in namespaces that exist and are not going away.
func namespaceLifecycle(a *attributes) error {
	if !a.creates() || !a.rq.Kind.Namespaced {
		return nil
	}
	name := a.obj.GetNamespace()
	ns, err := a.server.namespace(a.proc, a.rq, name)
	if err != nil {
		return err
	}
	if ns.DeletionTimestamp == nil && ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	refused := apierrors.NewForbidden(a.rq.Kind.GR(), a.obj.GetName(), fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace"})
	return refused
}

// namespace finds a namespace in the cache, or in the store where the cache has not seen it yet.
func (s *Server) namespace(p *sim.Proc, rq *request, name string) (*corev1.Namespace, error) {
	key := kinds.Namespaces.Key("", name)
	if obj, ok := s.cache.kinds[kinds.Namespaces].items.Get(key); ok {
		return obj.(*corev1.Namespace), nil
	}
	res, err := s.door.read(p, mvcc.Range{Key: key}, rq.deadline)
	if err != nil {
		return nil, err
	}
	if len(res.KVs) == 0 {
		return nil, notFound(kinds.Namespaces, name)
	}
	obj, err := s.codec.Decode(&res.KVs[0])
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj.(*corev1.Namespace), nil
}

// taintNewNodes keeps pods off a node until the node lifecycle controller has seen it ready (TaintNodesByCondition).
func taintNewNodes(a *attributes) error {
	node, ok := a.obj.(*corev1.Node)
	if !ok || !a.creates() {
		return nil
	}
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
	return nil
}

// notReadySeconds is how long pods stay on a node that is not ready or not reachable, unless they say otherwise.
const notReadySeconds int64 = 300

// defaultTolerationSeconds adds the two tolerations behind "evicted after five minutes".
func defaultTolerationSeconds(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || !a.creates() {
		return nil
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			seconds := notReadySeconds
			pod.Spec.Tolerations = append(pod.Spec.Tolerations,
				corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
		}
	}
	return nil
}
