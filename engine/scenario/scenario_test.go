package scenario

import (
	"strings"
	"testing"
	"time"
)

func TestAScenarioIsFilledInWithDefaults(t *testing.T) {
	s, err := Parse([]byte("cluster: {workers: 2}\nsteps:\n- {at: 2m, do: heal}\n- {at: 60s, do: kill leader}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "scenario" || s.Cluster.Masters != 3 || s.Cluster.Workers != 2 || s.Cluster.Worker.Pods != 110 || s.Cluster.Worker.CPU.String() != "4" || s.Cluster.Master.Memory.String() != "4Gi" ||
		s.Cluster.APIServer != (APIServer{400, 200}) {
		t.Errorf("%+v", s)
	}
	steps, err := s.Timed()
	if err != nil || len(steps) != 2 || steps[0].At != time.Minute || steps[0].Command.String() != "kill leader" {
		t.Errorf("steps in order of time: %v %v", steps, err)
	}
}

func TestWrongScenariosSayWhatAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                "is empty",
		"cluster: [":                                      "not a scenario",
		"cluster: {masters: 3, woker: 1}":                 "woker",
		"cluster: {masters: 8}":                           "cluster.masters: 8 is not between 1 and 7",
		"cluster: {masters: -1}":                          "cluster.masters: -1",
		"cluster: {workers: 5001}":                        "cluster.workers: 5001 is not between 0 and 5000",
		"cluster: {worker: {cpu: 1m}}":                    "cluster.worker.cpu: 1m is not between 100m and 1k",
		"cluster: {worker: {cpu: lots}}":                  "not a scenario",
		"cluster: {worker: {memory: 1e30}}":               "cluster.worker.memory",
		"cluster: {worker: {pods: 2000}}":                 "cluster.worker.pods: 2000",
		"cluster: {store: {quota: 1Ki}}":                  "cluster.store.quota: 1Ki is not between 64Ki and 1Ti",
		"cluster: {store: {quota: -8Mi}}":                 "cluster.store.quota: -8Mi",
		"cluster: {store: {quota: much}}":                 "not a scenario",
		"cluster: {apiserver: {maxRequestsInflight: -1}}": "cluster.apiserver.maxRequestsInflight: -1 is not between 1 and 100000",
		"cluster: {apiserver: {maxMutatingRequestsInflight: 1000000}}": "cluster.apiserver.maxMutatingRequestsInflight: 1000000",
		"cluster: {zones: [North]}":                                    `cluster.zones[0]: "North"`,
		"name: Has Spaces":                                             "name:",
		"steps: [{at: soon, do: heal}]":                                `steps[0]: at: "soon" is not a duration`,
		"steps: [{at: -5s, do: heal}]":                                 "steps[0]: at:",
		"steps: [{at: 5s, do: explode}]":                               `steps[0]: do: "explode": no command is called "explode"`,
		"steps: [{at: 1s, do: heal}, {at: 2s}]":                        "steps[1]: do:",
		"manifests: " + strings.Repeat("x", 4e6):                       "at most",
		"name: a\nname: b":                                             "not a scenario",
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want …%s…", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: a\ncluster: {masters: 3, workers: 4, zones: [x]}\nsteps: [{at: 1s, do: kill leader}]\n"))
	f.Add([]byte("a: &a [*a, *a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("accepted and then refused: %v", err)
		}
		if _, err := s.Timed(); err != nil {
			t.Fatal(err)
		}
	})
}
