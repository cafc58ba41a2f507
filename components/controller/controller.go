// Package controller is kube-controller-manager: one program that holds many control loops and runs them while it is the leader.
//
// Standbys do nothing but ask for the lease: informers and controllers start after winning, so a takeover costs a second or two more than the lease, and clocks that
// controllers keep (silence of nodes, tolerated taints) begin anew (fidelity LE-8, NODE-11). A leader that cannot renew its lease for ten seconds exits (LE-6).
//
// Owns: Start. Imports of ours: all packages below it, components/kubeapi with record and leaderelect, engine/event, engine/sim. Goroutines: the loop. Time: simulated.
package controller

import (
	"time"

	"example.com/kubeviz/components/controller/clusterroleaggregation"
	"example.com/kubeviz/components/controller/csrsigning"
	"example.com/kubeviz/components/controller/deployment"
	"example.com/kubeviz/components/controller/disruption"
	"example.com/kubeviz/components/controller/endpoint"
	"example.com/kubeviz/components/controller/garbagecollector"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/namespace"
	"example.com/kubeviz/components/controller/nodelifecycle"
	"example.com/kubeviz/components/controller/podgc"
	"example.com/kubeviz/components/controller/replicaset"
	"example.com/kubeviz/components/controller/resourcequota"
	"example.com/kubeviz/components/controller/rootca"
	"example.com/kubeviz/components/controller/serviceaccount"
	"example.com/kubeviz/components/controller/storageprotection"
	"example.com/kubeviz/components/controller/tainteviction"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/leaderelect"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// User is who the program is to the API server.
const User = "system:kube-controller-manager"

// Lease that decides who leads.
const (
	LeaseNamespace = "kube-system"
	LeaseName      = "kube-controller-manager"
)

// Config of the program. The zero value is a kubeadm cluster's.
type Config struct {
	// LeaseDuration, RenewDeadline, RetryPeriod of the leader election; zero: 15 s, 10 s, 2 s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// KeepLeaseOnExit leaves the lease to run out after a clean stop, as releases before 1.37 did (LE-5).
	KeepLeaseOnExit bool
	// OnNewLeader, if set, hears each leader this program observes.
	OnNewLeader func(identity string)
	// RootCA is the certificate of the cluster's authority (PEM), which every namespace is given; empty: it is not published.
	RootCA string
	// Sign makes the certificates that are asked for and approved; nil: none is made.
	Sign csrsigning.Sign
}

// Manager is the running program.
type Manager struct {
	pr     *kubeapi.Process
	rootCA string
	sign   csrsigning.Sign
	stop   sim.Future[event.Seq]
}

// Start runs the program in pr's group and returns. It ends itself by pr.Exit: with code 1 when leadership is lost, with 0 after Stop.
func Start(pr *kubeapi.Process, cfg Config) *Manager {
	m := &Manager{pr: pr, rootCA: cfg.RootCA, sign: cfg.Sign}
	election := leaderelect.Config{
		Process: pr, Namespace: LeaseNamespace, Name: LeaseName, Recorder: record.New(pr, "kube-controller-manager"),
		LeaseDuration: cfg.LeaseDuration, RenewDeadline: cfg.RenewDeadline, RetryPeriod: cfg.RetryPeriod,
		ReleaseOnCancel: !cfg.KeepLeaseOnExit, Stop: &m.stop,
		OnStartedLeading: m.lead, OnNewLeader: cfg.OnNewLeader,
	}
	pr.Go("leader election", func(p *sim.Proc) {
		if err := leaderelect.Run(p, election); err != nil {
			pr.Exit(p, 1, err.Error())
			return
		}
		pr.Exit(p, 0, "Requested to terminate, exiting")
	})
	return m
}

// Stop asks the program to end in good order (SIGTERM): it gives the lease back first. cause is the record of the order.
func (m *Manager) Stop(cause event.Seq) { m.stop.Set(cause) }

// What each controller may ask of the API server a second, and at once after a rest (--kube-api-qps, --kube-api-burst). Each has a client of its own; what it writes and its Events go over it.
const (
	perSecond = 20
	burst     = 30
)

// lead starts the controllers. Each is a service account of its own (--use-service-account-credentials, as kubeadm sets it) with the rights of the cluster role system:controller:NAME;
// the informers that they share read as the program itself.
func (m *Manager) lead(p *sim.Proc) {
	in := informers.New(m.pr)
	own := func(account string) *kubeapi.Process {
		return m.pr.Throttled(perSecond, burst).As(kubeapi.ServiceAccount(LeaseNamespace, account))
	}
	controllers := []interface{ Start() }{
		deployment.New(own("deployment-controller"), in),
		replicaset.New(own("replicaset-controller"), in),
		nodelifecycle.New(own("node-controller"), in),
		tainteviction.New(own("node-controller"), in), // it was a part of the former, and still goes by its name
		podgc.New(own("pod-garbage-collector"), in),
		garbagecollector.New(own("generic-garbage-collector"), in),
		// A namespace is a request or two for every kind, so this one may ask more than the others (k/k startModifiedNamespaceController).
		namespace.New(m.pr.Throttled(20*perSecond, 100*burst).As(kubeapi.ServiceAccount(LeaseNamespace, "namespace-controller")), in),
		endpoint.NewEndpoints(own("endpoint-controller"), in),
		endpoint.NewSlices(own("endpointslice-controller"), in),
		endpoint.NewMirror(own("endpointslicemirroring-controller"), in),
		disruption.New(own("disruption-controller"), in),
		serviceaccount.New(own("service-account-controller"), in),
		clusterroleaggregation.New(own("clusterrole-aggregation-controller"), in),
		resourcequota.New(own("resourcequota-controller"), m.pr, in),
	}
	controllers = append(controllers, storageprotection.NewClaims(own("pvc-protection-controller"), in), storageprotection.NewVolumes(own("pv-protection-controller"), in))
	if m.sign != nil {
		controllers = append(controllers, csrsigning.New(own("certificate-controller"), in, m.sign))
	}
	if m.rootCA != "" {
		controllers = append(controllers, rootca.New(own("root-ca-cert-publisher"), in, m.rootCA))
	}
	in.Start()
	in.WaitSynced(p)
	for _, c := range controllers {
		c.Start()
	}
}
