package kubelet_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/kubeapi"
)

// log reads the whole log of a container, or says how the kubelet refuses.
func (m *machine) log(pod, container string, previous bool) string {
	c, err := m.kubelet.Logs(nil, "default", pod, kubeapi.ContainerQuery{Name: container, Previous: previous})
	if err != nil {
		return "refused: " + err.Error()
	}
	l := c.OpenLog()
	defer l.Close()
	var out strings.Builder
	for _, x := range l.Next(c) {
		out.WriteString(x.Text)
	}
	return out.String()
}

func TestALogIsReadFromTheKubelet(t *testing.T) {
	m := start(t)
	m.create("web", func(p *corev1.Pod) {
		p.Spec.Containers[0].Image = "nginx:1.27"
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}}
	})
	m.create("crash", command("sh", "-c", "echo about to fail; sleep 1; exit 3"))
	m.create("nowhere", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:nosuch" })
	name := m.pod("web").Spec.Containers[0].Name
	m.c.Run(45 * time.Second)
	if got := m.log("web", name, false); !strings.Contains(got, "start worker process 30\n") || strings.Count(got, "kube-probe/1.37") < 3 {
		t.Errorf("log of web:\n%s", got)
	}
	for _, c := range []struct {
		pod, container string
		previous       bool
		want           string
	}{
		{"web", name, true, fmt.Sprintf("refused: previous terminated container %q in pod \"web\" not found", name)},
		{"web", "other", false, "refused: container \"other\" not found in pod \"web\"\n"},
		{"none", name, false, "refused: pod \"none\" does not exist\n"},
		{"crash", name, false, "about to fail\n"},
		{"crash", name, true, "about to fail\n"},
		{"nowhere", name, false, fmt.Sprintf("refused: container %q in pod \"nowhere\" is waiting to start: ", name)}, // ErrImagePull or ImagePullBackOff in words
	} {
		if got := m.log(c.pod, c.container, c.previous); got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("log of %s/%s, previous %v: %q, want %q", c.pod, c.container, c.previous, got, c.want)
		}
	}
}

func TestACommandRunsInARunningContainerOnly(t *testing.T) {
	m := start(t)
	m.create("a", command("sleep", "3600"))
	m.create("b", command("true"), restart(corev1.RestartPolicyNever))
	m.c.Run(20 * time.Second)
	name := m.pod("a").Spec.Containers[0].Name
	c, err := m.kubelet.Running(nil, "default", "a", kubeapi.ContainerQuery{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	now := m.c.Loop.Now()
	var out bytes.Buffer
	run := func(argv ...string) (int, error) {
		out.Reset()
		return c.Exec(t.Context(), kubeapi.Command{Argv: argv, Out: &out, Err: &out, Now: func() time.Time { return now }, Sleep: func(_ context.Context, d time.Duration) error {
			now = now.Add(d)
			return nil
		}})
	}
	if code, err := run("sh", "-c", "hostname; exit 4"); code != 4 || err != nil || out.String() != "a\n" {
		t.Errorf("code %d, %v, %q", code, err, out.String())
	}
	if _, err := run("foo"); err == nil || !strings.HasSuffix(err.Error(), `": OCI runtime exec failed: exec failed: unable to start container process: exec: "foo": executable file not found in $PATH: unknown`) {
		t.Errorf("foo: %v", err)
	}
	if _, err := m.kubelet.Running(nil, "default", "b", kubeapi.ContainerQuery{Name: name}); err == nil || err.Error() != fmt.Sprintf("container not found (%q)", name) {
		t.Errorf("b: %v", err)
	}
}

func TestAWebServerAnswersAtItsPort(t *testing.T) {
	m := start(t)
	m.create("web", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:1.27" })
	m.c.Run(20 * time.Second)
	c, err := m.kubelet.Running(nil, "default", "web", kubeapi.ContainerQuery{Name: m.pod("web").Spec.Containers[0].Name})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Dial(80)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	req, _ := http.NewRequest(http.MethodGet, "http://localhost/", nil)
	go func() { _ = req.Write(conn) }()
	var got strings.Builder
	if _, err := io.CopyN(&got, conn, 200); err != nil || !strings.HasPrefix(got.String(), "HTTP/1.1 200 OK\r\n") {
		t.Errorf("%v: %q", err, got.String())
	}
	if _, err := c.Dial(81); err == nil {
		t.Error("somebody listens at 81")
	}
}
