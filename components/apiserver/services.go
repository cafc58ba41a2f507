package apiserver

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/internal/ranges"
	"example.com/kubeviz/components/apiserver/resource/core"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// Where services get their addresses and ports (kube-apiserver --service-cluster-ip-range as kubeadm sets it, --service-node-port-range).
var serviceAddresses = ranges.NewAddresses(netip.MustParsePrefix("10.96.0.0/12"))

const (
	nodePortFirst, nodePortLast = 30000, 32767
	nodePortsKey                = registryPrefix + "ranges/servicenodeports"
)

// portState is which ports were taken when the store was asked, and at which version of its record.
type portState struct {
	ports    *ranges.Ports
	revision int64
}

// claim adds to the transaction of a service what the change takes and gives back.
func (s *Server) claim(p *sim.Proc, rq *request, t *mvcc.Txn, now, old *corev1.Service) error {
	c, err := s.claims(p, rq, now, old)
	t.If, t.Then = append(t.If, c.when...), append(t.Then, c.ops...)
	return err
}

// claims are the part of a transaction beside the service: the addresses and ports that it takes or gives back. Kubernetes has no such transactions: it writes one after the other and has
// controllers that repair what a crash leaves in between.
type claims struct {
	when []mvcc.Compare
	ops  []mvcc.Op
}

// allocate gives a service what it wants of addresses and ports; old is nil for creations. Nothing is written yet: claims takes it, in the service's own transaction.
func (s *Server) allocate(p *sim.Proc, rq *request, svc, old *corev1.Service) error {
	rq.ports = nil
	if old == nil || !core.TakesClusterIP(old) {
		if err := s.allocateIP(p, rq, svc); err != nil {
			return err
		}
	}
	return s.allocatePorts(p, rq, svc, old)
}

// allocateIP gives a service an address, or checks that it can have the one it asks for.
func (s *Server) allocateIP(p *sim.Proc, rq *request, svc *corev1.Service) error {
	spec := &svc.Spec
	if !core.TakesClusterIP(svc) || core.Headless(svc) {
		return nil
	}
	refuse := func(err error, format string, args ...any) error {
		return apierrors.NewInvalid(kinds.Services.GVK().GroupKind(), svc.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), spec.ClusterIPs, fmt.Sprintf(format, append(args, err)...))})
	}
	if len(spec.ClusterIPs) > 0 {
		ip, err := netip.ParseAddr(spec.ClusterIPs[0])
		if err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to parse service IP %q", spec.ClusterIPs[0]))
		}
		if err := serviceAddresses.Check(ip); err != nil {
			return refuse(err, "failed to allocate IP %v: %v", ip)
		}
		res, err := s.door.read(p, mvcc.Range{Key: kinds.IPAddresses.Key("", ip.String())}, rq.deadline)
		if err != nil {
			return err
		}
		if len(res.KVs) > 0 {
			return refuse(ranges.ErrIPAllocated, "failed to allocate IP %v: %v", ip)
		}
		return nil
	}
	held := &s.cache.kinds[kinds.IPAddresses].items
	ip, err := serviceAddresses.Next(s.rng, func(ip netip.Addr) bool { _, taken := held.Get(kinds.IPAddresses.Key("", ip.String())); return !taken })
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", svc.Name, err))
	}
	spec.ClusterIP, spec.ClusterIPs = ip.String(), []string{ip.String()}
	return nil
}

// allocatePorts gives the ports of a service numbers on the nodes, and takes those that it asks for.
func (s *Server) allocatePorts(p *sim.Proc, rq *request, svc, old *corev1.Service) error {
	health := core.TakesHealthPort(svc) && (old == nil || !core.TakesHealthPort(old))
	if !core.TakesNodePorts(svc) && !health {
		return nil
	}
	a := allotter{server: s, rq: rq, svc: svc, update: old != nil, had: nodePorts(old)}
	if old != nil && !health && !slices.ContainsFunc(svc.Spec.Ports, func(sp corev1.ServicePort) bool { return !slices.Contains(a.had, sp.NodePort) }) {
		return nil // it has all it wants
	}
	state, err := s.portsOf(p, rq)
	if err != nil {
		return err
	}
	a.ports = state.ports
	if core.TakesNodePorts(svc) {
		if err := a.allot(); err != nil {
			return err
		}
	}
	if !health {
		return nil
	}
	if n := svc.Spec.HealthCheckNodePort; n != 0 {
		if err := a.take(n); err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %v", n, err))
		}
		return nil
	}
	n, err := a.ports.Next(s.rng)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %v", n, err))
	}
	svc.Spec.HealthCheckNodePort = n
	return nil
}

// allotter gives one service its ports.
type allotter struct {
	server *Server
	rq     *request
	ports  *ranges.Ports
	svc    *corev1.Service
	update bool
	had    []int32 // before the update
}

// take takes a certain port, unless the service has it. A dry run does not ask whether the port is in the range, as in Kubernetes.
func (a *allotter) take(n int32) error {
	if slices.Contains(a.had, n) {
		return nil
	}
	if a.rq.DryRun && (n < nodePortFirst || n > nodePortLast) {
		return nil
	}
	return a.ports.Take(n)
}

