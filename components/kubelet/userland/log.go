package userland

import (
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Account is what the machine knows of a container's life, from which its log follows.
type Account struct {
	Container
	ID string
	// Now is when this was told. Term is when it was asked to end, Finished when it ended; zero: not yet.
	Now, Term, Finished time.Time
	ExitCode            int
	Killed              bool // it did not end by itself, and had no time for a word
	NeverRan            bool // it could not be started
	// Main is its program, where that reads its input; nil otherwise.
	Main *Main
	// HTTP requests of its probes.
	Probes []ProbeRun
}

// ProbeRun is a row of probes that were answered alike.
type ProbeRun struct {
	Kind   ProbeKind
	First  time.Time
	Period time.Duration
	Count  int
	OK     bool
}

// ProbeKind tells which of the container's probes it was.
type ProbeKind uint8

const (
	Startup ProbeKind = iota
	Liveness
	Readiness
)

// ProbeRunsMax is how many rows are kept of one container; older ones are forgotten, as old logs are.
const ProbeRunsMax = 64

// AddProbe notes one probe in the rows of a container.
func AddProbe(runs []ProbeRun, kind ProbeKind, at time.Time, period time.Duration, ok bool) []ProbeRun {
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		if r.Kind != kind {
			continue
		}
		if r.OK == ok && r.Period == period && r.First.Add(time.Duration(r.Count)*period).Equal(at) {
			r.Count++
			return runs
		}
		break
	}
	if len(runs) >= ProbeRunsMax {
		runs = slices.Delete(runs, 0, 1)
	}
	return append(runs, ProbeRun{Kind: kind, First: at, Period: period, Count: 1, OK: ok})
}

// Line of a log, with its end of line where the program wrote one.
type Line struct {
	At     time.Time
	Stderr bool
	Text   string
}

// Log reads the log of one container from its beginning. The zero value is ready; one goroutine. Close must follow.
type Log struct {
	read   time.Time // everything before it was returned
	player *player
	played string
	main   int // lines of a Main
}

// Next returns what the log holds beyond what was returned before, as far as the account goes. Accounts must be of the same container, each newer than the one before.
func (l *Log) Next(a *Account) []Line {
	from, until := l.read, a.Now
	if !a.Finished.IsZero() {
		until = a.Finished.Add(1)
	}
	if !until.After(from) || a.NeverRan || a.Started.IsZero() {
		return nil
	}
	l.read = until
	if a.Main != nil {
		var lines []Line
		lines, l.main = a.Main.Lines(l.main)
		return lines
	}
	if argv := a.Command(); a.speaksItself(argv) {
		if l.player == nil || l.played != a.ID {
			l.Close()
			own := a.Container
			own.Disk = nil // whoever reads the log runs the command for themselves
			l.player, l.played = play(&own, argv), a.ID
		}
		return l.player.next(until)
	}
	return a.server(from, until)
}

// Close ends the reading.
func (l *Log) Close() {
	if l.player != nil {
		l.player.close()
		l.player = nil
	}
}

// speaksItself tells a command whose every word can be computed from a server of the image.
func (a *Account) speaksItself(argv []string) bool {
	if len(argv) == 0 || len(a.Spec.Command) == 0 && strings.HasPrefix(argv[0], "-") || minimal(a.Repository) {
		return false
	}
	_, base := split(argv[0])
	_, ok := program(base)
	return ok
}

// server is what the program of an image prints in [from, until).
func (a *Account) server(from, until time.Time) []Line {
	w := &writer{from: from, until: until}
	voice := a.voice()
	voice.start(a, w)
	if voice.request != nil {
		for _, r := range a.Probes {
			a.probes(w, voice, r)
		}
	}
	switch {
	case a.Finished.IsZero() && a.Term.IsZero():
	case !a.Term.IsZero() && voice.stop != nil:
		voice.stop(a, w, a.Term)
	}
	if !a.Finished.IsZero() && a.Term.IsZero() && !a.Killed && a.ExitCode != 0 {
		w.at(a.Finished).stderr("fatal: unrecoverable error, exit status %d\n", a.ExitCode)
	}
	slices.SortStableFunc(w.lines, func(x, y Line) int { return x.At.Compare(y.At) })
	return w.lines
}

