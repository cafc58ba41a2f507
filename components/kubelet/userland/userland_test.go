package userland

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// manual is a clock that goes as far as somebody sleeps.
type manual struct{ now time.Time }

func (m *manual) Now() time.Time { return m.now }
func (m *manual) Sleep(ctx context.Context, d time.Duration) error {
	m.now = m.now.Add(d)
	return ctx.Err()
}

func container(repository string, command ...string) Container {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: repository, Command: command, Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)2$(C)"},
		{Name: "NS", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}},
		VolumeMounts: []corev1.VolumeMount{{MountPath: tokenDir}}}}
	return Container{Pod: pod, Spec: &pod.Spec.Containers[0], Repository: repository, IP: "10.244.1.7", Gateway: "10.244.1.1", Node: "w1", NodeIP: "10.0.1.1", Started: began}
}

func TestCommandsInAContainer(t *testing.T) {
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	for _, c := range []struct {
		image     string
		argv      []string
		in        string
		out, errs string
		code      int
	}{
		{"busybox", []string{"hostname"}, "", "web-0\n", "", 0},
		{"busybox", []string{"cat", "/etc/hostname"}, "", "web-0\n", "", 0},
		{"busybox", []string{"cat", "/etc/resolv.conf"}, "", "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n", "", 0},
		{"busybox", []string{"cat", "/nosuch"}, "", "", "cat: can't open '/nosuch': No such file or directory\n", 1},
		{"busybox", []string{"cat", tokenDir + "/namespace"}, "", "shop", "", 0},
		{"busybox", []string{"cat"}, "a\nb", "a\nb", "", 0},
		{"busybox", []string{"printenv", "B", "NS"}, "", "12$(C)\nshop\n", "", 0},
		{"busybox", []string{"date"}, "", "Thu Jan  1 00:00:00 UTC 2026\n", "", 0},
		{"busybox", []string{"date", "+%s %F"}, "", "1767225600 2026-01-01\n", "", 0},
		{"busybox", []string{"false"}, "", "", "", 1},
		{"busybox", []string{"ls", "/etc"}, "", "group\nhostname\nhosts\npasswd\nresolv.conf\n", "", 0},
		{"busybox", sh("exit 7"), "", "", "", 7},
		{"busybox", sh("echo hi; echo no >&2; false || echo or"), "", "hi\nor\n", "no\n", 0},
		{"busybox", sh("echo $A $HOSTNAME $UID $PWD | wc -w"), "", "4\n", "", 0},
		{"busybox", sh("for i in 1 2 3; do echo $i; sleep 1; done; date +%S"), "", "1\n2\n3\n03\n", "", 0},
		{"busybox", sh("nosuch"), "", "", "sh: nosuch: not found\n", 127},
		{"busybox", sh("echo x > /tmp/x; echo y >> /tmp/x; cat /tmp/x; wc -c < /tmp/x"), "", "x\ny\n4\n", "", 0},
		{"busybox", sh("echo x > /proc/x"), "", "", "open /proc/x: Read-only file system\n", 1},
		{"busybox", sh("echo x > /none/x"), "", "", "open /none/x: No such file or directory\n", 1},
		{"busybox", sh("echo x > /etc"), "", "", "open /etc: Is a directory\n", 1},
		{"busybox", sh("mkdir -p /a/b && touch /a/b/f && cp -r /a /c && mv /c/b/f /c/g && rm -r /a && ls / | grep zzz; ls /c /c/b; test -e /a || echo gone"), "", "/c:\nb\ng\n/c/b:\ngone\n", "", 0},
		{"busybox", sh("rm /etc/hosts; cat /etc/hosts"), "", "", "cat: can't open '/etc/hosts': No such file or directory\n", 1},
		{"busybox", sh("rm /tmp; mkdir /etc; cp /none /tmp"), "", "", "rm: '/tmp' is a directory\nmkdir: can't create directory '/etc': File exists\ncp: can't stat '/none': No such file or directory\n", 1},
		{"busybox", []string{"tee", "/tmp/x"}, "in\n", "in\n", "", 0},
		{"busybox", []string{"test", "-d", "/tmp"}, "", "", "", 0},
		{"busybox", []string{"[", "-f", "/tmp", "]"}, "", "", "", 1},
		{"busybox", sh("mkdir /d; echo 1 > /d/one; cd /d; tar cf - . | tar xf - -C /tmp; cat /tmp/one; cd /; tar cf /t.tar d; rm -r d; tar xf t.tar; ls d"), "", "1\none\n", "", 0},
		{"busybox", sh("x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11; do x=$x$x; done; while echo $x >> /big; do :; done; echo full"), "", "full\n", "echo: write error: No space left on device\n", 0},
		{"busybox", sh("cat < /etc/hostname; cd /etc && pwd; cat hostname; ls /etc/h*"), "", "web-0\n/etc\nweb-0\n/etc/hostname\n/etc/hosts\n", "", 0},
		{"busybox", sh("test -f /etc/hosts && echo yes"), "", "yes\n", "", 0},
		{"busybox", sh("cat <(echo 1)"), "", "", "sh: syntax error: unexpected \"(\"\n", 2},
		{"busybox", []string{"sh"}, "echo from input\n", "from input\n", "", 0},
		{"busybox", []string{"grep", "-v", "search", "/etc/resolv.conf"}, "", "nameserver 10.96.0.10\noptions ndots:5\n", "", 0},
		{"nginx", []string{"bash", "-c", "head -n 1 /usr/share/nginx/html/index.html"}, "", "<!DOCTYPE html>\n", "", 0},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			box := container(c.image)
			var out, errs bytes.Buffer
			code, err := (&Process{In: strings.NewReader(c.in), Out: &out, Err: &errs, Clock: &manual{began}, Container: &box}).Run(t.Context(), c.argv)
			if err != nil || code != c.code || out.String() != c.out || errs.String() != c.errs {
				t.Errorf("code %d, error %v\nout %q\nerr %q", code, err, out.String(), errs.String())
			}
		})
	}
}

