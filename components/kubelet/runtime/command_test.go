package runtime

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestWhatACommandDoes(t *testing.T) {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	forever := behaviour{forever: true, ignoresTerm: true}
	for _, c := range []struct {
		says    string
		image   string
		command []string
		args    []string
		want    behaviour
	}{
		{"a server image without a command serves for ever", "nginx:1.27", nil, nil, serves},
		{"a base image without a command ends at once", "busybox", nil, nil, behaviour{}},
		{"a base image given arguments runs them", "busybox", nil, []string{"sleep", "5"}, behaviour{runs: 5 * time.Second, ignoresTerm: true}},
		{"flags belong to the image's program", "nginx", nil, []string{"--port=80"}, serves},
		{"sleep", "busybox", []string{"sleep", "1.5"}, nil, behaviour{runs: 1500 * time.Millisecond, ignoresTerm: true}},
		{"sleep with a unit and two operands", "busybox", []string{"sleep", "1m", "2"}, nil, behaviour{runs: 62 * time.Second, ignoresTerm: true}},
		{"sleep infinity", "busybox", []string{"sleep", "infinity"}, nil, forever},
		{"sleep longer than the world", "busybox", []string{"sleep", "1e300"}, nil, forever},
		{"sleep of nonsense fails", "busybox", []string{"sleep", "x"}, nil, behaviour{code: 1}},
		{"true", "busybox", []string{"true"}, nil, behaviour{}},
		{"false", "busybox", []string{"/bin/false"}, nil, behaviour{code: 1}},
		{"exit with a code", "busybox", sh("exit 3"), nil, behaviour{code: 3, ignoresTerm: true}},
		{"exit wraps at 256", "busybox", sh("exit 257"), nil, behaviour{code: 1, ignoresTerm: true}},
		{"sleep, then exit", "busybox", sh("echo hi; sleep 2; exit 7"), nil, behaviour{runs: 2 * time.Second, code: 7, ignoresTerm: true}},
		{"the last command gives the code", "busybox", sh("false; true"), nil, behaviour{ignoresTerm: true}},
		{"&& stops at a failure", "busybox", sh("false && sleep 9"), nil, behaviour{code: 1, ignoresTerm: true}},
		{"|| goes on after a failure", "busybox", sh("false || sleep 9"), nil, behaviour{runs: 9 * time.Second, ignoresTerm: true}},
		{"operators in quotes are text", "busybox", sh(`echo "a; exit 1"`), nil, behaviour{ignoresTerm: true}},
		{"a loop runs for ever", "busybox", sh("while true; do date; sleep 1; done"), nil, forever},
		{"a trap hears TERM", "busybox", sh("trap 'exit 0' TERM; while :; do sleep 1; done"), nil, behaviour{forever: true}},
		{"an unknown program in a shell runs for ever and hears nothing", "app:1", sh("serve --all"), nil, forever},
		{"an unknown program is a server", "app:1", []string{"/app/serve"}, nil, serves},
	} {
		t.Run(c.says, func(t *testing.T) {
			if got := behaviourOf(&corev1.Container{Image: c.image, Command: c.command, Args: c.args}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestImageReferences(t *testing.T) {
	for _, c := range []struct {
		name, ref, repository string
		missing, valid        bool
	}{
		{"nginx", "docker.io/library/nginx:latest", "nginx", false, true},
		{"nginx:1.27", "docker.io/library/nginx:1.27", "nginx", false, true},
		{"docker.io/library/nginx:1.27", "docker.io/library/nginx:1.27", "nginx", false, true},
		{"bitnami/redis:7", "docker.io/bitnami/redis:7", "bitnami/redis", false, true},
		{"registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/etcd", false, true},
		{"localhost:5000/app", "localhost:5000/app:latest", "localhost:5000/app", false, true},
		{"nginx:nosuch-tag", "docker.io/library/nginx:nosuch-tag", "nginx", true, true},
		{"nginx:does-not-exist", "docker.io/library/nginx:does-not-exist", "nginx", true, true},
		{"registry.invalid/app:1", "registry.invalid/app:1", "registry.invalid/app", true, true},
		{"Nginx", "docker.io/library/Nginx:latest", "Nginx", false, false},
		{"a b", "docker.io/library/a b:latest", "a b", false, false},
	} {
		got := Describe(c.name)
		if got.Ref != c.ref || got.Repository != c.repository || got.Missing != c.missing || ValidName(c.name) != c.valid {
			t.Errorf("%s: got %+v, valid %v", c.name, got, ValidName(c.name))
		}
		if again := Describe(c.name); again != got || got.Size <= 0 {
			t.Errorf("%s: size %d, then %d", c.name, got.Size, again.Size)
		}
	}
	if s := Describe("nginx:1.27").Size; s < 68*mb || s > 73*mb {
		t.Errorf("nginx:1.27 is %d bytes", s)
	}
}

func FuzzRunScript(f *testing.F) {
	f.Add("sleep 1; exit 2")
	f.Fuzz(func(t *testing.T, s string) {
		if b := runScript(s); b.runs < 0 || b.code < 0 || b.code > 255 {
			t.Fatalf("%q: %+v", s, b)
		}
	})
}

func TestWhatReadsItsInputWaitsForIt(t *testing.T) {
	for _, c := range []struct {
		says       string
		args       []string
		stdin, tty bool
		want       behaviour
	}{
		{"the shell of a base image with a terminal", nil, true, true, behaviour{forever: true, ignoresTerm: true, reads: true}},
		{"a shell that is named", []string{"sh"}, true, false, behaviour{forever: true, ignoresTerm: true, reads: true}},
		{"cat", []string{"cat"}, true, false, behaviour{forever: true, ignoresTerm: true, reads: true}},
		{"a shell without input is at its end", []string{"/bin/sh"}, false, false, behaviour{}},
		{"a shell at a terminal where nobody types", []string{"sh"}, false, true, behaviour{forever: true, ignoresTerm: true}},
		{"a script needs no input", []string{"sh", "-c", "exit 2"}, true, true, behaviour{code: 2, ignoresTerm: true}},
		{"cat of a file", []string{"cat", "/etc/hosts"}, true, true, behaviour{}},
	} {
		if got := behaviourOf(&corev1.Container{Image: "busybox", Args: c.args, Stdin: c.stdin, TTY: c.tty}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.says, got, c.want)
		}
	}
}
