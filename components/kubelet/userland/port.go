package userland

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ErrNobodyListens is what a program hears that connects to a port nobody listens at.
var ErrNobodyListens = errors.New("connect: connection refused")

// webPorts are the ports of images that speak HTTP, where the container declares none.
var webPorts = map[string]int{"nginx": 80, "httpd": 80, "traefik/whoami": 80, "hashicorp/http-echo": 5678}

// Dial connects to a port of the container. Web servers answer HTTP; whatever else listens at a declared port takes the connection and says nothing.
func Dial(c *Container, port int) (io.ReadWriteCloser, error) {
	web, known := webPorts[c.Repository]
	declared := slices.ContainsFunc(c.Spec.Ports, func(p corev1.ContainerPort) bool { return int(p.ContainerPort) == port })
	if !declared && (!known || web != port) || minimal(c.Repository) && !known {
		return nil, fmt.Errorf("dial tcp4 127.0.0.1:%d: %w", port, ErrNobodyListens)
	}
	here, there := net.Pipe()
	go serve(c, there, known && web == port)
	return here, nil
}

// serve answers one connection.
func serve(c *Container, conn net.Conn, speaks bool) {
	defer func() { _ = conn.Close() }()
	if !speaks {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(req.Body, 1<<20)); err != nil {
			return
		}
		if answer(c, req).Write(conn) != nil || req.Close {
			return
		}
	}
}

// page is a file that nginx serves.
func (c *Container) page(path string) (string, bool) {
	p := Process{Container: c, cwd: "/", disk: c.Disk}
	if p.disk == nil {
		p.disk = NewDisk()
	}
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	return p.read("/usr/share/nginx/html" + p.abs(path))
}

// pageKind is what nginx's mime.types say of a file's name.
func pageKind(path string) string {
	for suffix, kind := range map[string]string{"/": "text/html", ".html": "text/html", ".txt": "text/plain", ".css": "text/css", ".js": "application/javascript", ".json": "application/json", ".xml": "text/xml"} {
		if strings.HasSuffix(path, suffix) {
			return kind
		}
	}
	return "application/octet-stream"
}

// answer is what the web server of an image says.
func answer(c *Container, req *http.Request) *http.Response {
	code, kind, body := http.StatusOK, "text/plain; charset=utf-8", ""
	server := ""
	switch c.Repository {
	case "nginx":
		kind, body, server = "text/html", welcome, "nginx"
		text, found := c.page(req.URL.Path)
		if body, kind = text, pageKind(req.URL.Path); !found {
			kind = "text/html"
			code, body = http.StatusNotFound, "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
		}
	case "httpd":
		kind, body, server = "text/html", "<html><body><h1>It works!</h1></body></html>\n", "Apache/2.4.66 (Unix)"
	case "hashicorp/http-echo":
		body = "hello-world\n"
		for _, a := range c.Command() {
			if text, ok := strings.CutPrefix(a, "-text="); ok {
				body = text + "\n"
			}
		}
	default:
		body = "Hostname: " + c.Hostname() + "\nIP: " + c.IP + "\n" + req.Method + " " + req.URL.RequestURI() + " HTTP/1.1\nHost: " + req.Host + "\n"
	}
	h := http.Header{"Content-Type": {kind}}
	if server != "" {
		h.Set("Server", server)
	}
	length := int64(len(body))
	if req.Method == http.MethodHead {
		body = ""
	}
	return &http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: h, ContentLength: length, Body: io.NopCloser(strings.NewReader(body)), Request: req, Close: req.Close}
}
