//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

package endpoint

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// many are n addresses, each of a pod.
func many(n int, net string) (out []corev1.EndpointAddress) {
	for i := range n {
		name := fmt.Sprintf("%s-%04d", net, i)
		out = append(out, corev1.EndpointAddress{IP: fmt.Sprintf("10.%s.%d.%d", net, i/250, i%250+1), TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: name, UID: types.UID(name)}})
	}
	return out
}

func TestEndpointsHoldAThousandInProportionTheReadyFirst(t *testing.T) {
	for _, c := range []struct {
		what string
		in   [][2]int
		cut  bool
		want [][2]int
	}{
		{"a thousand fit", [][2]int{{600, 400}}, false, [][2]int{{600, 400}}},
		{"those that are not ready give way", [][2]int{{600, 500}}, true, [][2]int{{600, 400}}},
		{"each subset its share of them", [][2]int{{300, 300}, {300, 900}}, true, [][2]int{{300, 100}, {300, 300}}},
		{"too many are ready: none of the others", [][2]int{{800, 10}, {400, 10}}, true, [][2]int{{667, 0}, {333, 0}}},
	} {
		var list []corev1.EndpointSubset
		for i, n := range c.in {
			list = append(list, corev1.EndpointSubset{Addresses: many(n[0], fmt.Sprint(i)), NotReadyAddresses: many(n[1], fmt.Sprint(i+100))})
		}
		cut := truncate(list)
		var got [][2]int
		for _, s := range list {
			got = append(got, [2]int{len(s.Addresses), len(s.NotReadyAddresses)})
		}
		if cut != c.cut || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, cut %v; want %v", c.what, got, cut, c.want)
		}
	}
}

func TestPortsOfTheSameAddressesStandTogether(t *testing.T) {
	http, admin := corev1.EndpointPort{Name: "http", Port: 80, Protocol: "TCP"}, corev1.EndpointPort{Name: "admin", Port: 81, Protocol: "TCP"}
	all := many(2, "1")
	told := func(list []corev1.EndpointSubset) (out []string) {
		for _, s := range list {
			text := ""
			for _, name := range []string{"http", "admin"} {
				if slices.ContainsFunc(s.Ports, func(p corev1.EndpointPort) bool { return p.Name == name }) {
					text += name + " "
				}
			}
			for _, a := range s.Addresses {
				text += a.IP + " "
			}
			for _, a := range s.NotReadyAddresses {
				text += "(" + a.IP + ") "
			}
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		what string
		in   []*corev1.EndpointSubset
		want []string
	}{
		{"both have both", []*corev1.EndpointSubset{{Addresses: all, Ports: []corev1.EndpointPort{http}}, {Addresses: all, Ports: []corev1.EndpointPort{admin}}}, []string{"http admin 10.1.0.1 10.1.0.2 "}},
		{"one lacks a port", []*corev1.EndpointSubset{{Addresses: all, Ports: []corev1.EndpointPort{http}}, {Addresses: all[1:], Ports: []corev1.EndpointPort{admin}}},
			[]string{"admin 10.1.0.2 ", "http 10.1.0.1 10.1.0.2 "}},
		{"who is both ready and not is not", []*corev1.EndpointSubset{{Addresses: all, Ports: []corev1.EndpointPort{http}}, {NotReadyAddresses: all[:1], Ports: []corev1.EndpointPort{http}}},
			[]string{"http 10.1.0.2 (10.1.0.1) "}},
		{"without ports", []*corev1.EndpointSubset{{Addresses: all}}, []string{"10.1.0.1 10.1.0.2 "}},
	} {
		if got := told(repack(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// planned is the plan for a Service whose endpoints are those named, where slices of those named stand already.
func planned(have [][]string, want []string) (d change) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "u"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.9", Ports: []corev1.ServicePort{{Port: 80, Protocol: "TCP", TargetPort: intstr.FromInt32(80)}}}}
	ports := portsOf(&corev1.Pod{}, svc)
	endpoints := func(names []string) (out []discoveryv1.Endpoint) {
		for _, n := range names {
			out = append(out, discoveryv1.Endpoint{Addresses: []string{n}, TargetRef: &corev1.ObjectReference{Name: n}})
		}
		return out
	}
	var stand []*discoveryv1.EndpointSlice
	for i, names := range have {
		s := blank(svc, corev1.IPv4Protocol, ports)
		s.Name, s.Endpoints = fmt.Sprintf("web-%d", i), endpoints(names)
		stand = append(stand, s)
	}
	return plan(svc, corev1.IPv4Protocol, stand, []*group{{ports: ports, endpoints: endpoints(want)}})
}

func names(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%03d", prefix, i))
	}
	return out
}

func TestFewSlicesAreWritten(t *testing.T) {
	a, b := names("a", 60), names("b", 90)
	for _, c := range []struct {
		what                    string
		have                    [][]string
		want                    []string
		creates, updates, sizes []int
		removes                 int
	}{
		{what: "one more goes into the fullest slice that has room", have: [][]string{a, b}, want: slices.Concat(a, b, names("c", 5)), updates: []int{95}},
		{what: "what fits in no slice that stands makes a new one", have: [][]string{a, b}, want: slices.Concat(a, b, names("c", 45)), creates: []int{45}},
		{what: "a slice that is written anyway is filled first", have: [][]string{a, b}, want: slices.Concat(a[1:], b, names("c", 5)), updates: []int{64}},
		{what: "a slice of which nothing is left goes", have: [][]string{a, b}, want: b, removes: 1},
		{what: "or is used for others", have: [][]string{a}, want: names("c", 3), updates: []int{3}},
		{what: "nothing to do", have: [][]string{a, b}, want: slices.Concat(a, b)},
		{what: "all are gone: one slice stays, without any", have: [][]string{a, b}, want: nil, updates: []int{0}, removes: 1},
	} {
		d := planned(c.have, c.want)
		sizes := func(list []*discoveryv1.EndpointSlice) (out []int) {
			for _, s := range list {
				out = append(out, len(s.Endpoints))
			}
			return out
		}
		if !slices.Equal(sizes(d.create), c.creates) || !slices.Equal(sizes(d.update), c.updates) || len(d.remove) != c.removes {
			t.Errorf("%s: creates %v, updates %v, removes %d; want %v, %v, %d", c.what, sizes(d.create), sizes(d.update), len(d.remove), c.creates, c.updates, c.removes)
		}
	}
}
