package userland

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Process runs commands in a container.
type Process struct {
	In        io.Reader // nil: empty
	Out, Err  io.Writer
	Clock     Clock
	Container *Container
	// Main: it is the container's own process. Programs that the model does not know then count as servers that run and say nothing; elsewhere they do not exist.
	Main bool
	// TTY: In and Out are a terminal, which is in raw mode at the other end.
	TTY bool

	cwd  string
	disk *Disk
}

// NotFoundError is the runtime's word on a command that cannot be started.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	if strings.HasPrefix(e.Name, "/") {
		return fmt.Sprintf("exec: %q: stat %s: no such file or directory", e.Name, e.Name)
	}
	return fmt.Sprintf("exec: %q: executable file not found in $PATH", e.Name)
}

// Limits of a script, so that nobody's loop takes the machine that simulates it.
const (
	stepsMax     = 2_000_000
	variablesMax = 1 << 20 // bytes
	scriptMax    = 1 << 20
)

var errLimit = errors.New("the script did more than the simulation allows")

// command is a program of the table.
type command func(p *Process, ctx context.Context, argv []string, io stdio) int

// program finds an everyday command that base images have; nil and true: a shell.
func program(name string) (run command, ok bool) {
	switch name {
	case "cat":
		run = cat
	case "ls":
		run = ls
	case "date":
		run = date
	case "sleep":
		run = sleepFor
	case "hostname":
		run = hostname
	case "env":
		run = env
	case "printenv":
		run = printenv
	case "id":
		run = id
	case "whoami":
		run = whoami
	case "uname":
		run = uname
	case "head":
		run = head
	case "tail":
		run = tail
	case "wc":
		run = wc
	case "grep":
		run = grep
	case "seq":
		run = seq
	case "true":
		run = exits(0)
	case "false":
		run = exits(1)
	case "echo":
		run = echo
	case "pwd":
		run = pwd
	case "ps":
		run = ps
	case "tar":
		run = tarFiles
	case "touch":
		run = touch
	case "mkdir":
		run = makeDirs
	case "rm":
		run = remove
	case "cp", "mv":
		run = copyFiles
	case "tee":
		run = tee
	case "test", "[":
		run = test
	case "chmod", "chown", "sync": // the model has no owners; everybody is root
		run = exits(0)
	case "sh", "bash", "ash":
	default:
		return nil, false
	}
	return run, true
}

type stdio struct {
	in       io.Reader
	out, err io.Writer
	env      func(name string) string
}

// minimal images hold their one program and nothing else.
func minimal(repository string) bool {
	return strings.HasPrefix(repository, "registry.k8s.io/") || strings.HasPrefix(repository, "gcr.io/distroless/") || repository == "hello-world" || repository == "traefik/whoami"
}

// busybox has one shell, and ps.
func busybox(repository string) bool {
	return repository == "busybox" || repository == "alpine"
}

// has tells whether a command exists in the container.
func (p *Process) has(name string) bool {
	if dir, base := split(name); dir == "/bin" || dir == "/usr/bin" || dir == "/sbin" || dir == "/usr/sbin" {
		name = base
	}
	if _, ok := program(name); !ok || minimal(p.Container.Repository) {
		return false
	}
	switch name {
	case "ps", "ash":
		return busybox(p.Container.Repository)
	case "bash":
		return !busybox(p.Container.Repository)
	}
	return true
}

func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// Run runs a command to its end and returns its exit code. The error is a *NotFoundError for what cannot be started, or the context's.
func (p *Process) Run(ctx context.Context, argv []string) (int, error) {
	if p.In == nil {
		p.In = strings.NewReader("")
	}
	if p.Out == nil {
		p.Out = io.Discard
	}
	if p.Err == nil {
		p.Err = io.Discard
	}
	if p.disk = p.Container.Disk; p.disk == nil {
		p.disk = NewDisk()
	}
	if p.cwd = p.Container.Spec.WorkingDir; p.cwd == "" {
		p.cwd = "/"
	}
	if len(argv) == 0 {
		return 0, nil
	}
	if !p.has(argv[0]) && !p.Main {
		return 0, &NotFoundError{argv[0]}
	}
	vars := map[string]string{}
	for _, e := range p.Container.Environ() {
		name, v, _ := strings.Cut(e, "=")
		vars[name] = v
	}
	std := stdio{p.In, p.Out, p.Err, func(name string) string { return vars[name] }}
	if !p.TTY {
		code := p.command(ctx, argv, std)
		return code, ctx.Err()
	}
	std.out = crlf{p.Out} // a terminal has one output
	std.err = std.out
	if p.has(argv[0]) && asksShell(argv) {
		code := p.interact(ctx, std)
		return code, ctx.Err()
	}
	t, code := openTerminal(ctx, p.In, p.Out), 0
	std.in = t
	if t.foreground(ctx, func(ctx context.Context) { code = p.command(ctx, argv, std) }) {
		code = 130
	}
	return code, ctx.Err()
}