// probes writes the requests of a row that fall into the window.
func (a *Account) probes(w *writer, v voice, r ProbeRun) {
	spec := map[ProbeKind]*corev1.Probe{Startup: a.Spec.StartupProbe, Liveness: a.Spec.LivenessProbe, Readiness: a.Spec.ReadinessProbe}[r.Kind]
	if spec == nil || spec.HTTPGet == nil {
		return
	}
	path, first := spec.HTTPGet.Path, 0
	if path == "" {
		path = "/"
	}
	if r.Period > 0 && w.from.After(r.First) {
		first = int(w.from.Sub(r.First) / r.Period)
	}
	code := 200
	switch {
	case r.OK:
	case r.Kind == Readiness:
		code = 503
	default:
		code = 500
	}
	for n := first; n < r.Count; n++ {
		at := r.First.Add(time.Duration(n) * r.Period)
		if !at.Before(w.until) {
			return
		}
		v.request(a, w, at, path, code)
	}
}

type writer struct {
	from, until, now time.Time
	lines            []Line
}

func (w *writer) at(t time.Time) *writer { w.now = t; return w }

func (w *writer) line(stderr bool, format string, args ...any) {
	if !w.now.Before(w.from) && w.now.Before(w.until) {
		w.lines = append(w.lines, Line{w.now, stderr, fmt.Sprintf(format, args...)})
	}
	w.now = w.now.Add(300 * time.Microsecond)
}

func (w *writer) stdout(format string, args ...any) { w.line(false, format, args...) }
func (w *writer) stderr(format string, args ...any) { w.line(true, format, args...) }

// voice is how the programs of an image speak.
type voice struct {
	start   func(*Account, *writer)
	request func(a *Account, w *writer, at time.Time, path string, code int)
	stop    func(a *Account, w *writer, at time.Time)
}

// voice finds it by the image's name.
func (a *Account) voice() voice {
	_, base := split("/" + a.Repository)
	switch base {
	case "nginx":
		return voice{nginxStart, nginxRequest, nginxStop}
	case "httpd":
		return voice{httpdStart, httpdRequest, httpdStop}
	case "redis", "valkey":
		return voice{start: redisStart, stop: redisStop}
	case "hello-world":
		return voice{start: helloStart}
	case "coredns":
		return voice{start: corednsStart, stop: corednsStop}
	case "etcd":
		return voice{start: etcdStart}
	case "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy":
		return voice{start: klogStart}
	case "busybox", "alpine", "ubuntu", "debian", "centos", "fedora", "rockylinux", "bash", "pause":
		return voice{start: func(*Account, *writer) {}}
	}
	return voice{plainStart, plainRequest, plainStop}
}

const nginxTime = "2006/01/02 15:04:05"

func nginxStart(a *Account, w *writer) {
	w.at(a.Started.Add(8 * time.Millisecond))
	if len(a.Spec.Command) == 0 {
		w.stdout("/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration\n")
		w.stdout("/docker-entrypoint.sh: Looking for shell scripts in /docker-entrypoint.d/\n")
		w.stdout("/docker-entrypoint.sh: Launching /docker-entrypoint.d/10-listen-on-ipv6-by-default.sh\n")
		w.stdout("10-listen-on-ipv6-by-default.sh: info: Getting the checksum of /etc/nginx/conf.d/default.conf\n")
		w.stdout("10-listen-on-ipv6-by-default.sh: info: Enabled listen on IPv6 in /etc/nginx/conf.d/default.conf\n")
		w.stdout("/docker-entrypoint.sh: Sourcing /docker-entrypoint.d/15-local-resolvers.envsh\n")
		w.stdout("/docker-entrypoint.sh: Launching /docker-entrypoint.d/20-envsubst-on-templates.sh\n")
		w.stdout("/docker-entrypoint.sh: Launching /docker-entrypoint.d/30-tune-worker-processes.sh\n")
		w.stdout("/docker-entrypoint.sh: Configuration complete; ready for start up\n")
	}
	note := func(format string, args ...any) {
		w.stderr(w.now.UTC().Format(nginxTime)+" [notice] 1#1: "+format+"\n", args...)
	}
	version := a.Tag
	if strings.Count(version, ".") == 1 {
		version += ".0"
	}
	if version == "" || version[0] < '0' || version[0] > '9' {
		version = "1.29.4"
	}
	version, _, _ = strings.Cut(version, "-")
	w.at(w.now.Add(10 * time.Millisecond))
	note("using the \"epoll\" event method")
	note("nginx/%s", version)
	note("built by gcc 14.2.0 (Debian 14.2.0-19)")
	note("OS: Linux %s", kernel)
	note("getrlimit(RLIMIT_NOFILE): 1048576:1048576")
	note("start worker processes")
	note("start worker process 29")
	note("start worker process 30")
}

