package otherclients

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/serve"
)

// patience with anything: what is waited for takes seconds, more on a busy machine.
const patience = time.Minute

// cluster is a running one of three masters and two workers, with its administrator's clients.
type cluster struct {
	t          *testing.T
	e          *engine.Engine
	kubeconfig string
	cfg        *rest.Config
	kube       kubernetes.Interface
}

func open(t *testing.T) *cluster {
	t.Helper()
	sc := scenario.Scenario{Name: "clients", Cluster: scenario.Cluster{Masters: 3, Workers: 2}}
	sc.Default()
	e, err := engine.New(engine.Options{Scenario: sc, Store: engine.StoreMemory, Seed: 1, Rate: 60, Start: engine.RepeatableStart})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s, err := serve.Start(e, serve.Options{Listen: "127.0.0.1:0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(ctx) // ends when ctx does, and says just that
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
	})
	ready, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := s.Ready(ready); err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, e: e, kubeconfig: s.Kubeconfig}
	if c.cfg, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	c.cfg.QPS = -1
	if c.kube, err = kubernetes.NewForConfig(c.cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

// leader is the master whose controller manager has the lease.
func (c *cluster) leader() (master string) {
	c.t.Helper()
	c.until("a controller manager leads", func() error {
		lease, err := c.kube.CoordinationV1().Leases("kube-system").Get(c.t.Context(), "kube-controller-manager", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return fmt.Errorf("nobody holds it")
		}
		master, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
		return nil
	})
	return master
}

// crash takes a machine's power away.
func (c *cluster) crash(machine string) {
	c.e.Do(command.Power{Verb: command.Kill, Target: machine})
}

// until tries again until fn is content.
func (c *cluster) until(what string, fn func() error) {
	c.t.Helper()
	var err error
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if err = fn(); err == nil {
			return
		}
		if time.Now().After(deadline) || c.t.Context().Err() != nil {
			c.t.Fatalf("not within %s: %s: %v", patience, what, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
