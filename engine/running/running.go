// Package running is the list of clusters that run now, as programs of the same user: how `kubeviz kubectl` in a shell finds the screen next to it.
//
// Each cluster has a folder in a private directory (XDG_RUNTIME_DIR/kubeviz, else kubeviz-UID in the temporary directory; 0700 and the user's own, or it is refused) with
// what it says of itself, its kubeconfig, and a cache and a home for the kubectl that speaks to it. The folder goes when the cluster ends. Its owner holds a lock on it as
// long as it lives, which the kernel gives up with the process: a folder whose lock can be had is left over, and the next to look removes it. No process id is asked.
//
// Owns: the directory. Imports of ours: none. Goroutines: safe anywhere. Time: wall, when a cluster started.
package running

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Cluster is one that runs.
type Cluster struct {
	Name    string    `json:"name"`    // unique among those that run: the preset's name, with a number where it is taken
	Servers []string  `json:"servers"` // https://127.0.0.1:PORT: the load balancer's first, then the masters'
	PID     int       `json:"pid"`     // for people
	Started time.Time `json:"started"`

	dir string
}

// Kubeconfig is the file of the cluster. It is kubectl's own to change (config set-context) as long as the cluster runs.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// Cache and Home are directories for kubectl.
func (c *Cluster) Cache() string { return filepath.Join(c.dir, "cache") }
func (c *Cluster) Home() string  { return filepath.Join(c.dir, "home") }

// Entry is a cluster of this process in the list.
type Entry struct {
	Cluster
	lock *os.File
}

const about, locked = "cluster.json", "lock"

// maxClusters of one preset that run at a time.
const maxClusters = 100

// Directory of this user. It is made where it is missing, and refused where others could reach into it.
func Directory() (string, error) {
	dir := filepath.Join(os.TempDir(), "kubeviz-"+strconv.Itoa(os.Getuid()))
	if d := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(d) {
		dir = filepath.Join(d, "kubeviz")
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if err := private(info); err != nil {
		return "", fmt.Errorf("%s is not used: %w", dir, err)
	}
	return dir, nil
}

// NameFor makes of what a scenario calls itself a name that a folder and a command line can have.
func NameFor(title string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, title), "-")
	if name == "" {
		return "cluster"
	}
	return name[:min(len(name), 60)]
}

// Publish puts a cluster into the list in dir, under the name or one like it.
func Publish(dir, name string, servers []string, kubeconfig []byte, now time.Time) (*Entry, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return nil, fmt.Errorf("%q is no name for a cluster", name)
	}
	sweep(dir)
	for n := 1; n <= maxClusters; n++ {
		unique := name
		if n > 1 {
			unique += "-" + strconv.Itoa(n)
		}
		e := &Entry{Cluster: Cluster{Name: unique, Servers: servers, PID: os.Getpid(), Started: now, dir: filepath.Join(dir, unique)}}
		if err := os.Mkdir(e.dir, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if err := e.fill(kubeconfig); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		return e, nil
	}
	return nil, fmt.Errorf("%d clusters named %s run already", maxClusters, name)
}

// fill writes the folder. What makes it a cluster comes last: until then nobody takes it for one, nor for left over.
func (e *Entry) fill(kubeconfig []byte) (err error) {
	if e.lock, err = take(filepath.Join(e.dir, locked)); err != nil {
		return err
	}
	for _, d := range []string{e.Cache(), e.Home()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(e.Kubeconfig(), kubeconfig, 0o600); err != nil {
		return err
	}
	text, err := json.Marshal(e.Cluster)
	if err != nil {
		return err
	}
	part := filepath.Join(e.dir, about+".part")
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(e.dir, about))
}

// Close takes the cluster off the list.
func (e *Entry) Close() error {
	err := os.Remove(filepath.Join(e.dir, about)) // first: who looks now sees none
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, os.RemoveAll(e.dir))
	if e.lock != nil {
		release(e.lock)
	}
	return err
}

// List returns the clusters that run, the newest first, and removes what dead ones left.
func List(dir string) []*Cluster {
	sweep(dir)
	var out []*Cluster
	entries, _ := os.ReadDir(dir)
	for _, d := range entries {
		c := &Cluster{dir: filepath.Join(dir, d.Name())}
		text, err := os.ReadFile(filepath.Join(c.dir, about))
		if err != nil || json.Unmarshal(text, c) != nil || c.Name != d.Name() {
			continue
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		if !out[i].Started.Equal(out[j].Started) {
			return out[i].Started.After(out[j].Started)
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// Find returns the cluster of that name; without a name the newest.
func Find(dir, name string) (*Cluster, error) {
	all := List(dir)
	if len(all) == 0 {
		return nil, errors.New("no cluster is running; start one with kubeviz, or kubeviz serve")
	}
	if name == "" {
		return all[0], nil
	}
	var names []string
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("no cluster named %q is running; there is %s", name, strings.Join(names, ", "))
}

// sweep removes the folders whose owners are gone. One that does not yet say what it is, is being made right now and is not touched, unless it is old.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, d := range entries {
		path := filepath.Join(dir, d.Name())
		if _, err := os.Stat(filepath.Join(path, about)); err != nil {
			if info, ierr := d.Info(); ierr != nil || !d.IsDir() || time.Since(info.ModTime()) < time.Minute {
				continue
			}
		}
		lock, err := reach(filepath.Join(path, locked))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // held: it lives
		}
		_ = os.RemoveAll(path)
		if lock != nil {
			release(lock)
		}
	}
}