func nginxRequest(a *Account, w *writer, at time.Time, path string, code int) {
	size := 2
	switch {
	case code >= 500:
		size = 190
	case path == "/" || path == "/index.html":
		size = len(welcome)
	}
	w.at(at).stdout("%s - - [%s] \"GET %s HTTP/1.1\" %d %d \"-\" \"kube-probe/1.37\" \"-\"\n", a.Gateway, at.UTC().Format("02/Jan/2006:15:04:05 -0700"), path, code, size)
}

func nginxStop(_ *Account, w *writer, at time.Time) {
	w.at(at.Add(time.Millisecond))
	note := func(pid int, text string) {
		w.stderr("%s [notice] %d#%d: %s\n", w.now.UTC().Format(nginxTime), pid, pid, text)
	}
	note(1, "signal 3 (SIGQUIT) received, shutting down")
	for _, pid := range []int{29, 30} {
		note(pid, "gracefully shutting down")
		note(pid, "exiting")
		note(pid, "exit")
	}
	note(1, "signal 17 (SIGCHLD) received from 29")
	note(1, "worker process 29 exited with code 0")
	note(1, "worker process 30 exited with code 0")
	note(1, "exit")
}

const httpdTime = "Mon Jan 02 15:04:05.000000 2006"

func httpdStart(a *Account, w *writer) {
	w.at(a.Started.Add(20 * time.Millisecond))
	w.stderr("AH00558: httpd: Could not reliably determine the server's fully qualified domain name, using %s. Set the 'ServerName' directive globally to suppress this message\n", a.IP)
	w.stderr("[%s] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.66 (Unix) configured -- resuming normal operations\n", w.now.UTC().Format(httpdTime))
	w.stderr("[%s] [core:notice] [pid 1:tid 1] AH00094: Command line: 'httpd -D FOREGROUND'\n", w.now.UTC().Format(httpdTime))
}

func httpdRequest(a *Account, w *writer, at time.Time, path string, code int) {
	w.at(at).stdout("%s - - [%s] \"GET %s HTTP/1.1\" %d 45\n", a.Gateway, at.UTC().Format("02/Jan/2006:15:04:05 -0700"), path, code)
}

func httpdStop(_ *Account, w *writer, at time.Time) {
	w.at(at.Add(time.Millisecond)).stderr("[%s] [mpm_event:notice] [pid 1:tid 1] AH00492: caught SIGWINCH, shutting down gracefully\n", at.UTC().Format(httpdTime))
}

const redisTime = "02 Jan 2006 15:04:05.000"

func redisStart(a *Account, w *writer) {
	w.at(a.Started.Add(12 * time.Millisecond))
	version := a.Tag
	if strings.Count(version, ".") != 2 || strings.Contains(version, "-") {
		version = "8.4.0"
	}
	w.stdout("1:C %s * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo\n", w.now.UTC().Format(redisTime))
	w.stdout("1:C %s * Redis version=%s, bits=64, commit=00000000, modified=1, pid=1, just started\n", w.now.UTC().Format(redisTime), version)
	w.stdout("1:C %s * Configuration loaded\n", w.now.UTC().Format(redisTime))
	w.stdout("1:M %s * monotonic clock: POSIX clock_gettime\n", w.now.UTC().Format(redisTime))
	w.stdout("1:M %s * Running mode=standalone, port=6379.\n", w.now.UTC().Format(redisTime))
	w.stdout("1:M %s * Server initialized\n", w.now.UTC().Format(redisTime))
	w.stdout("1:M %s * Ready to accept connections tcp\n", w.now.UTC().Format(redisTime))
}

func redisStop(_ *Account, w *writer, at time.Time) {
	w.at(at.Add(time.Millisecond)).stdout("1:signal-handler (%d) Received SIGTERM scheduling shutdown...\n", at.Unix())
	w.at(at.Add(40*time.Millisecond)).stdout("1:M %s * User requested shutdown...\n", w.now.UTC().Format(redisTime))
	w.stdout("1:M %s # Redis is now ready to exit, bye bye...\n", w.now.UTC().Format(redisTime))
}

