package pods

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
)

// defaultPod fills a pod as k/k pkg/apis/core/v1 does. Some defaults hold for pods only, not for templates: requests from limits, service links, ports of the node.
func defaultPod(p *corev1.Pod) {
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		one := int64(1)
		p.Spec.TerminationGracePeriodSeconds = &one
	}
	for _, list := range [2][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			requestsFromLimits(&list[i].Resources)
			for j := range list[i].Ports {
				if port := &list[i].Ports[j]; p.Spec.HostNetwork && port.HostPort == 0 {
					port.HostPort = port.ContainerPort
				}
			}
		}
	}
	check.SetDefault(&p.Spec.EnableServiceLinks, true)
	DefaultSpec(&p.Spec)
}

// requestsFromLimits makes a limit without a request its own request.
func requestsFromLimits(r *corev1.ResourceRequirements) {
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = q.DeepCopy()
		}
	}
}

// DefaultSpec fills what pods and templates share.
func DefaultSpec(s *corev1.PodSpec) {
	dropUnserved(s)
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	}
	s.DeprecatedServiceAccount = s.ServiceAccountName
	if s.DNSPolicy == "" {
		s.DNSPolicy = corev1.DNSClusterFirst
	}
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.SecurityContext == nil {
		s.SecurityContext = &corev1.PodSecurityContext{}
	}
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	check.SetDefault(&s.TerminationGracePeriodSeconds, defaultGrace)
	each(s, nil, func(c *corev1.Container, _ *field.Path) { defaultContainer(c) })
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	roundUp(s.Overhead)
	if s.Resources != nil {
		roundUp(s.Resources.Limits)
		roundUp(s.Resources.Requests)
	}
}

// roundUp brings amounts to thousandths, which is as fine as Kubernetes counts.
func roundUp(list corev1.ResourceList) {
	for n, q := range list {
		if !q.RoundUp(resource.Milli) {
			list[n] = q
		}
	}
}

// dropUnserved takes away what only features ask for that are off in this version: Kubernetes does as if it had not been sent.
func dropUnserved(s *corev1.PodSpec) {
	s.SchedulingGroup, s.EvictionResponders = nil, nil
	for i := range s.Volumes {
		if e := s.Volumes[i].EmptyDir; e != nil {
			e.Mode = nil
		}
	}
	get := func(h *corev1.HTTPGetAction) {
		if h != nil {
			h.Protocol = nil
		}
	}
	each(s, nil, func(c *corev1.Container, _ *field.Path) {
		for i := range c.VolumeMounts {
			c.VolumeMounts[i].BindMountOptions = nil
		}
		for _, p := range [3]*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				get(p.HTTPGet)
				if p.GRPC != nil {
					p.GRPC.Mode = nil
				}
			}
		}
		if l := c.Lifecycle; l != nil {
			for _, h := range [2]*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
				if h != nil {
					get(h.HTTPGet)
				}
			}
		}
	})
}

func defaultContainer(c *corev1.Container) {
	defaultPull(&c.ImagePullPolicy, c.Image)
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
			if from.FileKeyRef != nil {
				check.SetDefault(&from.FileKeyRef.Optional, false)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	defaultProbe(c.LivenessProbe)
	defaultProbe(c.ReadinessProbe)
	defaultProbe(c.StartupProbe)
	if c.Lifecycle != nil {
		for _, h := range [2]*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

func defaultFieldRef(r *corev1.ObjectFieldSelector) {
	if r != nil && r.APIVersion == "" {
		r.APIVersion = "v1"
	}
}

// orElse fills a text that users may leave out.
func orElse[T ~string](v *T, otherwise T) {
	if *v == "" {
		*v = otherwise
	}
}

// defaultPull settles when an image is pulled: one that may change under its name each time.
func defaultPull(p *corev1.PullPolicy, image string) {
	switch {
	case *p != "":
	case imageIsLatest(image):
		*p = corev1.PullAlways
	default:
		*p = corev1.PullIfNotPresent
	}
}

// imageIsLatest reports an image without tag and digest, or with the tag latest.
func imageIsLatest(image string) bool {
	name, _, digest := strings.Cut(image, "@")
	last := name[strings.LastIndexByte(name, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	if !tagged {
		return !digest
	}
	return tag == "latest"
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	for _, d := range []struct {
		field *int32
		value int32
	}{{&p.TimeoutSeconds, 1}, {&p.PeriodSeconds, 10}, {&p.SuccessThreshold, 1}, {&p.FailureThreshold, 3}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil && p.GRPC.Service == nil {
		p.GRPC.Service = new(string)
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h == nil {
		return
	}
	if h.Path == "" {
		h.Path = "/"
	}
	if h.Scheme == "" {
		h.Scheme = corev1.URISchemeHTTP
	}
}

// volumeMode of files made from objects, octal 0644.
const volumeMode int32 = 0o644

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case v.Image != nil:
		defaultPull(&v.Image.PullPolicy, v.Image.Reference)
	case v.ConfigMap != nil:
		check.SetDefault(&v.ConfigMap.DefaultMode, volumeMode)
	case v.Secret != nil:
		check.SetDefault(&v.Secret.DefaultMode, volumeMode)
	case v.DownwardAPI != nil:
		check.SetDefault(&v.DownwardAPI.DefaultMode, volumeMode)
		for i := range v.DownwardAPI.Items {
			defaultFieldRef(v.DownwardAPI.Items[i].FieldRef)
		}
	case v.Projected != nil:
		check.SetDefault(&v.Projected.DefaultMode, volumeMode)
		for i := range v.Projected.Sources {
			if d := v.Projected.Sources[i].DownwardAPI; d != nil {
				for j := range d.Items {
					defaultFieldRef(d.Items[j].FieldRef)
				}
			}
			if t := v.Projected.Sources[i].ServiceAccountToken; t != nil {
				check.SetDefault(&t.ExpirationSeconds, int64(3600))
			}
		}
	case v.HostPath != nil:
		check.SetDefault(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		volumes.DefaultClaim(&v.Ephemeral.VolumeClaimTemplate.Spec)
		roundUp(v.Ephemeral.VolumeClaimTemplate.Spec.Resources.Limits)
		roundUp(v.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests)
	case v.ISCSI != nil:
		orElse(&v.ISCSI.ISCSIInterface, "default")
	case v.RBD != nil:
		orElse(&v.RBD.RBDPool, "rbd")
		orElse(&v.RBD.RadosUser, "admin")
		orElse(&v.RBD.Keyring, "/etc/ceph/keyring")
	case v.AzureDisk != nil:
		check.SetDefault(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		check.SetDefault(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		check.SetDefault(&v.AzureDisk.FSType, "ext4")
		check.SetDefault(&v.AzureDisk.ReadOnly, false)
	case v.ScaleIO != nil:
		orElse(&v.ScaleIO.StorageMode, "ThinProvisioned")
		orElse(&v.ScaleIO.FSType, "xfs")
	}
}
