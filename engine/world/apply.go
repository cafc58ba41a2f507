package world

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Apply folds the next record in. Records that were folded in before are ignored; a gap in their numbers is counted in Lost.
func (w *World) Apply(r event.Record) {
	w.fold(r)
	if w.Came.IsZero() && w.complete() {
		w.Came = w.At
	}
}

// complete: every machine is a Ready node, there is a leader where there is raft, and every API server answers. What is cheap to see comes first.
func (w *World) complete() bool {
	if w.Nodes.Len() == 0 || w.indexes.notReady.Len() > 0 || w.Nodes.Len() < w.Hosts.Len() || w.indexes.troubled.Len() > 0 {
		return false
	}
	if _, led := w.Leader(); !led && w.Members.Len() > 0 {
		return false
	}
	healthy := 0
	w.Backends.Scan(func(_ string, b *Backend) bool {
		if b.Healthy {
			healthy++
		}
		return true
	})
	return healthy >= len(w.Header.Masters)
}

func (w *World) fold(r event.Record) {
	if r.Seq != 0 && r.Seq <= w.Seq {
		return
	}
	if r.Seq > w.Seq+1 {
		w.Lost += int(r.Seq - w.Seq - 1)
	}
	if w.Start.IsZero() {
		w.Start = r.At
	}
	w.Seq, w.At = r.Seq, r.At
	if !r.Wall.IsZero() {
		w.Wall = r.Wall
	}
	switch e := r.Event.(type) {
	case event.ClusterStarted:
		w.clusterStarted(r, e)
	case event.CommandGiven:
		w.Commands = append(w.Commands, Command{Seq: r.Seq, At: r.At, Text: e.Text})
	case event.CommandRefused:
		w.Commands = append(w.Commands, Command{Seq: r.Seq, At: r.At, Text: e.Text, Done: true, Error: e.Reason})
	case event.CommandDone:
		w.commandDone(r, e)
	case event.RateChanged:
		w.Rate, w.Unpaced, w.WhyPause = e.Rate, e.Unpaced, e.Why
	case event.MachineUp:
		w.machineUp(r, e)
	case event.MachineDown:
		w.machineDown(r, e)
	case event.ProcessStarted:
		w.processStarted(r, e)
	case event.ProcessStopped:
		w.processStopped(r, e)
	case event.FaultAdded:
		w.Faults.Set(r.Seq, Fault{Fault: e.Fault, By: w.by(r), At: r.At, Seq: r.Seq})
	case event.FaultRemoved:
		w.Faults.Delete(e.ID)
	case event.BackendChanged:
		w.backendChanged(r, e)
	case event.RaftRole:
		w.raftRole(r, e)
	case event.RaftProgress:
		w.raftProgress(e)
	case event.RaftTiming:
		w.Timing = e
	case event.RaftContact:
		w.raftContact(e)
	case event.RaftMessage:
		w.raftMessage(r, e)
	case event.RaftAppended:
		w.raftAppended(r, e)
	case event.RaftTruncated:
		w.raftTruncated(r, e)
	case event.RaftSnapshot:
		w.raftSnapshot(r, e)
	case event.MembersChanged:
		w.membersChanged(r, e)
	case event.StoreCompacted:
		w.Store.Compacted = Compaction{Revision: max(w.Store.Compacted.Revision, e.Revision), At: r.At, Seq: r.Seq}
	case event.StoreDefragmented:
		w.storeDefragmented(e)
	case event.StoreAlarm:
		w.storeAlarm(r, e)
	case event.StoreLease:
		w.storeLease(e)
	case event.StoreQuota:
		w.Store.Quota = e.Bytes
	case event.StoreBackedUp:
		w.Store.Backup = Backup{StoreBackedUp: e, At: r.At, Seq: r.Seq}
	case event.StoreRestored:
		w.storeRestored(r, e)
	case event.DiskChanged:
		w.diskChanged(r, e)
	case event.DiskSetAside:
		w.diskSetAside(r, e)
	case event.TrapSet:
		w.trapSet(e)
	case event.TrapSprung:
		w.trapSprung(r, e)
	case event.StoreDiverged:
		w.change(e.Member, func(m *Member) { m.Diverged = Diverged{Index: e.Index, At: r.At, Seq: r.Seq} })
	case event.ObjectChanged:
		w.objectChanged(r, e)
	case event.LeaseRenewed:
		w.leaseRenewed(r, e)
	case event.RequestTally:
		w.requestTally(r, e)
	case event.QueueChanged:
		w.queueChanged(r, e)
	case event.WatchOpened:
		w.watchOpened(r, e)
		w.clientWatches(r, e.Client, e.Server, "")
	case event.WatchBehind:
		w.watchBehind(r, e)
	case event.WatchClosed:
		w.closeWatch(watchKey(e.Server, e.Watch))
		w.clientWatches(r, e.Client, e.Server, e.Reason)
	case event.ClientConnected:
		w.clientConnected(r, e)
	case event.ClientGone:
		w.clientGone(r, e)
	case event.RequestReceived:
		w.requestReceived(r, e)
	case event.RequestDone:
		w.requestDone(r, e)
	case event.Leading:
		w.leading(r, e)
	case event.SchedulingAttempt:
		w.schedulingAttempt(r, e)
	case event.PodQueued:
		w.podQueued(r, e)
	case event.EvictionPlanned:
		w.evictionPlanned(r, e)
	case event.EvictionCancelled:
		w.forgetEviction(e.Pod.String())
	case event.ContainerChanged:
		w.containerChanged(r, e)
	case event.Reconciled, event.NodeJudged, event.Crashed, event.Unknown:
		// told to the reader of records; they leave no state behind (what follows from them has facts of its own)
	}
}

