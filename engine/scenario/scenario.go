// Package scenario is the description of a cluster and what happens to it, as YAML: how many masters and workers, what is deployed, which commands are given when.
//
//	name: ha
//	description: three masters, four workers
//	cluster:
//	  masters: 3
//	  workers: 4
//	  worker: {cpu: "4", memory: 8Gi, pods: 110}
//	  store: {quota: 8Mi}
//	  apiserver: {maxRequestsInflight: 40, maxMutatingRequestsInflight: 20}
//	manifests: |
//	  apiVersion: apps/v1
//	  kind: Deployment
//	  …
//	steps:
//	- at: 60s
//	  do: kill leader
//
// The steps' words are the console's (engine/command). Imports of ours: engine/command. Goroutines: values. Time: simulated, from the start of the cluster.
package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/engine/command"
)

// Bounds of a cluster.
const (
	MastersMin, MastersMax = 1, 7
	WorkersMin, WorkersMax = 0, 5000
	bytesMax               = 3 << 20
)

// Scenario is a cluster with what is deployed and done.
type Scenario struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Cluster     Cluster `json:"cluster"`
	// Manifests are YAML documents that the user applies once the API answers.
	Manifests string `json:"manifests,omitempty"`
	Steps     []Step `json:"steps,omitempty"`
}

// Cluster is its machines.
type Cluster struct {
	Masters int     `json:"masters"`
	Workers int     `json:"workers"`
	Worker  Machine `json:"worker,omitempty"`
	Master  Machine `json:"master,omitempty"`
	// Zones, if any, are given to workers in turn as topology.kubernetes.io/zone.
	Zones []string `json:"zones,omitempty"`
	Store Store    `json:"store,omitempty"`
	// APIServer is how every API server is started.
	APIServer APIServer `json:"apiserver,omitempty"`
}

// Store is how the store is set up.
type Store struct {
	// Quota bounds the size of each member's database; none: etcd's 2Gi.
	Quota resource.Quantity `json:"quota,omitempty"`
}

// APIServer holds the two flags of kube-apiserver that say how many requests it works on at once; 0: its defaults. With priority and fairness their sum is shared among the levels.
type APIServer struct {
	MaxRequestsInflight         int `json:"maxRequestsInflight,omitempty"`
	MaxMutatingRequestsInflight int `json:"maxMutatingRequestsInflight,omitempty"`
}

// What kube-apiserver is started with when nothing is said.
const (
	requestsInflight, mutatingRequestsInflight = 400, 200
	inflightMax                                = 100_000
)

// Machine is the size of one.
type Machine struct {
	CPU    resource.Quantity `json:"cpu,omitempty"`
	Memory resource.Quantity `json:"memory,omitempty"`
	Pods   int64             `json:"pods,omitempty"`
}

// Step gives a command at an instant.
type Step struct {
	// At is a duration since the start in Go's notation ("60s", "2m30s").
	At string `json:"at"`
	Do string `json:"do"`
}

// Timed is a step made ready.
type Timed struct {
	At      time.Duration
	Command command.Command
}

var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Load reads a scenario file.
func Load(path string) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, err
	}
	s, err := Parse(data)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse reads a scenario, fills in defaults and checks it.
func Parse(data []byte) (Scenario, error) {
	var s Scenario
	if len(data) > bytesMax {
		return s, fmt.Errorf("the scenario has %d bytes; at most %d are read", len(data), bytesMax)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return s, errors.New("the scenario is empty; it needs at least cluster.masters and cluster.workers")
	}
	if err := yaml.UnmarshalStrict(data, &s); err != nil {
		return s, fmt.Errorf("not a scenario: %w", err)
	}
	s.Default()
	return s, s.Validate()
}

// Default fills in what was left out.
func (s *Scenario) Default() {
	if s.Name == "" {
		s.Name = "scenario"
	}
	if s.Cluster.Masters == 0 {
		s.Cluster.Masters = 3
	}
	s.Cluster.Worker.fill("4", "8Gi")
	s.Cluster.Master.fill("2", "4Gi")
	if a := &s.Cluster.APIServer; a.MaxRequestsInflight == 0 {
		a.MaxRequestsInflight = requestsInflight
	}
	if a := &s.Cluster.APIServer; a.MaxMutatingRequestsInflight == 0 {
		a.MaxMutatingRequestsInflight = mutatingRequestsInflight
	}
}