func TestWhatAnImageDoesNotHoldCannotBeStarted(t *testing.T) {
	for _, c := range []struct{ image, name, want string }{
		{"busybox", "foo", `exec: "foo": executable file not found in $PATH`},
		{"busybox", "/bin/foo", `exec: "/bin/foo": stat /bin/foo: no such file or directory`},
		{"busybox", "bash", `exec: "bash": executable file not found in $PATH`},
		{"nginx", "ps", `exec: "ps": executable file not found in $PATH`},
		{"registry.k8s.io/etcd", "sh", `exec: "sh": executable file not found in $PATH`},
	} {
		box := container(c.image)
		_, err := (&Process{Clock: &manual{began}, Container: &box}).Run(t.Context(), []string{c.name})
		var missing *NotFoundError
		if !errors.As(err, &missing) || err.Error() != c.want {
			t.Errorf("%s in %s: %v", c.name, c.image, err)
		}
	}
}

func account(c Container, after time.Duration) *Account {
	return &Account{Container: c, ID: "1", Now: began.Add(after)}
}

func text(lines []Line) (out []string) {
	for _, l := range lines {
		out = append(out, fmt.Sprintf("%s %s", l.At.Format("15:04:05"), l.Text))
	}
	return out
}

func TestAScriptsLogIsWhatItPrintedSoFar(t *testing.T) {
	c := container("busybox", "sh", "-c", `i=0; while true; do echo "$i: $(date +%T)"; i=$((i+1)); sleep 1; done`)
	var whole, steps Log
	defer whole.Close()
	defer steps.Close()
	want := text(whole.Next(account(c, 5500*time.Millisecond)))
	if len(want) != 6 || want[0] != "00:00:00 0: 00:00:00\n" || !strings.HasPrefix(want[5], "00:00:05 5: ") {
		t.Fatalf("%q", want)
	}
	var got []string
	for d := time.Duration(0); d <= 5500*time.Millisecond; d += 250 * time.Millisecond {
		got = append(got, text(steps.Next(account(c, d)))...)
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("in steps %q\nat once %q", got, want)
	}
}

func TestAServersLogFollowsItsProbesAndItsEnd(t *testing.T) {
	c := container("nginx")
	c.Tag = "1.27"
	c.Spec.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}}
	a := account(c, 35*time.Second)
	for i := range 3 {
		a.Probes = AddProbe(a.Probes, Liveness, began.Add(time.Duration(i+1)*10*time.Second), 10*time.Second, i < 2)
	}
	var l Log
	got := text(l.Next(a))
	if len(got) != 9+8+3 || got[9] != "00:00:00 2026/01/01 00:00:00 [notice] 1#1: using the \"epoll\" event method\n" {
		t.Fatalf("%d lines: %q", len(got), got)
	}
	if want := `00:00:10 10.244.1.1 - - [01/Jan/2026:00:00:10 +0000] "GET / HTTP/1.1" 200 615 "-" "kube-probe/1.37" "-"` + "\n"; got[17] != want {
		t.Errorf("got %q", got[17])
	}
	if !strings.Contains(got[19], " 500 190 ") {
		t.Errorf("got %q", got[19])
	}
	if more := l.Next(a); more != nil {
		t.Errorf("again: %q", text(more))
	}
	end := *a
	end.Now, end.Term, end.Finished = began.Add(time.Minute), began.Add(40*time.Second), began.Add(41*time.Second)
	got = text(l.Next(&end))
	if len(got) != 11 || !strings.Contains(got[0], "signal 3 (SIGQUIT) received, shutting down") {
		t.Errorf("end: %q", got)
	}
}

func TestProbesAlikeAreOneRow(t *testing.T) {
	var runs []ProbeRun
	for i := range 1000 {
		runs = AddProbe(runs, Readiness, began.Add(time.Duration(i)*10*time.Second), 10*time.Second, true)
	}
	if len(runs) != 1 || runs[0].Count != 1000 {
		t.Errorf("%+v", runs)
	}
	for i := range 1000 {
		runs = AddProbe(runs, Liveness, began.Add(time.Duration(i)*10*time.Second), 10*time.Second, i%2 == 0)
	}
	if len(runs) != ProbeRunsMax {
		t.Errorf("%d rows", len(runs))
	}
}

func TestAScriptThatNeverWaitsEnds(t *testing.T) {
	c := container("busybox", "sh", "-c", "while true; do x=$x$x; x=${x}1; done")
	var l Log
	defer l.Close()
	if got := l.Next(account(c, time.Hour)); len(got) != 0 {
		t.Errorf("%d lines", len(got))
	}
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{"echo hi; sleep 1", "cat < /etc/hosts | grep web", "x=1; while [ $x -lt 5 ]; do x=$((x+1)); done; echo $x", "cd /etc; ls -la *", "exec sleep 5", "trap 'echo' TERM; tail -f /dev/null"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		box := container("busybox")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		code, _ := (&Process{Clock: &manual{began}, Container: &box}).Run(ctx, []string{"sh", "-c", script})
		if code < 0 || code > 255 {
			t.Fatalf("%q ends with %d", script, code)
		}
	})
}
