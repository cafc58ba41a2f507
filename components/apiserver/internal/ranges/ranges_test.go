package ranges

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"testing"
)

func TestEveryPortIsGivenOutOnceAndTheLowerOnesLast(t *testing.T) {
	p, rng := NewPorts(30000, 30099), rand.New(rand.NewPCG(1, 2))
	if err := p.Take(30050); err != nil {
		t.Fatal(err)
	}
	seen := map[int32]bool{30050: true}
	for i := range 99 {
		n, err := p.Next(rng)
		if err != nil || seen[n] || n < 30000 || n > 30099 {
			t.Fatalf("port %d, %v", n, err)
		}
		if low := n < 30016; low != (i >= 83) {
			t.Fatalf("port %d is given out as number %d", n, i+1)
		}
		seen[n] = true
	}
	if _, err := p.Next(rng); !errors.Is(err, ErrFull) {
		t.Errorf("a full range says %v", err)
	}
	p.Release(30007)
	again := NewPorts(30000, 30099)
	if err := again.Restore(p.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if n, err := again.Next(rng); n != 30007 || err != nil {
		t.Errorf("the one free port is %d, %v", n, err)
	}
	if err := NewPorts(1, 2).Restore(p.Snapshot()); err == nil {
		t.Error("the ports of another range were taken over")
	}
}

func TestPortsThatCannotBeHadAreRefusedInTheWordsOfKubernetes(t *testing.T) {
	p := NewPorts(30000, 32767)
	if err := p.Take(30080); err != nil {
		t.Fatal(err)
	}
	for port, want := range map[int32]string{30080: "provided port is already allocated", 80: "provided port is not in the valid range. The range of valid ports is 30000-32767"} {
		if err := p.Take(port); err == nil || err.Error() != want {
			t.Errorf("port %d: %v", port, err)
		}
	}
}

func TestEveryAddressIsGivenOutButTheEndsOfTheRange(t *testing.T) {
	a, rng := NewAddresses(netip.MustParsePrefix("10.96.0.0/24")), rand.New(rand.NewPCG(1, 2))
	seen := map[netip.Addr]bool{}
	for range 254 {
		ip, err := a.Next(rng, func(ip netip.Addr) bool { return !seen[ip] })
		if err != nil || seen[ip] || a.Check(ip) != nil {
			t.Fatalf("address %v, %v", ip, err)
		}
		seen[ip] = true
	}
	if _, err := a.Next(rng, func(ip netip.Addr) bool { return !seen[ip] }); !errors.Is(err, ErrFull) {
		t.Errorf("a full range says %v", err)
	}
	for _, ip := range []string{"10.96.0.0", "10.96.0.255", "10.97.0.1", "fd00::1"} {
		if a.Check(netip.MustParseAddr(ip)) == nil {
			t.Errorf("%s can be had", ip)
		}
	}
	if a.First().String() != "10.96.0.1" {
		t.Errorf("the first address is %v", a.First())
	}
}