func (w *World) clusterStarted(r event.Record, e event.ClusterStarted) {
	w.Header = e
	for _, h := range e.Masters {
		w.Hosts.Set(h, &Host{Name: h, Master: true, Since: r.At})
		if e.Store == "raft" {
			w.Members.Set(h, &Member{Name: h, Role: roleDown, Since: r.At})
		}
	}
	for _, h := range e.Workers {
		w.Hosts.Set(h, &Host{Name: h, Since: r.At})
	}
}

func (w *World) commandDone(r event.Record, e event.CommandDone) {
	i, ok := w.command(r.Cause)
	if !ok {
		return // its beginning was lost
	}
	if w.shared {
		w.Commands = slices.Clone(w.Commands)
		w.shared = false
	}
	w.Commands[i].Done, w.Commands[i].Error = true, e.Error
}

func (w *World) command(seq event.Seq) (int, bool) {
	return slices.BinarySearchFunc(w.Commands, seq, func(c Command, s event.Seq) int { return int(int64(c.Seq) - int64(s)) })
}

// by names who stands behind a record as far as one step of causes tells: the user for what a command led to directly.
func (w *World) by(r event.Record) event.Actor {
	if r.Actor == event.You {
		return event.You
	}
	if _, ok := w.command(r.Cause); ok && r.Cause != 0 {
		return event.You
	}
	return r.Actor
}

func (w *World) backendChanged(r event.Record, e event.BackendChanged) {
	b := Backend{Host: e.Backend, LastAt: r.At}
	if old, ok := w.Backends.Get(e.Backend); ok {
		b = *old
	}
	b.Healthy, b.Reason, b.Since = e.Healthy, e.Reason, r.At
	w.Backends.Set(e.Backend, &b)
}

func (w *World) leading(r event.Record, e event.Leading) {
	if e.Leading {
		w.Leaders.Set(e.Lease, &Leader{Lease: e.Lease, Host: e.Host, Identity: e.Identity, Since: r.At, Seq: r.Seq})
	} else if l, ok := w.Leaders.Get(e.Lease); ok && l.Identity == e.Identity {
		w.Leaders.Delete(e.Lease)
	}
}

// schedulingAttempt is remembered until the pod is bound: what waits is the question, and a verdict per node is not small.
func (w *World) schedulingAttempt(r event.Record, e event.SchedulingAttempt) {
	key := e.Pod.String()
	if p, ok := w.Pods.Get(key); ok && p.Object.Spec.NodeName != "" {
		return
	}
	a := Attempt{SchedulingAttempt: e, At: r.At, Seq: r.Seq}
	if old, ok := w.Attempts.Get(key); ok && old.Pod.UID == e.Pod.UID {
		a.Queue, a.Until = old.Queue, old.Until
	}
	w.Attempts.Set(key, &a)
}

func (w *World) podQueued(r event.Record, e event.PodQueued) {
	key := e.Pod.String()
	a := Attempt{SchedulingAttempt: event.SchedulingAttempt{Pod: e.Pod}}
	if old, ok := w.Attempts.Get(key); ok && old.Pod.UID == e.Pod.UID {
		a = *old
	}
	if e.Queue == "" {
		if a.At.IsZero() { // never tried: nothing to remember
			w.Attempts.Delete(key)
			return
		}
		if _, ok := w.Pods.Get(key); !ok {
			w.Attempts.Delete(key)
			return
		}
	}
	a.Queue, a.Until = e.Queue, e.Until
	if a.Seq == 0 {
		a.Seq = r.Seq
	}
	w.Attempts.Set(key, &a)
}

func (w *World) evictionPlanned(r event.Record, e event.EvictionPlanned) {
	key := e.Pod.String()
	w.forgetEviction(key)
	w.Evictions.Set(key, &Eviction{Pod: e.Pod, Node: e.Node, Due: e.Due, Seq: r.Seq})
	w.indexes.due.Insert(dueKey(e.Node, e.Due, key))
	count(&w.indexes.evictions, e.Node, 1)
}

func (w *World) forgetEviction(key string) {
	old, ok := w.Evictions.Delete(key)
	if !ok {
		return
	}
	w.indexes.due.Delete(dueKey(old.Node, old.Due, key))
	count(&w.indexes.evictions, old.Node, -1)
}

// dueKey sorts by node, then time, then pod.
func dueKey(node string, due time.Time, pod string) string {
	return node + " " + due.UTC().Format("2006-01-02T15:04:05.000000000") + " " + pod
}

func (w *World) containerChanged(r event.Record, e event.ContainerChanged) {
	key := e.Node + " " + e.Pod.UID + " " + e.Container
	put(&w.indexes.backedOff, key, e.State == event.ContainerBackoff)
	if e.State == event.ContainerGone {
		w.Running.Delete(key)
		return
	}
	c := Container{
		Node: e.Node, Pod: e.Pod, Name: e.Container, State: e.State, Image: e.Image, Since: r.At, Until: e.Until,
		Seq: r.Seq, Restarts: e.Restarts, ExitCode: e.ExitCode, Reason: e.Reason,
	}
	if old, ok := w.Running.Get(key); ok {
		if old.State == c.State {
			c.Since = old.Since
		}
		if c.Image == "" {
			c.Image = old.Image
		}
	}
	w.Running.Set(key, &c)
}

// objectKey is ObjectKey of an object.
func objectKey(k *kinds.Kind, o kinds.Object) string {
	name := resourceNames[k]
	if name == "" { // defined by a CustomResourceDefinition
		name = k.String()
	}
	return name + " " + podKey(o.GetNamespace(), o.GetName())
}

func podKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
