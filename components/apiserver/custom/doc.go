// Package custom makes kinds out of CustomResourceDefinitions: the rows of their versions, with a resource.Resource each, and the list of what each API server serves of them.
//
// An API server learns of definitions by its own watch. When one is established it asks Define for what the definition says, and puts the versions' resources beside those that are built in;
// when the definition changes the watches on it end and it is defined anew, when it goes so does all that. Objects are JSON in the store (kinds.Custom); versions differ by their name alone,
// since there is no conversion but "None". What a server serves is published on a Board, for those outside of the loop: discovery and the routing of HTTP requests.
//
// Schemas are k8s.io/apiextensions-apiserver's structural ones with its pruning; defaulting, embedded metadata and the checking of values are written here, because its own packages bring
// OpenTelemetry and gRPC with them (38 ms of init). Rules in CEL (x-kubernetes-validations) are the package expressions'; they are compiled when the first object is written.
//
// Owns: Definition, Board, Set. Imports of ours: engine/kinds, components/apiserver/resource and its expressions. Goroutines: the loop; Board.Of and Sets any. Time: none.
package custom
