// Package otherclients drives a served cluster with the libraries that programs for Kubernetes are written with: client-go, controller-runtime and Helm.
//
// It is a module of its own, so that what they bring along (some two hundred modules) stays out of the program's. It follows newer patch releases of k8s.io than the
// program does, as clients of a cluster do. The cluster runs in the process of the test, sixty times faster than the wall; what a client is promised is checked, and what
// it sees is written to the same store as everybody's.
//
// Tests only. Imports of ours: engine, engine/command, engine/scenario, engine/serve.
package otherclients
