package userland

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// flagsOf takes flags of one letter from arguments.
func flagsOf(argv []string) (flags string, rest []string) {
	for i, a := range argv[1:] {
		if a == "--" {
			return flags, append(rest, argv[i+2:]...)
		}
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			flags += strings.TrimLeft(a, "-")
		} else {
			rest = append(rest, a)
		}
	}
	return flags, rest
}

func touch(p *Process, _ context.Context, argv []string, std stdio) (code int) {
	_, names := flagsOf(argv)
	for _, n := range names {
		if i, err := p.stat(n); err == nil && i.dir {
			continue
		}
		if _, err := p.create(n, os.O_CREATE); err != nil {
			fmt.Fprintf(std.err, "touch: %s: %v\n", n, err)
			code = 1
		}
	}
	return code
}

func makeDirs(p *Process, _ context.Context, argv []string, std stdio) (code int) {
	flags, names := flagsOf(argv)
	for _, n := range names {
		if err := p.mkdir(n, strings.Contains(flags, "p")); err != nil {
			fmt.Fprintf(std.err, "mkdir: can't create directory '%s': %v\n", n, err)
			code = 1
		}
	}
	return code
}

func remove(p *Process, _ context.Context, argv []string, std stdio) (code int) {
	flags, names := flagsOf(argv)
	say := func(format string, args ...any) {
		fmt.Fprintf(std.err, "rm: "+format+"\n", args...)
		code = 1
	}
	for _, n := range names {
		i, err := p.stat(n)
		switch {
		case err != nil && strings.Contains(flags, "f"):
		case err != nil:
			say("can't remove '%s': %v", n, errNone)
		case i.dir && !strings.ContainsAny(flags, "rR"):
			say("'%s' is a directory", n)
		default:
			if err := p.remove(n); err != nil {
				say("can't remove '%s': %v", n, err)
			}
		}
	}
	return code
}

// copyFiles is cp and mv.
func copyFiles(p *Process, _ context.Context, argv []string, std stdio) (code int) {
	flags, names := flagsOf(argv)
	if len(names) < 2 {
		fmt.Fprintf(std.err, "%s: missing file operand\n", argv[0])
		return 1
	}
	move := strings.HasSuffix(argv[0], "mv")
	to := names[len(names)-1]
	into, err := p.stat(to)
	for _, from := range names[:len(names)-1] {
		i, ferr := p.stat(from)
		dest := p.abs(to)
		if err == nil && into.dir {
			_, base := split(p.abs(from))
			dest = strings.TrimSuffix(dest, "/") + "/" + base
		}
		switch {
		case ferr != nil && move:
			fmt.Fprintf(std.err, "mv: can't rename '%s': %v\n", from, errNone)
			code = 1
			continue
		case ferr != nil:
			fmt.Fprintf(std.err, "cp: can't stat '%s': %v\n", from, errNone)
			code = 1
			continue
		case i.dir && !move && !strings.ContainsAny(flags, "rRa"):
			fmt.Fprintf(std.err, "cp: omitting directory '%s'\n", from)
			code = 1
			continue
		case dest == p.abs(from) || strings.HasPrefix(dest, p.abs(from)+"/"):
			fmt.Fprintf(std.err, "%s: '%s' and '%s' are the same file\n", argv[0], from, to)
			code = 1
			continue
		}
		cerr := p.copyTree(p.abs(from), dest)
		if cerr == nil && move {
			cerr = p.remove(from)
		}
		if cerr != nil {
			fmt.Fprintf(std.err, "%s: can't create '%s': %v\n", argv[0], dest, cerr)
			code = 1
		}
	}
	return code
}

// copyTree copies a file, or a directory with what is in it.
func (p *Process) copyTree(from, to string) error {
	view := p.view()
	if text, ok := p.read(from); ok {
		return p.write(to, []byte(text))
	}
	if err := p.mkdir(to, true); err != nil {
		return err
	}
	for _, n := range sorted(view) {
		rest, under := strings.CutPrefix(n, strings.TrimSuffix(from, "/")+"/")
		if !under {
			continue
		}
		if err := p.place(to+"/"+rest, p.text(n)); err != nil {
			return err
		}
	}
	return nil
}

