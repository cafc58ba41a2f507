// Package gateway brings clients from outside into the cluster. Each becomes a process with an address of its own on the network of the model and a connection to an API server, through
// the load balancer or to one master. So its requests take simulated time, are cut by faults and end with the server that answers them.
//
// A Door is what a listener outside leads to. A Client is one program outside: it lives as long as somebody holds it, and its end ends its watches. What a client asks is handed to the
// loop with Loop.Post; the answer comes back to the goroutine that asked.
//
// While time stands still (rate 0) nothing travels. Reads are then answered from what a server's watch cache holds (Server.Recall through Loop.Control), everything else by ErrPaused;
// what was on its way when time stopped and may have been done is answered by ErrUnderWay. Nothing waits for time to go on, but for watches that are open: they are silent.
//
// Owns: Gateway, Door, Client, Watch. Imports of ours: components/apiserver, components/kubeapi, engine/event, engine/sim, engine/simnet.
//
// Goroutines: New, AddDoor and everything that says so run on the loop; Enter, and the methods of Client and Watch, on any goroutine. Time: simulated for what travels, wall time for the
// contexts of callers.
package gateway
