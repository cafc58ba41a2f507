package acceptance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// noneRefused: each program of the cluster, under its own name and with its own rights only, may do all that it does.
func (p *told) noneRefused() {
	p.t.Helper()
	var l law
	for _, r := range p.recs {
		l.take(r)
		d, ok := r.Event.(event.RequestDone)
		if ok && deniedTo(d) && !l.fair(r, d) {
			p.t.Errorf("%v: %s refuses: %s", p.since(r.At), d.Server, d.Message)
		}
	}
}

// deniedTo tells answers that say no to a program of the cluster.
func deniedTo(d event.RequestDone) bool {
	return (d.Code == http.StatusForbidden || d.Code == http.StatusUnauthorized) && strings.HasPrefix(d.User, "system:") && d.User != "system:anonymous"
}

// law knows the two cases in which a real cluster refuses as well, for a moment: a server that has just begun and knows no roles yet, and a server that has not heard yet, or has heard
// already, of what became of a node's pod.
type law struct {
	ready map[string]bool      // servers that were, since they began
	bound map[string]time.Time // pod and node, since when
}

func (l *law) take(r event.Record) {
	if l.ready == nil {
		l.ready, l.bound = map[string]bool{}, map[string]time.Time{}
	}
	switch e := r.Event.(type) {
	case event.ProcessStarted:
		if e.Process == "apiserver" {
			l.ready[e.Host] = false
		}
	case event.BackendChanged:
		if e.Healthy {
			l.ready[e.Backend] = true
		}
	case event.StoreRestored:
		clear(l.bound) // the pods that were made since the backup are gone, and nobody says so
	case event.ObjectChanged:
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return
		}
		key := pod.Namespace + "/" + pod.Name + " " + pod.Spec.NodeName
		if e.Type == event.Deleted {
			delete(l.bound, key)
		} else if _, ok := l.bound[key]; !ok {
			l.bound[key] = r.At
		}
	}
}

// hearsay is how long a change takes to reach all servers, at most.
const hearsay = 2 * time.Second

func (l *law) fair(r event.Record, d event.RequestDone) bool {
	if !l.ready[d.Server] {
		return true
	}
	node, ok := strings.CutPrefix(d.User, "system:node:")
	if !ok || d.Resource != "pods" || !strings.Contains(d.Message, "no relationship found") {
		return false
	}
	since, ok := l.bound[d.Namespace+"/"+d.ObjectName+" "+node]
	return !ok || r.At.Sub(since) < hearsay
}

func TestNoProgramOfABusyClusterIsEverRefused(t *testing.T) {
	p := play(t, run{preset: "ha", seed: 5, length: 10 * time.Minute, store: engine.StoreMemory, do: []string{
		"50s scale deployment web --replicas=9", "70s kill leader", "80s kill worker-1", "100s kill scheduler-leader", "110s kill controller-manager-leader",
		"3m start all", "200s cut worker-2 all", "5m scale deployment web --replicas=2", "6m heal", "7m cordon worker-3", "440s kill worker-4", "450s kubectl delete node worker-4", "8m uncordon worker-3",
		"530s kubectl delete deployment web",
	}})
	// That the run is busy: without requests nobody is refused either.
	who := map[string]bool{}
	for _, r := range p.recs {
		if d, ok := r.Event.(event.RequestDone); ok && d.Code < 300 {
			user, _, _ := strings.Cut(strings.TrimPrefix(d.User, "system:serviceaccount:kube-system:"), "worker-")
			who[user] = true
		}
	}
	for _, user := range []string{"system:kube-scheduler", "system:kube-controller-manager", "system:node:", "deployment-controller", "replicaset-controller", "node-controller",
		"pod-garbage-collector", "generic-garbage-collector", "service-account-controller", "root-ca-cert-publisher", "clusterrole-aggregation-controller"} {
		if !who[user] {
			t.Errorf("%s has written nothing: %v", user, who)
		}
	}
}
