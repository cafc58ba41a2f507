package userland

//lint:file-ignore ST1005 errors are in the kernel's own words

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// Disk is what has been written in a container over the files that it came with. It lives as long as the container does: one that is started anew has a new one. Any goroutine.
type Disk struct {
	mu    sync.Mutex
	files map[string]*file // by absolute path; directories too
	gone  map[string]bool  // files of the image that were removed
	bytes int
	live  *player // the container's own command, as far as others have wanted to see what it wrote
}

type file struct {
	data []byte
	dir  bool
	at   time.Time
}

// Limits of what one container may write.
const (
	diskMax  = 32 << 20 // bytes
	filesMax = 2048
)

// What programs of C say of an error of the kernel's.
var (
	errSpace    = errors.New("No space left on device")
	errReadOnly = errors.New("Read-only file system")
	errIsDir    = errors.New("Is a directory")
	errNone     = errors.New("No such file or directory")
	errExists   = errors.New("File exists")
)

// NewDisk is an empty one.
func NewDisk() *Disk { return &Disk{files: map[string]*file{}, gone: map[string]bool{}} }

// Close lets go of what was begun for those who look.
func (d *Disk) Close() {
	d.mu.Lock()
	live := d.live
	d.mu.Unlock()
	if live != nil {
		live.close()
	}
}

// view is the paths of all files; a directory is there as its own ".". What was written here has no text in it, as it may be long: read has.
func (p *Process) view() map[string]string {
	out := p.Container.Files()
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.gone {
		delete(out, name)
	}
	for name, f := range d.files {
		if f.dir {
			out[name+"/."] = ""
		} else {
			out[name] = ""
		}
	}
	return out
}

// read is the text of a file.
func (p *Process) read(name string) (string, bool) {
	name = p.abs(name)
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.files[name]; f != nil {
		return string(f.data), !f.dir
	}
	if d.gone[name] {
		return "", false
	}
	text, ok := p.Container.Files()[name]
	return text, ok
}

// written tells of what was written here.
func (d *Disk) written(name string) (size int64, dir bool, at time.Time, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.files[name]; f != nil {
		return int64(len(f.data)), f.dir, f.at, true
	}
	return 0, false, at, false
}

// open makes a file to write to, with what it held where flag says so.
func (p *Process) create(name string, flag int) (*writeFile, error) {
	name = p.abs(name)
	switch dir, err := p.stat(parent(name)); {
	case p.sealed(name):
		return nil, errReadOnly
	case err != nil || !dir.dir:
		return nil, errNone
	}
	was, err := p.stat(name)
	switch {
	case err == nil && was.dir:
		return nil, errIsDir
	case err != nil && flag&os.O_CREATE == 0:
		return nil, errNone
	}
	old := ""
	if flag&os.O_TRUNC == 0 && err == nil {
		if _, _, _, here := p.disk.written(name); here {
			return &writeFile{p: p, name: name}, nil
		}
		old, _ = p.read(name)
	}
	return &writeFile{p: p, name: name}, p.put(name, []byte(old))
}

// sealed tells places that nobody can write to.
func (p *Process) sealed(name string) bool {
	for _, dir := range []string{tokenDir, "/proc", "/sys"} {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func parent(name string) string {
	dir, _ := split(name)
	if dir == "" {
		return "/"
	}
	return dir
}

// put writes a whole file.
func (p *Process) put(name string, data []byte) error {
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.files[name]
	size := 0
	if was != nil {
		size = len(was.data)
	}
	if d.bytes+len(data)-size > diskMax || was == nil && len(d.files) >= filesMax {
		return errSpace
	}
	d.bytes += len(data) - size
	d.files[name] = &file{data: data, at: p.Clock.Now()}
	return nil
}

// mkdir makes a directory; all: also those above it.
func (p *Process) mkdir(name string, all bool) error {
	name = p.abs(name)
	switch i, err := p.stat(name); {
	case err == nil && i.dir && all:
		return nil
	case err == nil:
		return errExists
	case p.sealed(name):
		return errReadOnly
	}
	if i, err := p.stat(parent(name)); err == nil && !i.dir {
		return errExists
	} else if err != nil {
		if !all {
			return errNone
		}
		if err := p.mkdir(parent(name), true); err != nil {
			return err
		}
	}
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.files) >= filesMax {
		return errSpace
	}
	d.files[name] = &file{dir: true, at: p.Clock.Now()}
	return nil
}

// remove takes a file away, or a directory with all that is in it.
func (p *Process) remove(name string) error {
	name = p.abs(name)
	if p.sealed(name) {
		return errReadOnly
	}
	base := p.Container.Files()
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	under := func(n string) bool { return n == name || strings.HasPrefix(n, strings.TrimSuffix(name, "/")+"/") }
	for n, f := range d.files {
		if under(n) {
			d.bytes -= len(f.data)
			delete(d.files, n)
		}
	}
	for n := range base {
		if under(n) {
			d.gone[n] = true
		}
	}
	return nil
}

// writeFile is a file that is being written; what is written is there at once.
type writeFile struct {
	p    *Process
	name string
}

func (w *writeFile) Read([]byte) (int, error) { return 0, fs.ErrPermission }
func (w *writeFile) Close() error             { return nil }
func (w *writeFile) Write(b []byte) (int, error) {
	d := w.p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[w.name]
	if f == nil { // removed meanwhile: it goes nowhere, as an open file without a name does
		return len(b), nil
	}
	if d.bytes+len(b) > diskMax {
		return 0, errSpace
	}
	d.bytes += len(b)
	f.data = append(f.data, b...)
	f.at = w.p.Clock.Now()
	return len(b), nil
}

// CatchUp makes what the container's own command has written by now visible to who looks in from outside: its command is run in its own time, as for its log, this once with the
// container's disk.
func (a *Account) CatchUp() {
	argv := a.Command()
	if a.Main != nil || a.Disk == nil || a.Started.IsZero() || !a.speaksItself(argv) || !writes(strings.Join(argv, " ")) {
		return
	}
	d := a.Disk
	d.mu.Lock()
	if d.live == nil {
		d.live = play(&a.Container, argv)
	}
	live := d.live
	d.mu.Unlock()
	live.next(a.Now)
}

// writes tells a script that may write files.
func writes(script string) bool {
	for _, w := range []string{">", "touch", "mkdir", "rm", "cp", "mv", "tee", "tar"} {
		if strings.Contains(script, w) {
			return true
		}
	}
	return false
}
