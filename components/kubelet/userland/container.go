// Package userland is what a process in a container of the model sees and can do: its files, its environment, a small set of everyday commands with a shell, and the log that ordinary
// images write. All that is computed from the pod and from what the runtime knows of the container, when somebody asks. Stored are a Disk, which is what was written in a container over the files
// that it came with, and a Main, which is a program that reads its input: both end with their container.
//
// Imports of ours: none. Goroutines: any; a Container is immutable but for its Disk and may be used by many. Time: simulated, through Clock.
package userland

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Container is the place a process runs in.
type Container struct {
	Pod  *corev1.Pod // shared, immutable
	Spec *corev1.Container
	// Repository of the image in short form ("nginx"), and its tag.
	Repository, Tag string
	// IP of the pod; that of the node for pods on its network. Gateway is where probes come from.
	IP, Gateway  string
	Node, NodeIP string
	Started      time.Time
	// Disk is what was written in it; nil: each process has one of its own.
	Disk *Disk
}

// Clock is how processes learn of time and wait.
type Clock interface {
	Now() time.Time
	// Sleep waits; the error is the context's.
	Sleep(ctx context.Context, d time.Duration) error
}

// Hostname is what the pod calls itself: its name cut to what a host's name may hold, or what its spec says.
func (c *Container) Hostname() string {
	switch {
	case c.Pod.Spec.HostNetwork:
		return c.Node
	case c.Pod.Spec.Hostname != "":
		return c.Pod.Spec.Hostname
	}
	name := c.Pod.Name
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}

// path of ordinary images.
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environ is the environment of the container's process, in the order in which env prints it.
func (c *Container) Environ() []string {
	out := []string{"PATH=" + path, "HOSTNAME=" + c.Hostname()}
	known := map[string]string{}
	for _, e := range c.Spec.Env {
		v, ok := c.value(e, known)
		if ok {
			known[e.Name] = v
			out = append(out, e.Name+"="+v)
		}
	}
	const ip, port = "10.96.0.1", "443" // those of the API itself are always there
	out = append(out, "KUBERNETES_SERVICE_HOST="+ip, "KUBERNETES_SERVICE_PORT="+port, "KUBERNETES_SERVICE_PORT_HTTPS="+port, "KUBERNETES_PORT=tcp://"+ip+":"+port,
		"KUBERNETES_PORT_443_TCP=tcp://"+ip+":"+port, "KUBERNETES_PORT_443_TCP_PROTO=tcp", "KUBERNETES_PORT_443_TCP_PORT="+port, "KUBERNETES_PORT_443_TCP_ADDR="+ip)
	return append(out, "HOME=/root")
}

// value of one variable; ok is false for one that is left out, because what it comes from is not known here.
func (c *Container) value(e corev1.EnvVar, known map[string]string) (string, bool) {
	if e.ValueFrom == nil {
		return Expand(e.Value, func(name string) (string, bool) { v, ok := known[name]; return v, ok }), true
	}
	if f := e.ValueFrom.FieldRef; f != nil {
		return c.field(f.FieldPath)
	}
	return "", false
}

// field is what the downward API tells.
func (c *Container) field(path string) (string, bool) {
	p := c.Pod
	switch path {
	case "metadata.name":
		return p.Name, true
	case "metadata.namespace":
		return p.Namespace, true
	case "metadata.uid":
		return string(p.UID), true
	case "spec.nodeName":
		return c.Node, true
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, true
	case "status.podIP", "status.podIPs":
		return c.IP, true
	case "status.hostIP", "status.hostIPs":
		return c.NodeIP, true
	}
	for prefix, from := range map[string]map[string]string{"metadata.labels['": p.Labels, "metadata.annotations['": p.Annotations} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			return from[strings.TrimSuffix(rest, "']")], true
		}
	}
	return "", false
}

