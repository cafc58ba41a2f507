package userland

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func exits(code int) func(*Process, context.Context, []string, stdio) int {
	return func(*Process, context.Context, []string, stdio) int { return code }
}

func cat(p *Process, ctx context.Context, argv []string, io stdio) int {
	if len(argv) == 1 || argv[1] == "-" {
		return copyInput(ctx, io)
	}
	text, code := p.open(io, "cat", argv[1:])
	fmt.Fprint(io.out, text)
	return code
}

func echo(_ *Process, _ context.Context, argv []string, io stdio) int {
	args, end, escapes := argv[1:], "\n", false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-ne" || args[0] == "-en") {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(text)
	}
	if _, err := fmt.Fprint(io.out, text+end); err != nil {
		fmt.Fprintf(io.err, "echo: write error: %v\n", err)
		return 1
	}
	return 0
}

func ls(p *Process, _ context.Context, argv []string, io stdio) int {
	long, all, code := false, false, 0
	var paths []string
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "-") {
			long, all = long || strings.Contains(a, "l"), all || strings.Contains(a, "a")
			continue
		}
		paths = append(paths, a)
	}
	if len(paths) == 0 {
		paths = []string{p.cwd}
	}
	for _, path := range paths {
		i, err := p.stat(path)
		if err != nil {
			fmt.Fprintf(io.err, "ls: %s: No such file or directory\n", path)
			code = 1
			continue
		}
		names := []string{path}
		if i.dir {
			if len(paths) > 1 {
				fmt.Fprintf(io.out, "%s:\n", path)
			}
			names = dirs(p.view())[p.abs(path)]
			if all {
				names = append([]string{".", ".."}, names...)
			}
		}
		for _, n := range names {
			full := n
			if i.dir {
				full = p.abs(path) + "/" + n
			}
			x, err := p.stat(full)
			switch {
			case err != nil:
			case long:
				fmt.Fprintf(io.out, "%s    1 root     root     %9d %s %s\n", x.Mode(), x.size, x.at.UTC().Format("Jan _2 15:04"), n)
			default:
				fmt.Fprintln(io.out, n)
			}
		}
	}
	return code
}

func date(p *Process, _ context.Context, argv []string, io stdio) int {
	now := p.Clock.Now().UTC()
	format := ""
	for _, a := range argv[1:] {
		switch {
		case strings.HasPrefix(a, "+"):
			format = a[1:]
		case a == "-I":
			format = "%F"
		case a == "-Iseconds":
			format = "%FT%T+00:00"
		case a == "-u":
		default:
			fmt.Fprintf(io.err, "date: invalid date '%s'\n", a)
			return 1
		}
	}
	if format == "" {
		format = "%a %b %e %T UTC %Y"
	}
	fmt.Fprintln(io.out, strftime(format, now))
	return 0
}

// strftime formats an instant as date(1) does.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case 'N':
			fmt.Fprintf(&b, "%09d", t.Nanosecond())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case '%':
			b.WriteByte('%')
		case 'n':
			b.WriteByte('\n')
		default:
			if layout, ok := layouts[format[i]]; ok {
				b.WriteString(t.Format(layout))
			} else {
				b.WriteString("%" + format[i:i+1])
			}
		}
	}
	return b.String()
}

var layouts = map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM",
	'S': "05", 'T': "15:04:05", 'R': "15:04", 'y': "06", 'Y': "2006", 'Z': "MST", 'z': "-0700", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006"}

func sleepFor(p *Process, ctx context.Context, argv []string, io stdio) int {
	if len(argv) == 1 {
		fmt.Fprintln(io.err, "sleep: missing operand")
		return 1
	}
	var total time.Duration
	const longest = 1000 * time.Hour * 24
	for _, a := range argv[1:] {
		unit, digits := time.Second, a
		if a == "infinity" || a == "inf" {
			total = longest
			continue
		}
		for suffix, u := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour} {
			if rest, ok := strings.CutSuffix(a, suffix); ok {
				unit, digits = u, rest
			}
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || v < 0 || v != v {
			fmt.Fprintf(io.err, "sleep: invalid number '%s'\n", a)
			return 1
		}
		if v*float64(unit) > float64(longest-total) {
			total = longest
			break
		}
		total += time.Duration(v * float64(unit))
	}
	if p.Clock.Sleep(ctx, total) != nil {
		return 137
	}
	return 0
}

func hostname(p *Process, _ context.Context, argv []string, io stdio) int {
	if len(argv) > 1 && argv[1] == "-i" {
		fmt.Fprintln(io.out, p.Container.IP)
		return 0
	}
	fmt.Fprintln(io.out, p.Container.Hostname())
	return 0
}

func env(p *Process, ctx context.Context, argv []string, io stdio) int {
	if len(argv) > 1 {
		return p.command(ctx, argv[1:], io)
	}
	for _, e := range p.Container.Environ() {
		fmt.Fprintln(io.out, e)
	}
	return 0
}

