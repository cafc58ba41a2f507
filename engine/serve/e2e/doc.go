// Package e2e drives a served cluster with kubectl, as its users do: the real one inside this program, in a child process, and those of other versions where they are on
// the machine.
//
// It stands beside engine/serve and not in components/kubectl because what it judges is the whole way: the binary, TLS, the HTTP front, the pipeline, the controllers and
// the kubelets. The cluster runs in the process of the test on the memory store, so that no wall-timed election decides; only kubectl is a child.
//
// testdata/NAME.txt is a story: lines with "$ " are given to kubectl, what follows is what it prints (both streams) and, where it is not 0, its exit code as "[N]". What
// changes from run to run is masked: ages, addresses, suffixes, uids, times. A line "~ " instead of "$ " is given too, but its output is not judged; "! " is repeated until
// what it prints is what is written. go test -update writes the files anew.
//
// Tests only. Imports of ours: engine, engine/serve, engine/child, components/kubectl/real. Time: that of the wall outside, sixty times faster inside.
package e2e
