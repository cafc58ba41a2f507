// Package flowcontrol is API Priority and Fairness: it says how many requests an API server works on at once, which of those that are too many wait, whose turn it is next, and which
// are refused (fidelity API-21 to API-24; as k8s.io/apiserver pkg/util/flowcontrol, of which it has the rules and none of the code).
//
// A request is matched to a schema, and by it to a level and a flow (schemas.go). Levels share the 600 seats of a server by their shares; what a level does not need it lends to others,
// decided anew every 10 s (borrow.go). Inside a level flows are spread over queues by shuffle sharding, and the queue that has had least is served first (queues.go). Who has waited
// 15 s, or finds its queue full, gets 429.
//
// Unlike the real one the configuration is what every cluster starts with and cannot be changed: the kinds of flowcontrol.apiserver.k8s.io are not served.
//
// Owns: Controller, Attributes, Verdict. Imports of ours: engine/sim, components/kubeapi.
//
// Goroutine: the loop, in the process of the request. Time: simulated.
package flowcontrol