func printenv(p *Process, ctx context.Context, argv []string, io stdio) int {
	if len(argv) == 1 {
		return env(p, ctx, argv, io)
	}
	code := 0
	for _, name := range argv[1:] {
		if v := io.env(name); v != "" {
			fmt.Fprintln(io.out, v)
		} else {
			code = 1
		}
	}
	return code
}

func id(_ *Process, _ context.Context, argv []string, io stdio) int {
	if len(argv) > 1 && argv[1] == "-u" {
		fmt.Fprintln(io.out, "0")
		return 0
	}
	fmt.Fprintln(io.out, "uid=0(root) gid=0(root) groups=0(root)")
	return 0
}

func whoami(_ *Process, _ context.Context, _ []string, io stdio) int {
	fmt.Fprintln(io.out, "root")
	return 0
}

func pwd(p *Process, _ context.Context, _ []string, io stdio) int {
	fmt.Fprintln(io.out, p.cwd)
	return 0
}

func uname(p *Process, _ context.Context, argv []string, io stdio) int {
	switch {
	case len(argv) == 1 || argv[1] == "-s":
		fmt.Fprintln(io.out, "Linux")
	case argv[1] == "-n":
		fmt.Fprintln(io.out, p.Container.Hostname())
	case argv[1] == "-r":
		fmt.Fprintln(io.out, kernel)
	case argv[1] == "-m":
		fmt.Fprintln(io.out, "x86_64")
	default:
		fmt.Fprintf(io.out, "Linux %s %s #1 SMP PREEMPT_DYNAMIC Debian x86_64 GNU/Linux\n", p.Container.Hostname(), kernel)
	}
	return 0
}

// kernel of every machine, as nodes report it.
const kernel = "6.12.48+deb13-amd64"

func head(p *Process, _ context.Context, argv []string, io stdio) int {
	n, files := count(argv[1:])
	text, code := p.open(io, "head", files)
	lines := strings.SplitAfter(text, "\n")
	fmt.Fprint(io.out, strings.Join(lines[:min(n, len(lines))], ""))
	return code
}

func tail(p *Process, ctx context.Context, argv []string, io stdio) int {
	n, files := count(argv[1:])
	text, code := p.open(io, "tail", files)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	fmt.Fprint(io.out, strings.Join(lines[max(0, len(lines)-n):], ""))
	if len(argv) > 1 && strings.HasPrefix(argv[1], "-") && strings.ContainsAny(argv[1], "fF") && len(files) > 0 { // nothing is ever added to them
		return p.forever(ctx)
	}
	return code
}

func wc(p *Process, _ context.Context, argv []string, io stdio) int {
	flags, files := "", []string(nil)
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "-") {
			flags += a[1:]
		} else {
			files = append(files, a)
		}
	}
	text, code := p.open(io, "wc", files)
	var out []string
	for flag, n := range [3]int{strings.Count(text, "\n"), len(strings.Fields(text)), len(text)} {
		if flags == "" || strings.Contains(flags, "lwc"[flag:flag+1]) {
			out = append(out, strconv.Itoa(n))
		}
	}
	fmt.Fprintln(io.out, strings.Join(append(out, files...), " "))
	return code
}

func grep(p *Process, _ context.Context, argv []string, io stdio) int {
	flags, args := "", []string(nil)
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "-") && len(args) == 0 {
			flags += a[1:]
		} else {
			args = append(args, a)
		}
	}
	if len(args) == 0 {
		fmt.Fprintln(io.err, "usage: grep [-ivq] PATTERN [FILE]...")
		return 2
	}
	pattern := args[0]
	if strings.Contains(flags, "F") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if strings.Contains(flags, "i") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		fmt.Fprintf(io.err, "grep: bad regex '%s'\n", args[0])
		return 2
	}
	text, code := p.open(io, "grep", args[1:])
	found := 1
	for line := range strings.Lines(text) {
		if re.MatchString(strings.TrimSuffix(line, "\n")) != strings.Contains(flags, "v") {
			found = 0
			if !strings.Contains(flags, "q") {
				fmt.Fprint(io.out, line)
			}
		}
	}
	return max(found, 2*code)
}

func seq(_ *Process, ctx context.Context, argv []string, io stdio) int {
	first, last := 1, 0
	var err error
	switch len(argv) {
	case 2:
		last, err = strconv.Atoi(argv[1])
	case 3:
		if first, err = strconv.Atoi(argv[1]); err == nil {
			last, err = strconv.Atoi(argv[2])
		}
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		fmt.Fprintln(io.err, "seq: invalid number")
		return 1
	}
	for n := first; n <= last && n-first < stepsMax && ctx.Err() == nil; n++ {
		if _, err := fmt.Fprintln(io.out, n); err != nil {
			return 1
		}
	}
	return 0
}

// ps of busybox: the container's own process and itself.
func ps(p *Process, _ context.Context, argv []string, io stdio) int {
	main := strings.Join(p.Container.Command(), " ")
	if main == "" {
		main = "sh"
	}
	fmt.Fprintf(io.out, "PID   USER     TIME  COMMAND\n    1 root      0:00 %s\n    7 root      0:00 %s\n", main, strings.Join(argv, " "))
	return 0
}
