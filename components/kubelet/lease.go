package kubelet

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// The node lease (cg component-helpers/apimachinery/lease): 40 s long, renewed at a quarter of that.
const (
	leaseNamespace = "kube-node-lease"
	leaseSeconds   = 40
	leasePeriod    = leaseSeconds * time.Second / 4
	leaseTries     = 5
)

// runLease renews the node's lease for ever.
func (k *Kubelet) runLease(p *sim.Proc) {
	var latest *coordinationv1.Lease
	for {
		latest = k.renewLease(p, latest)
		p.Sleep(leasePeriod + time.Duration(k.rng.Float64()*periodJitter*float64(leasePeriod)))
	}
}

// renewLease renews once, trying a few times, and returns the lease as it is known now; nil: not known.
func (k *Kubelet) renewLease(p *sim.Proc, latest *coordinationv1.Lease) *coordinationv1.Lease {
	c := k.pr.Client.WithTimeout(heartbeatTimeout)
	if latest == nil {
		return k.ensureLease(p, c)
	}
	for try := range leaseTries {
		next := k.leaseFrom(p, latest)
		stored, err := kubeapi.Replace(p, c, next)
		switch {
		case err == nil:
			return stored
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			if latest = k.ensureLease(p, c); latest == nil {
				return nil
			}
		case try > 0:
			k.hangUp()
		}
	}
	return latest
}

// hangUp closes all connections to the API after repeated heartbeat failures, so that nothing hangs on a server that is gone (k/k cmd/kubelet/app/server.go:
// OnHeartbeatFailure).
func (k *Kubelet) hangUp() {
	if t, ok := k.pr.Client.Transport.(interface{ HangUp() }); ok {
		t.HangUp()
	}
}

// ensureLease reads the lease or creates it, with growing pauses, until it works.
func (k *Kubelet) ensureLease(p *sim.Proc, c *kubeapi.Client) *coordinationv1.Lease {
	for wait := registerMin; ; wait = min(2*wait, registerMax) {
		got, err := kubeapi.Fetch[*coordinationv1.Lease](p, c, kinds.Leases, leaseNamespace, k.cfg.Node)
		if err == nil {
			stored, err := kubeapi.Replace(p, c, k.leaseFrom(p, got))
			if err == nil {
				return stored
			}
		} else if apierrors.IsNotFound(err) && k.node.uid != "" {
			if made, err := kubeapi.Make(p, c, k.leaseFrom(p, nil)); err == nil {
				return made
			}
		}
		p.Sleep(wait)
	}
}

// leaseFrom is the lease renewed now.
func (k *Kubelet) leaseFrom(p *sim.Proc, base *coordinationv1.Lease) *coordinationv1.Lease {
	now := metav1.NewMicroTime(p.Now())
	seconds, holder := int32(leaseSeconds), k.cfg.Node
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: leaseNamespace, Name: k.cfg.Node}}
	if base != nil {
		n := *base // only the times change; the rest is shared
		l = &n
	}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &holder, &seconds, &now
	if len(l.OwnerReferences) == 0 && k.node.uid != "" {
		l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: k.cfg.Node, UID: k.node.uid}}
	}
	return l
}
