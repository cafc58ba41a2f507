package apiserver

//lint:file-ignore SA1019 Endpoints are served and kept for old clients all the same

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// The service by which pods find the API servers. They keep it themselves: each says every memberPeriod in the store that it is there, which holds for memberLife, and writes who is there into the
// service's Endpoints and EndpointSlice when that has changed (k/k pkg/controlplane/controller/kubernetesservice, pkg/controlplane/reconcilers).
const (
	kubernetesService = "kubernetes"
	securePort        = 6443
	memberPeriod      = 10 * time.Second
	memberLife        = 15 * time.Second
	membersPrefix     = registryPrefix + "masterleases/"
	readyPoll         = 100 * time.Millisecond
)

// keepKubernetes begins when the server is ready, and never ends.
func (s *Server) keepKubernetes(p *sim.Proc) {
	for {
		if ok, _ := s.Ready(); ok {
			break
		}
		p.Sleep(readyPoll)
	}
	for ; ; p.Sleep(memberPeriod) {
		if s.ensureKubernetes(p) != nil {
			continue
		}
		if ips, err := s.members(p); err == nil && len(ips) > 0 {
			s.publish(p, ips) // what fails is tried in the next period
		}
	}
}

// call is a request of the server to itself.
func (s *Server) call(p *sim.Proc, verb kubeapi.Verb, k *kinds.Kind, obj kinds.Object) error {
	return s.Serve(p, &kubeapi.Request{Verb: verb, Kind: k, Namespace: metav1.NamespaceDefault, Name: kubernetesService, Object: obj, User: loopback, Manager: "kube-apiserver", From: s.proc.Addr,
		Cause: s.proc.Cause}).Err
}

func (s *Server) ensureKubernetes(p *sim.Proc) error {
	if s.cache.held(kinds.Services, metav1.NamespaceDefault, kubernetesService) != nil {
		return nil
	}
	single := corev1.IPFamilyPolicySingleStack
	err := s.call(p, kubeapi.Create, kinds.Services, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: kubernetesService, Namespace: metav1.NamespaceDefault, Labels: map[string]string{"provider": "kubernetes", "component": "apiserver"}},
		Spec: corev1.ServiceSpec{ClusterIP: serviceAddresses.First().String(), IPFamilyPolicy: &single, SessionAffinity: corev1.ServiceAffinityNone, Type: corev1.ServiceTypeClusterIP,
			Ports: []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(securePort)}}}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// members says that this server is there, and lists those that are.
func (s *Server) members(p *sim.Proc) ([]string, error) {
	deadline := p.Now().Add(memberPeriod)
	lease, err := s.door.grant(p, memberLife, deadline)
	if err != nil {
		return nil, err
	}
	value, err := seal(&corev1.Endpoints{Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: s.cfg.Address}}}}}, "v1", "Endpoints")
	if err != nil {
		return nil, err
	}
	if _, err := s.door.txn(p, mvcc.Txn{Then: []mvcc.Op{{Key: membersPrefix + s.cfg.Address, Value: value, Lease: lease}}}, deadline); err != nil {
		return nil, err
	}
	res, err := s.door.read(p, mvcc.Range{Key: membersPrefix, End: mvcc.PrefixEnd(membersPrefix), KeysOnly: true}, deadline)
	if err != nil {
		return nil, err
	}
	var ips []string
	for _, kv := range res.KVs {
		ips = append(ips, kv.Key[len(membersPrefix):])
	}
	slices.Sort(ips)
	return ips, nil
}

// publish writes who is there where it is not written yet. The EndpointSlice is the server's own as well, so nobody is to mirror the Endpoints.
func (s *Server) publish(p *sim.Proc, ips []string) {
	meta := metav1.ObjectMeta{Name: kubernetesService, Namespace: metav1.NamespaceDefault}
	ends := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{Ports: []corev1.EndpointPort{{Name: "https", Port: securePort, Protocol: corev1.ProtocolTCP}}}}}
	ends.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
	name, port, protocol, ready := "https", int32(securePort), corev1.ProtocolTCP, true
	slice := &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: kubernetesService}
	for _, ip := range ips {
		ends.Subsets[0].Addresses = append(ends.Subsets[0].Addresses, corev1.EndpointAddress{IP: ip})
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}})
	}
	have, _ := s.cache.held(kinds.Endpoints, meta.Namespace, meta.Name).(*corev1.Endpoints)
	if have == nil {
		s.call(p, kubeapi.Create, kinds.Endpoints, ends)
	} else if !apiequality.Semantic.DeepEqual(have.Subsets, ends.Subsets) {
		s.call(p, kubeapi.Update, kinds.Endpoints, ends)
	}
	shown, _ := s.cache.held(kinds.EndpointSlices, meta.Namespace, meta.Name).(*discoveryv1.EndpointSlice)
	if shown == nil {
		s.call(p, kubeapi.Create, kinds.EndpointSlices, slice)
	} else if !apiequality.Semantic.DeepEqual(shown.Endpoints, slice.Endpoints) || !apiequality.Semantic.DeepEqual(shown.Ports, slice.Ports) {
		s.call(p, kubeapi.Update, kinds.EndpointSlices, slice)
	}
}
