package apiserver

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

//lint:file-ignore SA1019 Services are proxied by their Endpoints, as in Kubernetes

// proxy leads a request to what listens in a pod, which is named with a scheme and a port, or which a service stands for (pkg/registry/core: ResourceLocation of pods and of services).
func (s *Server) proxy(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	lead := s.cfg.Connectors["pods/proxy"]
	if lead == nil || rq.Kind != kinds.Pods && rq.Kind != kinds.Services {
		return nil, notServed(rq)
	}
	scheme, name, port, ok := utilnet.SplitSchemeNamePort(rq.Name)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid %s request %q", rq.Kind.Singular, rq.Name))
	}
	rq.enter(stageStore)
	a := &attributes{rq: rq, server: s, proc: p}
	if rq.Kind == kinds.Pods {
		pod, found, err := fetched[*corev1.Pod](a, kinds.Pods, rq.Namespace, name)
		if err != nil || !found {
			return nil, orNotFound(err, kinds.Pods, name)
		}
		n := 0
		if port != "" {
			if n, err = strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				return nil, unreachablePort(pod, port)
			}
		}
		return lead(p, to(rq, name, scheme, n), pod)
	}
	pod, n, err := behind(a, name, port, rq.Name)
	if err != nil {
		return nil, err
	}
	return lead(p, to(rq, pod.Name, scheme, n), pod)
}

// to is the request as the connector takes it.
func to(rq *request, pod, scheme string, port int) *kubeapi.Request {
	own := *rq.Request
	own.Name, own.Container = pod, &kubeapi.ContainerQuery{Scheme: scheme, Port: port}
	return &own
}

// behind finds a ready pod of a service and its port there. port is the number of a service's port or its name.
func behind(a *attributes, name, port, asked string) (*corev1.Pod, int, error) {
	if n, err := strconv.Atoi(port); err == nil {
		svc, found, err := fetched[*corev1.Service](a, kinds.Services, a.rq.Namespace, name)
		if err != nil || !found {
			return nil, 0, orNotFound(err, kinds.Services, name)
		}
		i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return int(p.Port) == n })
		if i < 0 {
			return nil, 0, apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", n, name))
		}
		port = svc.Spec.Ports[i].Name
	}
	ends, found, err := fetched[*corev1.Endpoints](a, kinds.Endpoints, a.rq.Namespace, name)
	if err != nil || !found {
		return nil, 0, orNotFound(err, kinds.Endpoints, name)
	}
	if len(ends.Subsets) == 0 {
		return nil, 0, apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	for _, set := range ends.Subsets {
		i := slices.IndexFunc(set.Ports, func(p corev1.EndpointPort) bool { return p.Name == port })
		if i < 0 || len(set.Addresses) == 0 {
			continue
		}
		n, at := int(set.Ports[i].Port), set.Addresses[a.proc.Rand().IntN(len(set.Addresses))]
		if at.TargetRef == nil || at.TargetRef.Kind != "Pod" { // nothing of the model listens there
			return nil, 0, apierrors.NewServiceUnavailable(fmt.Sprintf("error trying to reach service: dial tcp %s:%d: connect: connection refused", at.IP, n))
		}
		pod, found, err := fetched[*corev1.Pod](a, kinds.Pods, a.rq.Namespace, at.TargetRef.Name)
		if err != nil || !found {
			return nil, 0, orNotFound(err, kinds.Pods, at.TargetRef.Name)
		}
		return pod, n, nil
	}
	return nil, 0, apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", asked))
}

func orNotFound(err error, k *kinds.Kind, name string) error {
	if err != nil {
		return err
	}
	return notFound(k, name)
}

func unreachablePort(pod *corev1.Pod, port string) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("error trying to reach service: dial tcp: lookup tcp/%s: unknown port", port))
}
