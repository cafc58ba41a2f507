package kubeapi

import (
	"time"

	"example.com/kubeviz/engine/sim"
)

// Meter is the door of a kubelet at which it tells what its machine uses (/metrics/resource). It is called in a process of the kubelet.
type Meter interface {
	Usage(p *sim.Proc) Usage
}

// Usage of a machine at an instant.
type Usage struct {
	At time.Time
	// Machine is everything on it, since it was switched on.
	Machine Amount
	// Containers that run, in the order of their pods' starts.
	Containers []ContainerUsage
}

// Amount is what something has used.
type Amount struct {
	// Since is when counting began.
	Since time.Time
	// CPUSeconds of one core, since then.
	CPUSeconds float64
	// Memory in bytes, now.
	Memory int64
}

// ContainerUsage is the share of a container.
type ContainerUsage struct {
	Namespace, Pod, Container string
	Amount
}
