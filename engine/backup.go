package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
)

var errRestoring = errors.New("the store is being restored; wait until that has ended")

// offLoop does slow work with files outside the loop and then, on the loop, what follows. A clock that runs free stands still meanwhile, so that a run repeats.
func (e *Engine) offLoop(work func() (raftstore.BackupInfo, error), then func(raftstore.BackupInfo, error)) {
	if e.loop.Rate() == sim.Unpaced || e.opts.Store == StoreMemory {
		then(work())
		return
	}
	go func() {
		info, err := work()
		e.loop.Control(func() { then(info, err) })
	}()
}

// ---- backup

func (e *Engine) backup(given event.Seq, c command.Backup) error {
	if e.restoring {
		return errRestoring
	}
	s, err := e.asker()
	if err != nil {
		return err
	}
	name, inMemory := strings.CutPrefix(c.File, "@")
	if inMemory && e.kept[name] != nil {
		return fmt.Errorf("%s is there already; choose another name", c.File)
	}
	if !inMemory {
		if _, err := os.Lstat(c.File); err == nil {
			return fmt.Errorf("%s is there already; choose another name, or move it away", c.File)
		}
	}
	var content bytes.Buffer
	e.offLoop(func() (raftstore.BackupInfo, error) {
		if inMemory {
			return e.store.cluster.Backup(s.Name, &content)
		}
		return writeNew(c.File, func(w io.Writer) (raftstore.BackupInfo, error) { return e.store.cluster.Backup(s.Name, w) })
	}, func(info raftstore.BackupInfo, err error) {
		if err != nil {
			e.done(given, c, nil, fmt.Errorf("back up %s to %s: %w", s.Name, c.File, plain(err)))
			return
		}
		if inMemory {
			e.kept[name] = content.Bytes()
		}
		e.journal.Emit(event.On("etcd", s.Name), given, event.StoreBackedUp{Member: s.Name, File: c.File, Revision: info.Revision, Keys: info.Keys, Bytes: info.Bytes})
		e.done(given, c, []string{fmt.Sprintf("snapshot of %s saved at %s: revision %d, %d keys, %s, hash %x", s.Name, c.File, info.Revision, info.Keys, bytesText(info.Bytes), info.Hash)}, nil)
	})
	return errLater
}

// writeNew writes a file that must not exist: beside it first, so that nobody ever sees half of it.
func writeNew(path string, write func(io.Writer) (raftstore.BackupInfo, error)) (info raftstore.BackupInfo, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, ignoreMissing(os.Remove(f.Name()))) }()
	info, err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return info, err
	}
	err = os.Link(f.Name(), path) // unlike a renaming it does not replace what came there meanwhile
	if err != nil && !errors.Is(err, os.ErrExist) {
		err = os.Rename(f.Name(), path) // a file system without links
	}
	return info, err
}

