package runtime

import (
	"fmt"
	"net/netip"
)

// ipam hands out a subnet's addresses one after the other and begins anew at its end, as the host-local plugin does: a freed address is not used again soon.
type ipam struct {
	prefix netip.Prefix
	last   netip.Addr
	used   map[netip.Addr]bool
}

// take reserves the next free address.
func (i *ipam) take() (string, error) {
	if !i.prefix.IsValid() {
		return "", fmt.Errorf("no subnet for pods is configured")
	}
	if i.used == nil {
		i.used = map[netip.Addr]bool{}
	}
	first := i.prefix.Masked().Addr().Next().Next() // after the network's own and the bridge's
	a := i.last
	for range 1 << min(i.prefix.Addr().BitLen()-i.prefix.Bits(), 16) {
		if !a.IsValid() || !i.prefix.Contains(a.Next()) || !i.prefix.Contains(a.Next().Next()) { // the last is for broadcast
			a = first
		} else {
			a = a.Next()
		}
		if !i.used[a] {
			i.used[a], i.last = true, a
			return a.String(), nil
		}
	}
	return "", fmt.Errorf("no IP addresses available in range set: %s", i.prefix)
}

func (i *ipam) free(ip string) {
	if a, err := netip.ParseAddr(ip); err == nil {
		delete(i.used, a)
	}
}
