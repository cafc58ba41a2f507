// Package ranges gives out what there is a bounded number of: ports of nodes and addresses of services (k/k pkg/registry/core/service/portallocator and ipallocator).
//
// Both leave the lower end of a range to those who ask for a certain number, and give out the rest first. Owns: Ports, Addresses. Imports nothing of ours. Pure but for the random numbers
// of the caller; no goroutine, no time.
package ranges

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// What is said of numbers that cannot be had.
var (
	ErrFull          = errors.New("range is full")
	ErrPortAllocated = errors.New("provided port is already allocated")
	ErrIPAllocated   = errors.New("provided IP is already allocated")
)

// Ports of nodes: first to last, and which of them are taken. The zero value is no range; NewPorts makes one.
type Ports struct {
	first, last int32
	taken       big.Int
}

// NewPorts makes a range of which nothing is taken.
func NewPorts(first, last int32) *Ports { return &Ports{first: first, last: last} }

// String is the range as it is stored and shown.
func (p *Ports) String() string { return fmt.Sprintf("%d-%d", p.first, p.last) }

// Restore takes over what is stored, unless that is of another range.
func (p *Ports) Restore(a *corev1.RangeAllocation) error {
	if a.Range != p.String() {
		return fmt.Errorf("the provided port range does not match the current port range")
	}
	p.taken.SetBytes(a.Data)
	return nil
}

// Snapshot is what is to be stored.
func (p *Ports) Snapshot() *corev1.RangeAllocation {
	return &corev1.RangeAllocation{Range: p.String(), Data: p.taken.Bytes()}
}

// Has reports a port that is taken.
func (p *Ports) Has(port int32) bool {
	return port >= p.first && port <= p.last && p.taken.Bit(int(port-p.first)) == 1
}

// Take takes a certain port.
func (p *Ports) Take(port int32) error {
	switch {
	case port < p.first || port > p.last:
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", p)
	case p.Has(port):
		return ErrPortAllocated
	}
	p.taken.SetBit(&p.taken, int(port-p.first), 1)
	return nil
}

// Next takes any port.
func (p *Ports) Next(rng *rand.Rand) (int32, error) {
	size := int(p.last-p.first) + 1
	n, ok := pick(size, kept(size, 32, 128), rng, func(i int) bool { return p.taken.Bit(i) == 0 })
	if !ok {
		return 0, ErrFull
	}
	p.taken.SetBit(&p.taken, n, 1)
	return p.first + int32(n), nil
}

// Release gives a port back. Ports outside of the range are nobody's.
func (p *Ports) Release(port int32) {
	if p.Has(port) {
		p.taken.SetBit(&p.taken, int(port-p.first), 0)
	}
}

// kept is how much of the lower end is left to those who ask for a certain number.
func kept(size, share, most int) int {
	if n := min(max(16, size/share), most); n < size {
		return n
	}
	return 0
}

// pick finds a free number below size, from a random place on; the first reserved ones come last.
func pick(size, reserved int, rng *rand.Rand, free func(int) bool) (int, bool) {
	for _, part := range [2][2]int{{reserved, size}, {0, reserved}} {
		from, n := part[0], part[1]-part[0]
		if n <= 0 {
			continue
		}
		start := rng.IntN(n)
		for i := range n {
			if at := from + (start+i)%n; free(at) {
				return at, true
			}
		}
	}
	return 0, false
}

// Addresses of services. Which of them are taken is known elsewhere: each has an object of its own.
type Addresses struct{ prefix netip.Prefix }

// NewAddresses makes a range of a prefix of IPv4.
func NewAddresses(prefix netip.Prefix) Addresses { return Addresses{prefix.Masked()} }

// First is the address that the API servers' own service has.
func (a Addresses) First() netip.Addr { return a.prefix.Addr().Next() }

// Check refuses addresses outside of the range, and its two ends.
func (a Addresses) Check(ip netip.Addr) error {
	if !a.prefix.Contains(ip) || ip == a.at(0) || ip == a.at(a.size()-1) {
		return fmt.Errorf("the provided IP (%v) is not in the valid range. The range of valid IPs is %s", ip, a.prefix)
	}
	return nil
}

// Next finds an address of which free says so.
func (a Addresses) Next(rng *rand.Rand, free func(netip.Addr) bool) (netip.Addr, error) {
	size := a.size() - 2 // neither the network nor the broadcast address
	n, ok := pick(size, kept(size, 16, 256), rng, func(i int) bool { return free(a.at(i + 1)) })
	if !ok {
		return netip.Addr{}, ErrFull
	}
	return a.at(n + 1), nil
}

func (a Addresses) size() int { return 1 << (32 - a.prefix.Bits()) }

func (a Addresses) at(n int) netip.Addr {
	b := a.prefix.Addr().As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}
