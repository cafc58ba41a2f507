package apiserver

import (
	"strings"

	"example.com/kubeviz/components/kubeapi"
)

// path answers a request for no resource: the user may read it, and what it says of the server's health. What else is at the path does not depend on the cluster; the front knows it.
func (s *Server) path(rq *request) *kubeapi.Response {
	out := &kubeapi.Response{}
	for _, p := range []string{"/healthz", "/livez", "/readyz"} {
		if rq.Path == p || strings.HasPrefix(rq.Path, p+"/") {
			out.Checks = s.checks()
		}
	}
	return out
}

// asked is what a request is for, in words: the resource, or the path.
func (rq *request) asked() string {
	if rq.Kind == nil {
		return rq.Path
	}
	return rq.Kind.String()
}

// always are the paths that look at a check.
type always struct{ healthz, livez, readyz bool }

// checks lists the parts of the server's health in the order in which the real one prints them. What stands for something the model does without holds as soon as the hooks of the
// start are done, since it could not fail here.
func (s *Server) checks() []kubeapi.Check {
	everywhere, living, ready := always{true, true, true}, always{true, true, false}, always{false, false, true}
	var out []kubeapi.Check
	add := func(at always, ok bool, names ...string) {
		for _, n := range names {
			out = append(out, kubeapi.Check{Name: n, Failed: !ok, Healthz: at.healthz, Livez: at.livez, Readyz: at.readyz})
		}
	}
	add(everywhere, true, "ping", "log")
	add(living, true, "loopback-serving-certificate")
	add(everywhere, s.storeOK, "etcd")
	add(ready, s.storeOK, "etcd-readiness")
	add(ready, s.cache.synced, "informer-sync")
	hook := func(ok bool, names ...string) {
		for _, n := range names {
			add(everywhere, ok, "poststarthook/"+n)
		}
	}
	hook(true, "start-apiserver-admission-initializer", "generic-apiserver-start-informers", "priority-and-fairness-config-consumer", "priority-and-fairness-filter",
		"storage-object-count-tracker-hook", "start-apiextensions-informers", "start-apiextensions-controllers")
	hook(s.hooksDone || s.cache.synced, "crd-informer-synced")
	hook(s.hooksDone, "start-system-namespaces-controller", "peer-endpoint-reconciler-controller", "start-cluster-authentication-info-controller",
		"start-kube-apiserver-identity-lease-controller", "start-kube-apiserver-identity-lease-garbage-collector")
	hook(s.hooksDone || s.cache.synced, "storage-readiness")
	hook(s.hooksDone, "start-legacy-token-tracking-controller", "start-service-ip-repair-controllers", "rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes",
		"priority-and-fairness-config-producer", "bootstrap-controller", "start-kubernetes-service-cidr-controller")
	hook(true, "start-kube-aggregator-informers", "apiservice-status-local-available-controller", "apiservice-status-remote-available-controller", "apiservice-registration-controller",
		"apiservice-discovery-controller", "kube-apiserver-autoregistration")
	add(everywhere, s.hooksDone, "autoregister-completion")
	hook(true, "apiservice-openapi-controller", "apiservice-openapiv3-controller")
	add(ready, !s.proc.Group.Dead(), "shutdown")
	return out
}
