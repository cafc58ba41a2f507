package engine

import (
	"fmt"
	"sort"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
)

// target is a machine, or a program on one (process not empty).
type target struct {
	m       *machine
	process string
}

func (t target) String() string {
	if t.process == "" {
		return t.m.host
	}
	return t.m.host + "/" + t.process
}

// aliases let users write a program's name as they know it.
var aliases = map[string]string{
	"kube-apiserver": "apiserver", "api": "apiserver", "kube-scheduler": "scheduler", "sched": "scheduler",
	"kube-controller-manager": "controller-manager", "cm": "controller-manager", "store": "etcd",
}

// special names stand for whoever leads now.
var special = []string{"leader", "scheduler-leader", "controller-manager-leader"}

// resolve finds what a command names.
func (e *Engine) resolve(name string) (target, error) {
	host, process, _ := strings.Cut(name, "/")
	if a, ok := aliases[process]; ok {
		process = a
	}
	switch host {
	case "leader":
		m := e.storeLeader()
		if m == nil {
			return target{}, fmt.Errorf("no store member leads now, so \"leader\" names nobody")
		}
		return target{m, process}, e.check(m, process)
	case "scheduler-leader", "controller-manager-leader":
		component := strings.TrimSuffix(host, "-leader")
		if process != "" {
			return target{}, fmt.Errorf("%q already names a program; leave %q out", host, "/"+process)
		}
		holder := e.leases["kube-"+component]
		m := e.byHost[holder]
		if m == nil {
			return target{}, fmt.Errorf("nobody holds the lease kube-system/kube-%s now", component)
		}
		return target{m, component}, nil
	}
	m := e.byHost[host]
	if m == nil {
		return target{}, fmt.Errorf("no machine is called %q; there are %s", host, e.hostList())
	}
	return target{m, process}, e.check(m, process)
}

func (e *Engine) check(m *machine, process string) error {
	if process == "" || process == "kubelet" {
		return nil
	}
	if m.master {
		for _, n := range programNames {
			if n == process {
				return nil
			}
		}
		return fmt.Errorf("%s runs no %q; it runs %s", m.host, process, strings.Join(programNames, ", "))
	}
	return fmt.Errorf("%s runs no %q; it runs kubelet", m.host, process)
}

// storeLeader is the master whose member leads the majority now.
func (e *Engine) storeLeader() *machine {
	var best *machine
	var term uint64
	for _, s := range e.store.cluster.Status() {
		if s.Up && s.Role == "leader" && s.Term >= term {
			best, term = e.byHost[s.Name], s.Term
		}
	}
	return best
}

// leaseHolders remembers, from the journal, which host holds each lease of kube-system.
type leaseHolders map[string]string

// Write takes in one record.
func (h leaseHolders) Write(r event.Record) error {
	c, ok := r.Event.(event.ObjectChanged)
	if !ok {
		return nil
	}
	l, ok := c.Object.(*coordinationv1.Lease)
	if !ok || l.Namespace != metav1.NamespaceSystem {
		return nil
	}
	delete(h, l.Name)
	if c.Type != event.Deleted && l.Spec.HolderIdentity != nil {
		host, _, _ := strings.Cut(*l.Spec.HolderIdentity, "_")
		h[l.Name] = host
	}
	return nil
}

func (e *Engine) hostList() string {
	n := len(e.machines)
	if n > 12 {
		return fmt.Sprintf("%s … %s", e.machines[0].host, e.machines[n-1].host)
	}
	var out []string
	for _, m := range e.machines {
		out = append(out, m.host)
	}
	return strings.Join(out, ", ")
}

func (e *Engine) publishTargets() {
	out := append([]string(nil), special...)
	for _, m := range e.machines {
		out = append(out, m.host, m.host+"/kubelet")
		if m.master {
			for _, p := range programNames {
				if p != "kubelet" {
					out = append(out, m.host+"/"+p)
				}
			}
		}
	}
	sort.Strings(out)
	e.targets.Store(&out)
}