// plain leaves the reason of an error about a file, without the name: the user gave it, or it is that of a file half written, which nobody knows.
func plain(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// ---- restore

const (
	// restorePoll is how often a restore looks whether the store's members have stopped, simulated, and stopWait how long it waits before it kills what is left.
	restorePoll = 100 * time.Millisecond
	stopWait    = 40 * time.Second
)

// restore begins the store anew with a backup, as the documentation of etcd and Kubernetes says: the static pods of etcd are taken away, the members' disks replaced, and
// the pods put back. A file that is no backup stops nothing.
func (e *Engine) restore(given event.Seq, c command.Restore) error {
	if e.restoring {
		return errRestoring
	}
	open, err := e.backupFile(c.File)
	if err != nil {
		return err
	}
	e.restoring = true
	e.offLoop(func() (info raftstore.BackupInfo, err error) {
		err = with(open, func(file io.Reader) error { _, info, err = raftstore.ReadBackup(file); return err })
		return info, err
	}, func(_ raftstore.BackupInfo, err error) {
		if err != nil {
			e.putEtcdBack(given)
			e.done(given, c, nil, fmt.Errorf("restore %s: %w", c.File, err))
			return
		}
		e.stopStore(given, func() { e.replaceStore(given, c, open) })
	})
	return errLater
}

// backupFile finds a backup; open may be called more than once.
func (e *Engine) backupFile(path string) (open func() (io.ReadCloser, error), err error) {
	if name, inMemory := strings.CutPrefix(path, "@"); inMemory {
		content := e.kept[name]
		if content == nil {
			return nil, fmt.Errorf("no backup is called %s in this run; make one with backup %s", path, path)
		}
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, nil
	}
	switch fi, err := os.Stat(path); {
	case err != nil:
		return nil, fmt.Errorf("restore %s: %w", path, plain(err))
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("restore %s: it is no regular file", path)
	}
	return func() (io.ReadCloser, error) { return os.Open(path) }, nil
}

func with(open func() (io.ReadCloser, error), read func(io.Reader) error) error {
	file, err := open()
	if err != nil {
		return err
	}
	return errors.Join(read(file), file.Close())
}

// stopStore takes etcd away from all masters; then runs when it has ended everywhere.
func (e *Engine) stopStore(given event.Seq, then func()) {
	for _, m := range e.machines {
		if m.master {
			m.takeEtcdAway(given)
		}
	}
	began := e.loop.Now()
	var whenStopped func()
	whenStopped = func() {
		late := e.loop.Now().Sub(began) > stopWait
		for _, m := range e.machines {
			if pg := m.programs["etcd"]; pg != nil && late {
				pg.end(given, 137, "killed", "")
			}
			if !late && m.hasEtcd() {
				e.loop.After(restorePoll, whenStopped)
				return
			}
		}
		then()
	}
	e.loop.After(restorePoll, whenStopped)
}

// putEtcdBack ends a restore: the kubelets have the manifests of etcd again.
func (e *Engine) putEtcdBack(cause event.Seq) {
	e.restoring = false
	for _, m := range e.machines {
		if m.master && m.programs["kubelet"] != nil {
			m.kubelet.SetStaticPods(cause, m.staticPods())
		}
	}
}

// replaceStore gives all members the content of a backup and lets them start; where that fails they start as they were.
func (e *Engine) replaceStore(given event.Seq, c command.Restore, open func() (io.ReadCloser, error)) {
	d := e.store
	was := d.cluster.Membership()
	d.asked[subject{kind: raftstore.MembersChanged}] = given
	d.asked[subject{kind: raftstore.SetAside}] = given
	e.offLoop(func() (info raftstore.BackupInfo, err error) {
		err = with(open, func(file io.Reader) error { info, err = d.cluster.Restore(file); return err })
		return info, err
	}, func(info raftstore.BackupInfo, err error) {
		delete(d.asked, subject{kind: raftstore.SetAside})
		cause := given
		if err == nil {
			cause = e.journal.Emit(event.Engine, given, event.StoreRestored{File: c.File, Revision: info.Revision, Restored: info.Restored, Keys: info.Keys})
			d.begun(cause)
		}
		delete(d.asked, subject{kind: raftstore.MembersChanged})
		e.putEtcdBack(cause)
		if err != nil {
			e.done(given, c, nil, fmt.Errorf("restore %s: %w; the store starts again as it was", c.File, err))
			return
		}
		e.done(given, c, []string{
			fmt.Sprintf("restored %s: %d keys as they were at revision %d; revisions go on from %d", c.File, info.Keys, info.Revision, info.Restored),
			arithmetic(was) + ", each with a new disk; what was on the old ones is set aside",
		}, nil)
	})
}

// takeEtcdAway takes the manifest of etcd away, so that the kubelet stops it; where no kubelet runs it is told itself.
func (m *machine) takeEtcdAway(cause event.Seq) {
	if m.programs["kubelet"] != nil {
		m.kubelet.SetStaticPods(cause, m.staticPods())
		return
	}
	if pg := m.programs["etcd"]; pg != nil {
		pg.terminate(cause, stopGrace)
	}
}

// hasEtcd reports that etcd runs here, or that the kubelet is not done with its pod.
func (m *machine) hasEtcd() bool {
	if m.programs["etcd"] != nil {
		return true
	}
	if !m.up || m.programs["kubelet"] == nil {
		return false
	}
	for _, s := range m.runtime.ListPodSandbox() {
		if s.Pod.Namespace == "kube-system" && s.Pod.Name == "etcd-"+m.host {
			return true
		}
	}
	return false
}

// staticPods are the manifests in the machine's folder: kubeadm's, but that of etcd while the store is being restored.
func (m *machine) staticPods() []*corev1.Pod {
	if !m.master {
		return nil
	}
	pods := kubelet.ControlPlanePods(m.ip())
	if !m.e.restoring {
		return pods
	}
	var out []*corev1.Pod
	for _, p := range pods {
		if p.Name != "etcd" {
			out = append(out, p)
		}
	}
	return out
}