// Expand replaces $(NAME) by what is known under that name; $$ is one $, and what is not known stays (third_party/forked/golang/expansion).
func Expand(s string, known func(string) (string, bool)) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch s[i+1] {
		case '$':
			b.WriteByte('$')
			i++
		case '(':
			end := strings.IndexByte(s[i+2:], ')')
			if end < 0 {
				b.WriteByte('$')
				continue
			}
			name := s[i+2 : i+2+end]
			if v, ok := known(name); ok {
				b.WriteString(v)
			} else {
				b.WriteString("$(" + name + ")")
			}
			i += 2 + end
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// Command is the container's own command with its arguments, where its spec names one.
func (c *Container) Command() []string {
	env := map[string]string{}
	for _, e := range c.Environ() {
		name, v, _ := strings.Cut(e, "=")
		env[name] = v
	}
	var out []string
	for _, a := range append(append([]string(nil), c.Spec.Command...), c.Spec.Args...) {
		out = append(out, Expand(a, func(name string) (string, bool) { v, ok := env[name]; return v, ok }))
	}
	return out
}

// tokenDir is where the service account's files are.
const tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// Files are the files that the model knows in the container, by absolute path.
func (c *Container) Files() map[string]string {
	host := c.Hostname()
	out := map[string]string{
		"/etc/hostname": host + "\n",
		"/etc/hosts": "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\n" +
			"fe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n" + c.IP + "\t" + host + "\n" + c.aliases(),
		"/etc/resolv.conf": c.resolv(),
		"/etc/passwd":      "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"/etc/group":       "root:x:0:\nnobody:x:65534:\n",
	}
	for _, m := range c.Spec.VolumeMounts {
		if strings.TrimSuffix(m.MountPath, "/") == tokenDir {
			out[tokenDir+"/namespace"] = c.Pod.Namespace
		}
	}
	if c.Repository == "nginx" {
		out["/usr/share/nginx/html/index.html"] = welcome
	}
	return out
}

func (c *Container) aliases() string {
	var b strings.Builder
	for i, a := range c.Pod.Spec.HostAliases {
		if i == 0 {
			b.WriteString("\n# Entries added by HostAliases.\n")
		}
		b.WriteString(a.IP + "\t" + strings.Join(a.Hostnames, "\t") + "\n")
	}
	return b.String()
}

// resolv is the resolver's configuration of a pod with the cluster's name service.
func (c *Container) resolv() string {
	if p := c.Pod.Spec.DNSPolicy; p == corev1.DNSDefault || c.Pod.Spec.HostNetwork && p != corev1.DNSClusterFirstWithHostNet {
		return "nameserver 10.0.0.2\n"
	}
	return "search " + c.Pod.Namespace + ".svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
}

// dirs are the directories above the files, and those that every image has.
func dirs(files map[string]string) map[string][]string {
	children := map[string]map[string]bool{}
	add := func(p string) {
		for p != "/" {
			i := strings.LastIndexByte(p, '/')
			dir := p[:max(i, 0)]
			if dir == "" {
				dir = "/"
			}
			if children[dir] == nil {
				children[dir] = map[string]bool{}
			}
			children[dir][p[i+1:]] = true
			p = dir
		}
	}
	for _, d := range []string{"bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr", "var"} {
		add("/" + d + "/.")
	}
	for f := range files {
		add(f)
	}
	out := map[string][]string{}
	for d, names := range children {
		list := []string{}
		for n := range names {
			if n != "." {
				list = append(list, n)
			}
		}
		sort.Strings(list)
		out[d] = list
	}
	return out
}

// port is the first port that the container declares, or otherwise.
func (c *Container) port(otherwise int) string {
	if len(c.Spec.Ports) > 0 {
		return strconv.Itoa(int(c.Spec.Ports[0].ContainerPort))
	}
	return strconv.Itoa(otherwise)
}

// welcome is the page of a fresh nginx.
const welcome = `<!DOCTYPE html>
<html>
<head>
<title>Welcome to nginx!</title>
<style>
html { color-scheme: light dark; }
body { width: 35em; margin: 0 auto;
font-family: Tahoma, Verdana, Arial, sans-serif; }
</style>
</head>
<body>
<h1>Welcome to nginx!</h1>
<p>If you see this page, the nginx web server is successfully installed and
working. Further configuration is required.</p>

<p>For online documentation and support please refer to
<a href="http://nginx.org/">nginx.org</a>.<br/>
Commercial support is available at
<a href="http://nginx.com/">nginx.com</a>.</p>

<p><em>Thank you for using nginx.</em></p>
</body>
</html>
`
