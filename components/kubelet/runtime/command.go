package runtime

import (
	"path"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/userland"
)

// behaviour is what a container's command does in the simulation.
type behaviour struct {
	forever bool
	runs    time.Duration // until it exits by itself
	code    int           // of that exit
	// ignoresTerm: as process 1 without a handler, it does not hear SIGTERM; the kubelet has to wait out the grace period.
	ignoresTerm bool
	// reads: it works on its standard input, and ends when that does or when it is told to there, as a shell is.
	reads bool
}

// serves is the behaviour of an ordinary server image: it runs until TERM and ends in good order.
var serves = behaviour{forever: true}

// shells are images whose own command is a shell, which ends at once without a terminal.
var shells = map[string]bool{"busybox": true, "alpine": true, "ubuntu": true, "debian": true, "centos": true, "fedora": true, "rockylinux": true, "bash": true}

// behaviourOf reads a container's command and arguments. Known are sleep N, exit N, true, false, and sh -c with these joined by ";", "&&", "||" or new lines;
// loops ("while …", "until …") and "tail -f" run for ever. What is not known is taken for a server that runs for ever, except for the everyday commands in
// instant, which end at once with 0. Without a command the image decides: base images (busybox, alpine …) hold a shell that ends at once, hello-world ends, the
// rest are servers.
func behaviourOf(c *corev1.Container) behaviour {
	name := path.Base(Describe(c.Image).Repository)
	argv := append(append([]string(nil), c.Command...), c.Args...)
	if len(c.Command) == 0 && len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
		return serves // flags for the image's own program
	}
	if len(argv) == 0 {
		switch {
		case name == "hello-world":
			return behaviour{}
		case shells[name]:
			return reader(c)
		}
		return serves
	}
	if userland.ReadsInput(argv) {
		return reader(c)
	}
	if b, ok := simple(argv); ok {
		return b
	}
	switch path.Base(argv[0]) {
	case "sh", "bash", "ash", "dash":
		if script, ok := scriptOf(argv[1:]); ok {
			return runScript(script)
		}
	}
	return serves
}

// reader is the behaviour of a command that reads its standard input: without one that is at its end at once, unless it is a terminal at which nobody types.
func reader(c *corev1.Container) behaviour {
	if c.Stdin {
		return behaviour{forever: true, ignoresTerm: true, reads: true}
	}
	return behaviour{forever: c.TTY, ignoresTerm: c.TTY}
}

// shellOf is the shell that a base image starts.
func shellOf(image string) string {
	if image == "busybox" || image == "alpine" {
		return "sh"
	}
	return "bash"
}

// scriptOf finds the script among a shell's arguments (-c, -ec, -xc …).
func scriptOf(args []string) (string, bool) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// instant are commands that do their work and end.
var instant = map[string]bool{"echo": true, "printf": true, "date": true, "env": true, "ls": true, "cat": true, "touch": true, "mkdir": true, "rm": true,
	"cp": true, "mv": true, "hostname": true, "id": true, "pwd": true, "cd": true, "set": true, "export": true, ":": true, "trap": true, "test": true, "[": true}

// simple reads one command without shell syntax; ok is false when it is not a known one.
func simple(argv []string) (b behaviour, ok bool) {
	switch name := path.Base(argv[0]); {
	case name == "true":
		return behaviour{}, true
	case name == "false":
		return behaviour{code: 1}, true
	case name == "exit":
		code := 0
		if len(argv) > 1 {
			n, err := strconv.Atoi(argv[1])
			if err != nil {
				return behaviour{code: 2}, true // "Illegal number"
			}
			code = n & 0xff
		}
		return behaviour{code: code}, true
	case name == "sleep":
		return sleep(argv[1:]), true
	case name == "tail" && len(argv) > 1 && strings.HasPrefix(argv[1], "-f"):
		return behaviour{forever: true, ignoresTerm: true}, true
	case instant[name]:
		return behaviour{}, true
	}
	return behaviour{}, false
}

// sleep adds up its operands: numbers with an optional s, m, h or d, or infinity.
func sleep(operands []string) behaviour {
	b := behaviour{ignoresTerm: true}
	if len(operands) == 0 {
		return behaviour{code: 1}
	}
	for _, o := range operands {
		if o == "infinity" || o == "inf" {
			return behaviour{forever: true, ignoresTerm: true}
		}
		unit := time.Second
		if n := len(o); n > 0 {
			switch o[n-1] {
			case 's':
				o = o[:n-1]
			case 'm':
				o, unit = o[:n-1], time.Minute
			case 'h':
				o, unit = o[:n-1], time.Hour
			case 'd':
				o, unit = o[:n-1], 24*time.Hour
			}
		}
		v, err := strconv.ParseFloat(o, 64)
		if err != nil || v < 0 || v != v {
			return behaviour{code: 1} // "invalid time interval"
		}
		if v*float64(unit) > float64(maxSleep-b.runs) {
			return behaviour{forever: true, ignoresTerm: true}
		}
		b.runs += time.Duration(v * float64(unit))
	}
	return b
}

// maxSleep is where a long sleep becomes for ever.
const maxSleep = 100 * 365 * 24 * time.Hour

// runScript runs a shell script in the mind.
func runScript(script string) behaviour {
	total := behaviour{ignoresTerm: !strings.Contains(script, "trap")}
	for _, s := range statements(script) {
		skip := (s.after == "&&" && total.code != 0) || (s.after == "||" && total.code == 0)
		if skip {
			continue
		}
		words := strings.Fields(s.text)
		if words[0] == "exec" && len(words) > 1 {
			words = words[1:]
		}
		switch words[0] {
		case "while", "until", "for":
			total.forever = true
			return total
		}
		b, ok := simple(words)
		if !ok { // a server in the foreground; the shell hands no signal on
			total.forever = true
			return total
		}
		total.runs += b.runs
		total.code = b.code
		if b.forever {
			total.forever = true
			return total
		}
		if words[0] == "exit" {
			return total
		}
	}
	return total
}

type statement struct {
	after string // the operator before it
	text  string
}

// statements splits a script at ; && || and new lines, outside quotes.
func statements(script string) []statement {
	var out []statement
	var quote byte
	op, start := ";", 0
	cut := func(end int, next string, width int) {
		if t := strings.TrimSpace(script[start:end]); t != "" {
			out = append(out, statement{op, t})
		}
		op, start = next, end+width
	}
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';' || c == '\n':
			cut(i, ";", 1)
		case strings.HasPrefix(script[i:], "&&"), strings.HasPrefix(script[i:], "||"):
			cut(i, script[i:i+2], 2)
			i++
		}
	}
	cut(len(script), "", 0)
	return out
}

// RunsFor is how long a command takes and the code it ends with, for hooks; a command that runs for ever takes maxSleep.
func RunsFor(argv []string) (time.Duration, int) {
	if len(argv) == 0 {
		return 0, 0
	}
	b := behaviourOf(&corev1.Container{Image: "busybox", Command: argv})
	switch {
	case b == serves: // not known: does its work and ends
		return 0, 0
	case b.forever:
		return maxSleep, 0
	}
	return b.runs, b.code
}
