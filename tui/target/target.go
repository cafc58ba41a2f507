// Package target names a thing on the screen: what keys act on, what a page is about, and where its records are found in the trace.
//
// Imports of ours: engine/event, engine/kinds, engine/trace. Goroutines: values. Time: none.
package target

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/trace"
)

// Kind of a thing one can select.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota
	Balancer
	Master
	Worker
	Process
	Pod
	// Object is any other object of the API; Type is its kind's String ("deployments.apps").
	Object
	// Queue of a process: Host, Process and Name (of the queue).
	Queue
	// Client outside the cluster, by Name ("you").
	Client
	// Zone of workers, by Name.
	Zone
	// Record of the journal, by Seq.
	Record
)

// Target is a thing one can select. The zero value is nothing. It is comparable.
type Target struct {
	Kind      Kind
	Host      string
	Process   string
	Type      string
	Namespace string
	Name      string
	Seq       event.Seq
}

// Key is the subject of the thing in the trace; empty where records are not filed under it.
func (t Target) Key() trace.Subject {
	switch t.Kind {
	case Master, Worker:
		return trace.Host(t.Host)
	case Process:
		return trace.Process(t.Host, t.Process)
	case Pod:
		return trace.Object(kinds.Pods, t.Namespace, t.Name)
	case Object:
		return trace.Subject(t.Type + " " + kinds.ObjectRef{Namespace: t.Namespace, Name: t.Name}.String())
	case Queue:
		return trace.Queue(event.On(t.Process, t.Host), t.Name)
	}
	return ""
}

// ForObject names an object: pods by their own kind, everything else by its type. Nodes are objects here; Worker and Master are the machines.
func ForObject(k *kinds.Kind, namespace, name string) Target {
	if k == kinds.Pods {
		return Target{Kind: Pod, Namespace: namespace, Name: name}
	}
	return Target{Kind: Object, Type: k.String(), Namespace: namespace, Name: name}
}