// allot goes through the ports in order. Ports of the same number and different protocols share a number on the nodes.
func (a *allotter) allot() error {
	list := a.svc.Spec.Ports
	byPort := map[int32]int32{}
	var done []int32
	for i := range list {
		sp := &list[i]
		if sp.NodePort == 0 && a.svc.Spec.Type == corev1.ServiceTypeLoadBalancer && a.svc.Spec.AllocateLoadBalancerNodePorts != nil && !*a.svc.Spec.AllocateLoadBalancerNodePorts {
			continue
		}
		if sp.NodePort == 0 && !a.update {
			sp.NodePort = byPort[sp.Port]
			for _, o := range list[i:] {
				if sp.NodePort == 0 && o.Port == sp.Port {
					sp.NodePort = o.NodePort // wanted further down
				}
			}
		}
		switch {
		case sp.NodePort == 0:
			n, err := a.ports.Next(a.server.rng)
			if err != nil {
				return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
			}
			sp.NodePort = n
			done = append(done, n)
		case !slices.Contains(done, sp.NodePort):
			if err := a.take(sp.NodePort); err != nil {
				return apierrors.NewInvalid(kinds.Services.GVK().GroupKind(), a.svc.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), sp.NodePort, err.Error())})
			}
			done = append(done, sp.NodePort)
		}
		byPort[sp.Port] = sp.NodePort
	}
	return nil
}

// portsOf asks the store which ports are taken, once in a try.
func (s *Server) portsOf(p *sim.Proc, rq *request) (*portState, error) {
	if rq.ports != nil {
		return rq.ports, nil
	}
	res, err := s.door.read(p, mvcc.Range{Key: nodePortsKey}, rq.deadline)
	if err != nil {
		return nil, err
	}
	state := &portState{ports: ranges.NewPorts(nodePortFirst, nodePortLast)}
	if len(res.KVs) > 0 {
		var record corev1.RangeAllocation
		if err := open(res.KVs[0].Value, &record); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if err := state.ports.Restore(&record); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		state.revision = res.KVs[0].ModRevision
	}
	rq.ports = state
	return state, nil
}

// addresses are those that a service holds.
func addresses(svc *corev1.Service) []string {
	if svc == nil || !core.TakesClusterIP(svc) || core.Headless(svc) {
		return nil
	}
	return svc.Spec.ClusterIPs
}

// nodePorts are those that a service holds.
func nodePorts(svc *corev1.Service) []int32 {
	if svc == nil {
		return nil
	}
	var out []int32
	for _, sp := range svc.Spec.Ports {
		if sp.NodePort != 0 && !slices.Contains(out, sp.NodePort) {
			out = append(out, sp.NodePort)
		}
	}
	if n := svc.Spec.HealthCheckNodePort; n != 0 {
		out = append(out, n)
	}
	return out
}

// claims says what a change of a service takes and gives back; now is nil when the service goes, old when it comes.
func (s *Server) claims(p *sim.Proc, rq *request, now, old *corev1.Service) (claims, error) {
	var c claims
	have, had := addresses(now), addresses(old)
	for _, ip := range have {
		if slices.Contains(had, ip) {
			continue
		}
		value, err := s.codec.Encode(&networkingv1.IPAddress{
			ObjectMeta: metav1.ObjectMeta{Name: ip, UID: metaUID(s.newUID()), CreationTimestamp: metav1.NewTime(p.Now().Truncate(secondsOf)),
				Labels: map[string]string{networkingv1.LabelIPAddressFamily: string(core.Family), networkingv1.LabelManagedBy: "ipallocator.k8s.io"}},
			Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: kinds.Services.Resource, Namespace: now.Namespace, Name: now.Name}}})
		if err != nil {
			return c, apierrors.NewInternalError(err)
		}
		key := kinds.IPAddresses.Key("", ip)
		c.when = append(c.when, mvcc.Compare{Key: key, Target: mvcc.CreateRevision})
		c.ops = append(c.ops, mvcc.Op{Key: key, Value: value})
	}
	for _, ip := range had {
		if !slices.Contains(have, ip) {
			c.ops = append(c.ops, mvcc.Op{Key: kinds.IPAddresses.Key("", ip), Delete: true})
		}
	}
	return c, s.claimPorts(p, rq, nodePorts(now), nodePorts(old), &c)
}

func (s *Server) claimPorts(p *sim.Proc, rq *request, have, had []int32, c *claims) error {
	if !slices.ContainsFunc(have, func(n int32) bool { return !slices.Contains(had, n) }) && !slices.ContainsFunc(had, func(n int32) bool { return !slices.Contains(have, n) }) {
		return nil
	}
	state, err := s.portsOf(p, rq)
	if err != nil {
		return err
	}
	for _, n := range had {
		if !slices.Contains(have, n) {
			state.ports.Release(n)
		}
	}
	value, err := seal(state.ports.Snapshot(), "v1", "RangeAllocation")
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	c.when = append(c.when, mvcc.Compare{Key: nodePortsKey, Target: mvcc.ModRevision, Value: state.revision})
	c.ops = append(c.ops, mvcc.Op{Key: nodePortsKey, Value: value})
	rq.ports = nil // used up: another try asks again
	return nil
}

// asService is the service that obj is; nil when it is none.
func asService(obj kinds.Object) *corev1.Service {
	svc, _ := obj.(*corev1.Service)
	return svc
}

// seal wraps a record that is no object of the API for the store.
func seal(m marshaler, apiVersion, kind string) ([]byte, error) {
	raw, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	return envelope(raw, apiVersion, kind)
}

// open is seal's other way.
func open(value []byte, into unmarshaler) error {
	var env runtime.Unknown
	if len(value) < len(magic) {
		return fmt.Errorf("%d bytes are no record", len(value))
	}
	if err := env.Unmarshal(value[len(magic):]); err != nil {
		return err
	}
	return into.Unmarshal(env.Raw)
}