func (m *Machine) fill(cpu, memory string) {
	if m.CPU.IsZero() {
		m.CPU = resource.MustParse(cpu)
	}
	if m.Memory.IsZero() {
		m.Memory = resource.MustParse(memory)
	}
	if m.Pods == 0 {
		m.Pods = 110
	}
}

// Validate names the first thing that is wrong, where, and how to mend it.
func (s *Scenario) Validate() error {
	if !nameRule.MatchString(s.Name) {
		return fmt.Errorf("name: %q is not a lower-case name of letters, digits and '-', up to 63 long", s.Name)
	}
	if n := s.Cluster.Masters; n < MastersMin || n > MastersMax {
		return fmt.Errorf("cluster.masters: %d is not between %d and %d", n, MastersMin, MastersMax)
	}
	if n := s.Cluster.Workers; n < WorkersMin || n > WorkersMax {
		return fmt.Errorf("cluster.workers: %d is not between %d and %d", n, WorkersMin, WorkersMax)
	}
	for where, m := range map[string]Machine{"cluster.worker": s.Cluster.Worker, "cluster.master": s.Cluster.Master} {
		if err := m.validate(); err != nil {
			return fmt.Errorf("%s.%w", where, err)
		}
	}
	for i, z := range s.Cluster.Zones {
		if !nameRule.MatchString(z) {
			return fmt.Errorf("cluster.zones[%d]: %q is not a lower-case name", i, z)
		}
	}
	if q := s.Cluster.Store.Quota; !q.IsZero() && (q.Cmp(*resource.NewQuantity(command.QuotaMin, resource.BinarySI)) < 0 || q.Cmp(*resource.NewQuantity(command.QuotaMax, resource.BinarySI)) > 0) {
		return fmt.Errorf("cluster.store.quota: %s is not between %s and %s", q.String(), command.Size(command.QuotaMin), command.Size(command.QuotaMax))
	}
	if n := s.Cluster.APIServer.MaxRequestsInflight; n < 1 || n > inflightMax {
		return fmt.Errorf("cluster.apiserver.maxRequestsInflight: %d is not between 1 and %d", n, inflightMax)
	}
	if n := s.Cluster.APIServer.MaxMutatingRequestsInflight; n < 1 || n > inflightMax {
		return fmt.Errorf("cluster.apiserver.maxMutatingRequestsInflight: %d is not between 1 and %d", n, inflightMax)
	}
	_, err := s.Timed()
	return err
}

func (m Machine) validate() error {
	if m.CPU.Cmp(resource.MustParse("100m")) < 0 || m.CPU.Cmp(resource.MustParse("1k")) > 0 {
		return fmt.Errorf("cpu: %s is not between 100m and 1k", m.CPU.String())
	}
	if m.Memory.Cmp(resource.MustParse("128Mi")) < 0 || m.Memory.Cmp(resource.MustParse("64Ti")) > 0 {
		return fmt.Errorf("memory: %s is not between 128Mi and 64Ti", m.Memory.String())
	}
	if m.Pods < 1 || m.Pods > 1000 {
		return fmt.Errorf("pods: %d is not between 1 and 1000", m.Pods)
	}
	return nil
}

// Timed gives the steps in order of time, equal times in the order written.
func (s *Scenario) Timed() ([]Timed, error) {
	out := make([]Timed, 0, len(s.Steps))
	for i, st := range s.Steps {
		t, err := ParseStep(st.At, st.Do)
		if err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", i, err)
		}
		out = append(out, t)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At < out[j].At })
	return out, nil
}

// ParseStep reads one step.
func ParseStep(at, do string) (Timed, error) {
	d, err := time.ParseDuration(at)
	if err != nil || d < 0 || d > 1000*time.Hour {
		return Timed{}, fmt.Errorf("at: %q is not a duration since the start, such as 30s or 2m", at)
	}
	c, err := command.Parse(do)
	if err != nil {
		return Timed{}, fmt.Errorf("do: %w", err)
	}
	return Timed{At: d, Command: c}, nil
}
