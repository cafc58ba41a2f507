package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// Image is what a reference stands for.
type Image struct {
	// Ref is the full reference: domain, path and tag or digest ("docker.io/library/nginx:1.27").
	Ref string
	// Repository is the reference without tag and digest, in the short form that pods use ("nginx", "registry.k8s.io/etcd").
	Repository string
	Domain     string
	Tag        string // empty when a digest is given
	ID         string
	Size       int64 // bytes
	Missing    bool  // its registry does not have it
}

const mb = 1_000_000

// sizes of well-known repositories; others get a size from their name.
var sizes = map[string]int64{
	"nginx": 70 * mb, "httpd": 58 * mb, "redis": 45 * mb, "busybox": 2 * mb, "alpine": 4 * mb, "ubuntu": 30 * mb, "debian": 49 * mb, "hello-world": 10_000,
	"postgres": 62 * mb, "mysql": 68 * mb, "python": 66 * mb, "node": 69 * mb, "traefik": 50 * mb, "registry.k8s.io/pause": 320_000,
	"registry.k8s.io/kube-apiserver": 27 * mb, "registry.k8s.io/kube-controller-manager": 23 * mb, "registry.k8s.io/kube-scheduler": 18 * mb,
	"registry.k8s.io/kube-proxy": 26 * mb, "registry.k8s.io/etcd": 61 * mb, "registry.k8s.io/coredns/coredns": 22 * mb,
}

// Describe reads a reference as written in a pod. An image is missing, so that pulls fail, when its registry's domain ends in ".invalid" (no such host) or
// when its tag is "does-not-exist" or begins with "nosuch", or is none of a well-known repository's (not found).
func Describe(name string) Image {
	rest, digest, hasDigest := strings.Cut(name, "@")
	tag := ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, '/') {
		rest, tag = rest[:i], rest[i+1:]
	}
	img := Image{Repository: rest, Domain: "docker.io"}
	full := rest
	if first, _, ok := strings.Cut(rest, "/"); ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		img.Domain = first
	} else if !ok {
		full = "docker.io/library/" + rest
	} else {
		full = "docker.io/" + rest
	}
	img.Repository = strings.TrimPrefix(strings.TrimPrefix(img.Repository, "docker.io/"), "library/")
	switch {
	case hasDigest:
		img.Ref = full + "@" + digest
	case tag == "":
		tag = "latest"
		fallthrough
	default:
		img.Ref = full + ":" + tag
	}
	img.Tag = tag
	host, _, _ := strings.Cut(img.Domain, ":")
	img.Missing = strings.HasSuffix(host, ".invalid") || missing(tag)
	if known, ok := catalog[img.Repository]; ok && !hasDigest && !known.has(tag) {
		img.Missing = true
	}
	sum := sha256.Sum256([]byte(img.Ref))
	img.ID = full + "@sha256:" + hex.EncodeToString(sum[:])
	if hasDigest {
		img.ID = img.Ref
	}
	spread := binary.BigEndian.Uint64(sum[:8])
	img.Size = sizes[img.Repository]
	if img.Size == 0 {
		base := sha256.Sum256([]byte(img.Repository))
		img.Size = 5*mb + int64(binary.BigEndian.Uint64(base[:8])%(60*mb))
	}
	img.Size += int64(spread % uint64(img.Size/50+1)) // releases of one repository differ a little
	return img
}

var reference = regexp.MustCompile(`^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,})?$`)

// ValidName reports whether name is an image reference at all.
func ValidName(name string) bool { return reference.MatchString(name) }

// HasImage reports whether an image is present on the machine.
func (r *Runtime) HasImage(name string) bool {
	_, ok := r.images[Describe(name).Ref]
	return ok
}

// Images lists the images that are present, largest first.
func (r *Runtime) Images() []Image {
	out := make([]Image, 0, len(r.images))
	for _, i := range r.images {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Image) int {
		if a.Size != b.Size {
			return int(b.Size - a.Size)
		}
		return strings.Compare(a.Ref, b.Ref)
	})
	return out
}

// ImageCount counts the images that are present.
func (r *Runtime) ImageCount() int { return len(r.images) }

// maxPull bounds how long a pull takes.
const maxPull = 2500 * time.Millisecond

// PullImage fetches an image for a container of a pod that was there for restarts times already. It takes a registry's answer and then 30-60 MB a second.
func (r *Runtime) PullImage(p *sim.Proc, pod *corev1.Pod, container, name string, restarts int) (Image, error) {
	img := Describe(name)
	p.Cause = r.emit(p.Cause, event.ContainerChanged{Pod: podRef(pod), Container: container, State: event.ContainerPulling, Image: name, Restarts: restarts})
	took := r.between(150*time.Millisecond, 500*time.Millisecond)
	if !img.Missing && !r.HasImage(name) {
		perSecond := int64(30*mb) + r.rng.Int64N(30*mb)
		took += time.Duration(float64(img.Size) / float64(perSecond) * float64(time.Second))
	}
	return work(r, p, min(took, maxPull), func(event.Seq) (Image, error) {
		if img.Missing {
			return img, img.missingError()
		}
		r.images[img.Ref] = img
		return img, nil
	})
}

func (i Image) missingError() error {
	if strings.Contains(i.Domain, ".invalid") {
		path := strings.TrimPrefix(i.Repository, i.Domain+"/")
		return fmt.Errorf("rpc error: code = Unknown desc = failed to pull and unpack image %q: failed to resolve image: failed to do request: "+
			"Head \"https://%s/v2/%s/manifests/%s\": dial tcp: lookup %s: no such host", i.Ref, i.Domain, path, i.Tag, i.Domain)
	}
	return fmt.Errorf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve image: %s: not found", i.Ref, i.Ref)
}
