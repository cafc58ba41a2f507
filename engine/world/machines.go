package world

import (
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
)

// etcd is the process on a master that is a member of the raft cluster.
const etcd = "etcd"

// apiserver is the process on a master that carries watches.
const apiserver = "apiserver"

// host returns a copy of a host's entry to change, or a new one.
func (w *World) host(name string, at time.Time) Host {
	if h, ok := w.Hosts.Get(name); ok {
		return *h
	}
	return Host{Name: name, Since: at}
}

func (w *World) setHost(h Host) {
	w.Hosts.Set(h.Name, &h)
	put(&w.indexes.troubled, h.Name, h.troubled())
}

// troubled: it went down, or a program on it did. A machine that was never on is not in trouble.
func (h *Host) troubled() bool {
	if !h.Up {
		return h.Seq != 0
	}
	for _, p := range h.Processes {
		if !p.Up {
			return true
		}
	}
	return false
}

func (w *World) machineUp(r event.Record, e event.MachineUp) {
	h := w.host(e.Host, r.At)
	if !h.Up {
		h.Since = r.At
	}
	h.Up, h.By, h.Seq = true, "", 0
	if e.Joined && !h.Master {
		h.Master = true
		w.Header.Masters = append(slices.Clone(w.Header.Masters), e.Host)
	}
	w.setHost(h)
}

// machineDown takes everything on the machine with it: what runs there does not run any more, whatever its programs still had to say.
func (w *World) machineDown(r event.Record, e event.MachineDown) {
	h := w.host(e.Host, r.At)
	by := w.by(r)
	h.Up, h.Since, h.By, h.Seq = false, r.At, by, r.Seq
	procs := make(map[string]Process, len(h.Processes))
	for name, p := range h.Processes {
		if p.Up {
			p.Up, p.Since, p.Reason, p.By, p.Seq = false, r.At, "machine down", by, r.Seq
		}
		procs[name] = p
	}
	h.Processes = procs
	w.setHost(h)

	var dead []string
	w.Running.Ascend(e.Host+" ", func(key string, _ *Container) bool {
		if !strings.HasPrefix(key, e.Host+" ") {
			return false
		}
		dead = append(dead, key)
		return true
	})
	for _, key := range dead {
		w.Running.Delete(key)
		w.indexes.backedOff.Delete(key)
	}
	w.forgetWork(e.Host, "")
	w.memberStopped(r, e.Host)
}

func (w *World) processStarted(r event.Record, e event.ProcessStarted) {
	h := w.host(e.Host, r.At)
	p, again := h.Processes[e.Process]
	if again && !p.Up {
		p.Restarts++
	}
	p.Name, p.Up, p.Since, p.By, p.Seq = e.Process, true, r.At, "", 0
	w.setProcess(h, p)
}

func (w *World) processStopped(r event.Record, e event.ProcessStopped) {
	h := w.host(e.Host, r.At)
	p := h.Processes[e.Process]
	by := w.by(r)
	if r.Cause != 0 && r.Cause == h.Seq { // it went with its machine
		by = h.By
	}
	p.Name, p.Up, p.Since, p.Reason, p.By, p.Seq = e.Process, false, r.At, e.Reason, by, r.Seq
	if e.Message != "" {
		p.Reason += ": " + e.Message
	}
	w.setProcess(h, p)
	w.forgetWork(e.Host, e.Process)
	if e.Process == etcd {
		w.memberStopped(r, e.Host)
	}
}

func (w *World) setProcess(h Host, p Process) {
	procs := maps.Clone(h.Processes)
	if procs == nil {
		procs = map[string]Process{}
	}
	procs[p.Name] = p
	h.Processes = procs
	w.setHost(h)
}

// forgetWork drops the queues, watches and the leadership of a process that ended; of all processes of the host if process is empty.
func (w *World) forgetWork(host, process string) {
	var queues, leaders []string
	w.Queues.Scan(func(key string, q *Queue) bool {
		if q.Actor.Host() == host && (process == "" || q.Actor.Component() == process) {
			queues = append(queues, key)
		}
		return true
	})
	w.Leaders.Scan(func(key string, l *Leader) bool {
		if l.Host == host && (process == "" || strings.TrimPrefix(l.Lease, "kube-") == process) {
			leaders = append(leaders, key)
		}
		return true
	})
	for _, k := range queues {
		w.Queues.Delete(k)
	}
	if process == "" || process == apiserver {
		w.closeWatches(host)
		w.forgetRequests(func(a ask) bool { return a.server == host })
	}
	for _, k := range leaders {
		w.Leaders.Delete(k)
	}
}