func helloStart(a *Account, w *writer) {
	w.at(a.Started.Add(time.Millisecond))
	for _, t := range []string{"", "Hello from Docker!", "This message shows that your installation appears to be working correctly.", ""} {
		w.stdout("%s\n", t)
	}
}

func corednsStart(a *Account, w *writer) {
	sum := sha512.Sum512([]byte("Corefile"))
	w.at(a.Started.Add(30 * time.Millisecond))
	w.stdout(".:53\n")
	w.stdout("[INFO] plugin/reload: Running configuration SHA512 = %s\n", hex.EncodeToString(sum[:]))
	w.stdout("CoreDNS-%s\n", strings.TrimPrefix(a.Tag, "v"))
	w.stdout("linux/amd64, go1.25.5\n")
}

func corednsStop(_ *Account, w *writer, at time.Time) {
	w.at(at).stdout("[INFO] SIGTERM: Shutting down servers then terminating\n")
	w.stdout("[INFO] plugin/health: Going into lameduck mode for 5s\n")
}

func etcdStart(a *Account, w *writer) {
	w.at(a.Started.Add(15 * time.Millisecond))
	for _, x := range [][2]string{{"etcdmain/etcd.go:64", "Running: "}, {"embed/etcd.go:140", "configuring peer listeners"}, {"embed/etcd.go:148", "configuring client listeners"},
		{"embed/serve.go:124", "ready to serve client requests"}, {"embed/serve.go:275", "serving client traffic securely"}} {
		w.stderr("{\"level\":\"info\",\"ts\":%q,\"caller\":%q,\"msg\":%q}\n", w.now.UTC().Format("2006-01-02T15:04:05.000000Z"), x[0], x[1])
		w.at(w.now.Add(40 * time.Millisecond))
	}
}

// klogStart is how the programs of the control plane begin.
func klogStart(a *Account, w *writer) {
	_, name := split("/" + a.Repository)
	version := a.Tag
	if version == "" {
		version = "v1.37.2"
	}
	w.at(a.Started.Add(60 * time.Millisecond))
	say := func(file, format string, args ...any) {
		w.stderr("I%s       1 %s] %s\n", w.now.UTC().Format("0102 15:04:05.000000"), file, fmt.Sprintf(format, args...))
		w.at(w.now.Add(30 * time.Millisecond))
	}
	switch name {
	case "kube-apiserver":
		say("options.go:263", "external host was not specified, using %s", a.NodeIP)
		say("server.go:150", "Version: %s", version)
		say("server.go:152", "\"Golang settings\" GOGC=\"\" GOMAXPROCS=\"\" GOTRACEBACK=\"\"")
		say("secure_serving.go:211", "Serving securely on [::]:6443")
	case "kube-proxy":
		say("server_linux.go:53", "\"Using iptables proxy\"")
		say("server.go:483", "\"Version info\" version=%q", version)
	default:
		port := map[string]string{"kube-controller-manager": "10257", "kube-scheduler": "10259"}[name]
		say("serving.go:386", "Generated self-signed cert in-memory")
		say("server.go:175", "\"Starting\" version=%q", version)
		say("secure_serving.go:211", "Serving securely on 127.0.0.1:%s", port)
		say("leaderelection.go:257", "attempting to acquire leader lease kube-system/%s...", name)
	}
}

// What is not known speaks like a small server of everybody's: it names its port where it declares one.
func plainStart(a *Account, w *writer) {
	w.at(a.Started.Add(25 * time.Millisecond))
	if len(a.Spec.Ports) > 0 {
		w.stderr("%s listening on :%s\n", w.now.UTC().Format(nginxTime), a.port(8080))
	}
}

func plainRequest(a *Account, w *writer, at time.Time, path string, code int) {
	w.at(at).stderr("%s %s GET %s %d\n", at.UTC().Format(nginxTime), a.Gateway, path, code)
}

func plainStop(_ *Account, w *writer, at time.Time) {
	w.at(at.Add(time.Millisecond)).stderr("%s received signal terminated, shutting down\n", at.UTC().Format(nginxTime))
}
