// Package httpapi is the HTTP side of an API server: it turns HTTP requests into kubeapi.Requests and answers into HTTP, and decides nothing about Kubernetes.
//
// A request is routed by its path (route.go), its body and query are decoded (decode.go), it goes up through an Upstream — the simulated process that stands for the client —, and what
// comes back is written as JSON, YAML or Kubernetes' protobuf, as a Table, as metadata alone, or as a stream of changes (encode.go, table.go, watch.go). Discovery (discovery.go) and the
// texts of health (health.go) are made here; whether somebody may read them, the server says. Which groups, versions and resources there are is asked of a Resolver at each request.
//
// Times of objects are simulated. Clients compare them with their own clock, so each is moved by the distance of the two clocks on its way out and back on its way in (package shift). The
// distance is frozen per kubectl invocation, or per connection.
//
// Limits are those of the real server, and those that Go's server does not set by itself: body 3 MiB, headers 1 MiB, time for a header 32 s, idle connections 90 s, nesting and aliases as
// the decoders of apimachinery bound them. Only requests to a loopback name are taken, and none that a web page of another origin sends.
//
// Owns: Handler, Upstream, Resolver. Imports of ours: components/kubeapi, engine/kinds, engine/kinds/columns, httpapi/shift.
//
// Goroutines: those of net/http; objects that come up from the loop are shared and immutable, and everything here works on them without changing them. Time: wall, except for the ages in
// tables, which are simulated.
package httpapi