// command runs one command of the table; a shell gets its script.
func (p *Process) command(ctx context.Context, argv []string, io stdio) int {
	_, base := split(argv[0])
	if !p.has(argv[0]) {
		if p.Main {
			return p.forever(ctx)
		}
		fmt.Fprintf(io.err, "sh: %s: not found\n", argv[0])
		return 127
	}
	if run, _ := program(base); run != nil {
		return run(p, ctx, argv, io)
	}
	return p.shell(ctx, argv[1:], io)
}

// forever is what a server does.
func (p *Process) forever(ctx context.Context) int {
	for p.Clock.Sleep(ctx, 24*time.Hour) == nil {
	}
	return 137
}

// shell runs sh -c SCRIPT, or what comes from its input.
func (p *Process) shell(ctx context.Context, args []string, io stdio) int {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") {
			if i+1 == len(args) {
				fmt.Fprintf(io.err, "sh: %s requires an argument\n", a)
				return 2
			}
			return p.script(ctx, args[i+1], args[i+2:], io)
		}
	}
	return p.follow(ctx, io)
}

// script interprets a shell script with the container's commands and files, and nothing of the machine it is simulated on.
func (p *Process) script(ctx context.Context, text string, params []string, std stdio) int {
	s, err := p.newShell(std, params, true)
	if err != nil {
		fmt.Fprintf(std.err, "sh: %v\n", err)
		return 2
	}
	prog, err := parse(text)
	code, _ := s.run(ctx, prog, err)
	return code
}

// unsupported finds process substitution, which the interpreter would make files on the machine below for; sh does not have it either.
func unsupported(prog *syntax.File) (found bool) {
	syntax.Walk(prog, func(n syntax.Node) bool {
		_, sub := n.(*syntax.ProcSubst)
		found = found || sub
		return !found
	})
	return found
}

// variables is how much a script holds.
func variables(ctx context.Context) (bytes int) {
	interp.HandlerCtx(ctx).Env.Each(func(_ string, v expand.Variable) bool {
		bytes += len(v.Str)
		for _, s := range v.List {
			bytes += len(s)
		}
		return true
	})
	return bytes
}

func (p *Process) runner(std stdio, params []string, asFile bool) (*interp.Runner, error) {
	in := std.in
	if !asFile { // the interpreter would take all that is typed, whoever it is for
		in = nil
	}
	if len(params) > 0 { // the first is the script's name
		params = append([]string{"--"}, params[1:]...)
	}
	return interp.New(
		interp.StdIO(in, std.out, std.err),
		interp.Dir("/"),
		interp.Env(expand.ListEnviron(append(p.Container.Environ(), "UID=0", "EUID=0", "GID=0")...)),
		interp.Params(params...),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(ctx context.Context, args []string) error {
				hc := interp.HandlerCtx(ctx)
				in := hc.Stdin
				switch {
				case in == nil && asFile:
					in = strings.NewReader("")
				case in == nil:
					in = std.in
				}
				code := p.command(ctx, args, stdio{in, hc.Stdout, hc.Stderr, func(name string) string { return hc.Env.Get(name).String() }})
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if code != 0 {
					return interp.ExitStatus(code)
				}
				return nil
			}
		}),
		interp.OpenHandler(func(_ context.Context, name string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
			name = p.abs(name)
			if name == "/dev/null" {
				return nothing{}, nil
			}
			if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
				f, err := p.create(name, flag)
				if err != nil {
					return nil, &fs.PathError{Op: "open", Path: name, Err: err}
				}
				return f, nil
			}
			text, ok := p.read(name)
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return readFile{strings.NewReader(text)}, nil
		}),
		interp.StatHandler(func(_ context.Context, name string, _ bool) (fs.FileInfo, error) { return p.stat(name) }),
		interp.ReadDirHandler2(func(_ context.Context, name string) ([]fs.DirEntry, error) {
			names, ok := dirs(p.view())[p.abs(name)]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			var out []fs.DirEntry
			for _, n := range names {
				if i, err := p.stat(strings.TrimSuffix(p.abs(name), "/") + "/" + n); err == nil {
					out = append(out, fs.FileInfoToDirEntry(i))
				}
			}
			return out, nil
		}),
	)
}