// text of an entry of a view; of a directory none.
func (p *Process) text(name string) string {
	if strings.HasSuffix(name, "/.") {
		return ""
	}
	text, _ := p.read(name)
	return text
}

// place makes an entry of a view elsewhere, with the directories above it.
func (p *Process) place(name, text string) error {
	if dir, ok := strings.CutSuffix(name, "/."); ok {
		return p.mkdir(dir, true)
	}
	if err := p.mkdir(parent(p.abs(name)), true); err != nil {
		return err
	}
	return p.write(name, []byte(text))
}

// write makes a file with a text.
func (p *Process) write(name string, data []byte) error {
	f, err := p.create(name, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

func sorted(view map[string]string) []string {
	out := make([]string, 0, len(view))
	for n := range view {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func tee(p *Process, ctx context.Context, argv []string, std stdio) int {
	flags, names := flagsOf(argv)
	to, code := []io.Writer{std.out}, 0
	for _, n := range names {
		how := os.O_CREATE | os.O_TRUNC
		if strings.Contains(flags, "a") {
			how = os.O_CREATE
		}
		f, err := p.create(n, how)
		if err != nil {
			fmt.Fprintf(std.err, "tee: %s: %v\n", n, err)
			code = 1
			continue
		}
		to = append(to, f)
	}
	std.out = io.MultiWriter(to...)
	return max(code, copyInput(ctx, std))
}

// test is the program of that name, for who starts it without a shell: of files and of texts.
func test(p *Process, _ context.Context, argv []string, std stdio) int {
	args := argv[1:]
	if strings.HasSuffix(argv[0], "[") {
		if len(args) == 0 || args[len(args)-1] != "]" {
			fmt.Fprintln(std.err, "[: missing ]")
			return 2
		}
		args = args[:len(args)-1]
	}
	no := false
	for len(args) > 1 && args[0] == "!" {
		no, args = !no, args[1:]
	}
	holds := false
	switch {
	case len(args) == 1:
		holds = args[0] != ""
	case len(args) == 2:
		i, err := p.stat(args[1])
		switch args[0] {
		case "-e", "-r", "-w":
			holds = err == nil
		case "-d":
			holds = err == nil && i.dir
		case "-f":
			holds = err == nil && !i.dir
		case "-s":
			holds = err == nil && i.size > 0
		case "-x":
			holds = err == nil && (i.dir || p.has(args[1]))
		case "-n":
			holds = args[1] != ""
		case "-z":
			holds = args[1] == ""
		default:
			fmt.Fprintf(std.err, "%s: %s: unknown operand\n", argv[0], args[0])
			return 2
		}
	case len(args) == 3 && (args[1] == "=" || args[1] == "=="):
		holds = args[0] == args[2]
	case len(args) == 3 && args[1] == "!=":
		holds = args[0] != args[2]
	case len(args) > 0:
		fmt.Fprintf(std.err, "%s: too many arguments\n", argv[0])
		return 2
	}
	if holds != no {
		return 0
	}
	return 1
}

// tarFiles packs files (tar cf ARCHIVE FILE...) and unpacks them (tar xf ARCHIVE), as kubectl cp asks for on both ways; "-" is standard input or output.
func tarFiles(p *Process, ctx context.Context, argv []string, std stdio) int {
	mode, archive, at := "", "-", p.cwd
	var files []string
	for i := 1; i < len(argv); i++ {
		a := argv[i]
		next := func() string {
			if i++; i < len(argv) {
				return argv[i]
			}
			return ""
		}
		switch {
		case strings.HasPrefix(a, "--"): // --no-same-owner and the like: there are no owners
		case a == "-C":
			at = p.abs(next())
		case i == 1 || strings.HasPrefix(a, "-") && len(a) > 1:
			letters := strings.TrimPrefix(a, "-")
			mode += letters
			if strings.Contains(letters, "f") {
				archive = next()
			}
		default:
			files = append(files, a)
		}
	}
	if i, err := p.stat(at); err != nil || !i.dir {
		fmt.Fprintf(std.err, "tar: can't change directory to '%s': %v\n", at, errNone)
		return 1
	}
	var err error
	switch {
	case strings.Contains(mode, "z"):
		err = errors.New("invalid option -- 'z'")
	case strings.Contains(mode, "c"):
		return p.pack(at, archive, files, std)
	case strings.ContainsAny(mode, "xt"):
		in := std.in
		if archive != "-" {
			text, ok := p.read(archive)
			if !ok {
				fmt.Fprintf(std.err, "tar: can't open '%s': %v\n", archive, errNone)
				return 1
			}
			in = strings.NewReader(text)
		}
		err = p.unpack(ctx, at, in, strings.Contains(mode, "t"), std.out)
	default:
		err = errors.New("you must specify one of the options c, x and t")
	}
	if err != nil {
		fmt.Fprintf(std.err, "tar: %v\n", err)
		return 1
	}
	return 0
}

func (p *Process) pack(at, archive string, files []string, std stdio) (code int) {
	to := std.out
	if archive != "-" {
		f, err := p.create(archive, os.O_CREATE|os.O_TRUNC)
		if err != nil {
			fmt.Fprintf(std.err, "tar: can't open '%s': %v\n", archive, err)
			return 1
		}
		to = f
	}
	w, told, view := tar.NewWriter(to), false, p.view()
	names := sorted(view)
	for _, want := range files {
		from := want
		if !strings.HasPrefix(want, "/") {
			from = at + "/" + want
		} else if !told {
			told = true
			fmt.Fprintln(std.err, "tar: removing leading '/' from member names")
		}
		from = p.abs(from)
		i, err := p.stat(from)
		if err != nil {
			fmt.Fprintf(std.err, "tar: %s: %v\n", want, errNone)
			code = 1
			continue
		}
		short := strings.Trim(want, "/")
		if i.dir {
			err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: short + "/", Mode: 0o755, ModTime: i.at})
		}
		for _, n := range names {
			rest, under := strings.CutPrefix(n, from)
			if err != nil || !under || rest != "" && !strings.HasPrefix(rest, "/") && from != "/" {
				continue
			}
			text := p.text(n)
			h := tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(short+rest, "/"), Mode: 0o644, Size: int64(len(text))}
			if dir, ok := strings.CutSuffix(h.Name, "/."); ok {
				h.Typeflag, h.Name, h.Mode = tar.TypeDir, dir+"/", 0o755
			}
			if j, serr := p.stat(strings.TrimSuffix(n, "/.")); serr == nil {
				h.ModTime = j.at
			}
			if err = w.WriteHeader(&h); err == nil && h.Typeflag == tar.TypeReg {
				_, err = io.WriteString(w, text)
			}
		}
		if err != nil {
			fmt.Fprintf(std.err, "tar: write error: %v\n", err)
			return 1
		}
	}
	if err := w.Close(); err != nil {
		fmt.Fprintf(std.err, "tar: write error: %v\n", err)
		return 1
	}
	if code != 0 {
		fmt.Fprintln(std.err, "tar: error exit delayed from previous errors")
	}
	return code
}

// unpack writes what an archive holds below a directory, or lists it.
func (p *Process) unpack(ctx context.Context, at string, in io.Reader, list bool, out io.Writer) error {
	r := tar.NewReader(in)
	for ctx.Err() == nil {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New("invalid tar magic")
		case list:
			fmt.Fprintln(out, h.Name)
			continue
		}
		name := p.abs(at + "/" + h.Name) // whatever it says, it stays in the container
		switch h.Typeflag {
		case tar.TypeDir:
			err = p.mkdir(name, true)
		case tar.TypeReg:
			var data []byte
			if data, err = readAll(r, diskMax); errors.Is(err, errLimit) {
				err = errSpace
			}
			if err == nil {
				err = p.place(name, string(data))
			}
		}
		if err != nil {
			return fmt.Errorf("can't create '%s': %w", h.Name, err)
		}
	}
	return ctx.Err()
}
