package kinds

import "slices"

// Subresource is a part of an object that is read or written, or an action on it, under a path of its own.
type Subresource struct {
	Name string
	// Group, Version and Kind of what is sent and answered; empty: the object's own.
	Group, Version, Kind string
	Verbs                []string
}

var (
	readWrite = []string{"get", "patch", "update"}
	stream    = []string{"create", "get"}
	onlyMade  = []string{"create"}
	anyVerb   = []string{"create", "delete", "get", "patch", "update"}

	status              = Subresource{Name: "status", Verbs: readWrite}
	scale               = Subresource{Name: "scale", Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: readWrite}
	finalize            = Subresource{Name: "finalize", Verbs: []string{"update"}}
	approval            = Subresource{Name: "approval", Verbs: readWrite}
	token               = Subresource{Name: "token", Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest", Verbs: onlyMade}
	binding             = Subresource{Name: "binding", Kind: "Binding", Verbs: onlyMade}
	eviction            = Subresource{Name: "eviction", Group: "policy", Version: "v1", Kind: "Eviction", Verbs: onlyMade}
	ephemeralContainers = Subresource{Name: "ephemeralcontainers", Verbs: readWrite}
	resize              = Subresource{Name: "resize", Verbs: readWrite}
	podLog              = Subresource{Name: "log", Verbs: []string{"get"}}
	attach              = Subresource{Name: "attach", Kind: "PodAttachOptions", Verbs: stream}
	exec                = Subresource{Name: "exec", Kind: "PodExecOptions", Verbs: stream}
	portForward         = Subresource{Name: "portforward", Kind: "PodPortForwardOptions", Verbs: stream}
	podProxy            = Subresource{Name: "proxy", Kind: "PodProxyOptions", Verbs: anyVerb}
	nodeProxy           = Subresource{Name: "proxy", Kind: "NodeProxyOptions", Verbs: anyVerb}
	serviceProxy        = Subresource{Name: "proxy", Kind: "ServiceProxyOptions", Verbs: anyVerb}
)

// Subresource finds one by name.
func (k *Kind) Subresource(name string) (Subresource, bool) {
	i := slices.IndexFunc(k.Subresources, func(s Subresource) bool { return s.Name == name })
	if i < 0 {
		return Subresource{}, false
	}
	return k.Subresources[i], true
}

// StatusSubresource and ScaleSubresource are what definitions may give their kinds.
func StatusSubresource() Subresource { return status }

// ScaleSubresource is the other one.
func ScaleSubresource() Subresource { return scale }