type nothing struct{}

func (nothing) Read([]byte) (int, error)    { return 0, io.EOF }
func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }

type readFile struct{ *strings.Reader }

func (readFile) Write([]byte) (int, error) { return 0, fs.ErrPermission }
func (readFile) Close() error              { return nil }

// info of a file of the model.
type info struct {
	name string
	size int64
	dir  bool
	at   time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.at }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func (p *Process) stat(name string) (info, error) {
	name = p.abs(name)
	_, base := split(name)
	size, dir, at, written := p.disk.written(name)
	if written {
		return info{name: base, size: max(size, map[bool]int64{true: 4096}[dir]), dir: dir, at: at}, nil
	}
	at = p.Container.Started
	if text, ok := p.read(name); ok {
		return info{name: base, size: int64(len(text)), at: at}, nil
	}
	if _, ok := dirs(p.view())[name]; ok {
		return info{name: base, size: 4096, dir: true, at: at}, nil
	}
	if p.has(name) && strings.HasPrefix(name, "/") {
		return info{name: base, size: 1 << 20, at: p.Container.Started}, nil
	}
	return info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// abs makes a path absolute and clean.
func (p *Process) abs(name string) string {
	if !strings.HasPrefix(name, "/") {
		name = p.cwd + "/" + name
	}
	var parts []string
	for _, s := range strings.Split(name, "/") {
		switch s {
		case "", ".":
		case "..":
			parts = parts[:max(len(parts)-1, 0)]
		default:
			parts = append(parts, s)
		}
	}
	return "/" + strings.Join(parts, "/")
}

func (p *Process) cd(args []string, w io.Writer) error {
	to := "/root"
	if len(args) > 0 {
		to = args[0]
	}
	i, err := p.stat(to)
	if err != nil || !i.dir {
		fmt.Fprintf(w, "sh: cd: can't cd to %s: No such file or directory\n", to)
		return interp.ExitStatus(2)
	}
	p.cwd = p.abs(to)
	return nil
}

func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = errLimit
	}
	return data, err
}

// lines of the files named, or of the input.
func (p *Process) open(io stdio, name string, files []string) (text string, code int) {
	if len(files) == 0 {
		data, err := readAll(io.in, 16<<20)
		if err != nil {
			return "", 1
		}
		return string(data), 0
	}
	var b strings.Builder
	for _, f := range files {
		t, ok := p.read(f)
		if !ok {
			if _, dir := dirs(p.view())[p.abs(f)]; dir {
				fmt.Fprintf(io.err, "%s: %s: Is a directory\n", name, f)
			} else {
				fmt.Fprintf(io.err, "%s: can't open '%s': No such file or directory\n", name, f)
			}
			code = 1
		}
		b.WriteString(t)
	}
	return b.String(), code
}

// count reads -n N, -nN or -N in front of files.
func count(argv []string) (n int, files []string) {
	n = 10
	for i := 0; i < len(argv); i++ {
		a := argv[i]
		if !strings.HasPrefix(a, "-") || a == "-" {
			files = append(files, a)
			continue
		}
		a = strings.TrimPrefix(strings.TrimPrefix(a, "-"), "n")
		if a == "" && i+1 < len(argv) {
			i++
			a = argv[i]
		}
		if v, err := strconv.Atoi(a); err == nil && v >= 0 {
			n = v
		}
	}
	return n, files
}

// copyInput passes the input on as it comes, as cat without files does.
func copyInput(ctx context.Context, std stdio) int {
	r := bufio.NewReader(std.in)
	buf := make([]byte, 4096)
	for ctx.Err() == nil {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := std.out.Write(buf[:n]); werr != nil {
				return 1
			}
		}
		if err != nil {
			return 0
		}
	}
	return 137
}
