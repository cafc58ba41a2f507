package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Word describes one command word for help, completion and errors.
type Word struct {
	Name  string
	Usage string
	// Help is a catalogue key's default text in English, one line.
	Help  string
	parse func(args []string) (Command, error)
}

// lineMax bounds a command line.
const lineMax = 4096

// kubectlVerbs may stand without the word kubectl in front.
var kubectlVerbs = map[string]bool{"get": true, "describe": true, "create": true, "run": true, "scale": true, "set": true, "rollout": true,
	"delete": true, "cordon": true, "uncordon": true, "taint": true, "label": true}

// KubectlVerb reports a verb of kubectl that may stand without the word kubectl in front.
func KubectlVerb(word string) bool { return kubectlVerbs[word] }

// planned words are refused by name, so that nobody takes them for typing errors.
var planned = map[string]bool{"pressure": true, "vm": true}

// Words lists the command words in the order of help.
func Words() []Word {
	return []Word{
		{"kill", "kill TARGET", "power off a machine or kill a process, at once", power(Kill)},
		{"stop", "stop TARGET", "stop a machine or process cleanly", power(Stop)},
		{"start", "start TARGET", "switch a machine on, or start a process", power(Start)},
		{"restart", "restart TARGET", "kill, then start", power(Restart)},
		{"cut", "cut A B [oneway]", "drop every packet between A and B", parseCut},
		{"partition", "partition A,B | C,D", "cut all links between groups of machines", parsePartition},
		{"delay", "delay A B 200ms [oneway]", "make packets take longer", parseDelay},
		{"loss", "loss A B 20% [oneway]", "lose a share of packets", parseLoss},
		{"duplicate", "duplicate A B 20% [oneway]", "deliver a share of the store's messages twice", parseDuplicate},
		{"reorder", "reorder A B 20% [oneway]", "let a share of the store's messages come late, behind newer ones", parseReorder},
		{"clog", "clog A B [oneway]", "lose the rest of each snapshot after its first piece", parseClog},
		{"heal", "heal [TARGET]", "repair links: those that touch TARGET, or all", parseHeal},
		{"wipe", "wipe TARGET", "delete the disk of a master that is down", parseWipe},
		{"disk", "disk MASTER ok|full|slow [200ms]|flaky|readonly|torn|zeroed|flipped|cut|deleted", "make a master's disk misbehave, or damage what is on it", parseDisk},
		{"failpoint", "failpoint MASTER POINT kill|fail|stall [200ms] [skip=N], or failpoint MASTER clear", "let a store member fail at a step of its work", parseFailpoint},
		{"member", "member add|promote|remove|replace MASTER", "change who belongs to the store", parseMember},
		{"backup", "backup FILE", "write the store's content to a file (@NAME: for this run only)", parseBackup},
		{"restore", "restore FILE", "stop the store and begin anew with a backup", parseRestore},
		{"compact", "compact [REVISION]", "drop the store's history up to a revision", parseCompact},
		{"defrag", "defrag MASTER|all", "give free space of a member's database back", parseDefrag},
		{"disarm", "disarm", "lift the store's alarms", none(Disarm{})},
		{"quota", "quota SIZE", "bound the size of the store's database (2Gi by default)", parseQuota},
		{"crash", "crash pod/NAMESPACE/NAME [CONTAINER] [code=N]", "make a container exit", parseCrash},
		{"break", "break readiness|liveness pod/NAMESPACE/NAME", "make a probe of a pod fail until its container restarts", parseBreak},
		{"speed", "speed 10x", "simulated seconds per second, 0.1x to 60x", parseSpeed},
		{"pause", "pause", "hold time still", none(Pause{})},
		{"resume", "resume", "let time run again", none(Resume{})},
		{"step", "step [N]", "go on to the next thing that happens, while paused", parseStep},
		{"until", "until EVENT|anomaly|quiet", "run until something happens, then pause", parseUntil},
		{"kubectl", "kubectl get|create|run|scale|set image|rollout undo|delete|cordon …", "the real kubectl (k for short); in scenarios a small one", parseKubectl},
	}
}

// Parse reads one line.
func Parse(line string) (Command, error) {
	if !utf8.ValidString(line) {
		return nil, &SyntaxError{Line: strings.ToValidUTF8(line, "?"), Wrong: "not UTF-8 text"}
	}
	if len(line) > lineMax {
		return nil, &SyntaxError{Line: strings.ToValidUTF8(line[:40], "") + "…", Wrong: fmt.Sprintf("longer than %d bytes", lineMax)}
	}
	fields, err := split(line)
	if err != nil {
		return nil, &SyntaxError{Line: line, Wrong: err.Error()}
	}
	if len(fields) == 0 {
		return nil, &SyntaxError{Line: line, Wrong: "no command", Usage: "one of " + names()}
	}
	name := strings.ToLower(fields[0])
	if kubectlVerbs[name] {
		return Kubectl{Args: fields}, nil
	}
	for _, w := range Words() {
		if w.Name == name {
			c, err := w.parse(fields[1:])
			if err != nil {
				return nil, &SyntaxError{Line: line, Wrong: err.Error(), Usage: w.Usage}
			}
			return c, nil
		}
	}
	if planned[name] {
		return nil, &SyntaxError{Line: line, Wrong: fmt.Sprintf("%q is not offered by this version", name), Usage: "one of " + names()}
	}
	return nil, &SyntaxError{Line: line, Wrong: fmt.Sprintf("no command is called %q", fields[0]), Usage: "one of " + names()}
}

func names() string {
	var out []string
	for _, w := range Words() {
		out = append(out, w.Name)
	}
	return strings.Join(out, ", ")
}

// split cuts a line into words; quotes keep spaces together, "|" is a word of its own.
func split(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	flush := func() {
		if inWord {
			out = append(out, word.String())
			word.Reset()
			inWord = false
		}
	}
	escaped := false
	for _, r := range line {
		switch {
		case unicode.IsControl(r) && r != '\t':
			return nil, fmt.Errorf("control character %q", r)
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			flush()
		case r == '|':
			flush()
			out = append(out, "|")
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %q is not closed", quote)
	}
	if escaped {
		return nil, fmt.Errorf("nothing follows the backslash")
	}
	flush()
	return out, nil
}

func none(c Command) func([]string) (Command, error) {
	return func(args []string) (Command, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("takes no arguments, got %q", args[0])
		}
		return c, nil
	}
}

func power(v PowerVerb) func([]string) (Command, error) {
	return func(args []string) (Command, error) {
		if len(args) != 1 {
			return nil, fmt.Errorf("takes one target, got %d", len(args))
		}
		return Power{Verb: v, Target: args[0]}, target(args[0])
	}
}

// target checks the form of a machine or process name.
func target(s string) error {
	host, process, has := strings.Cut(s, "/")
	if host == "" || (has && (process == "" || strings.Contains(process, "/"))) {
		return fmt.Errorf("%q is not MACHINE or MACHINE/PROCESS", s)
	}
	for _, r := range s {
		if !(r == '/' || r == '-' || r == '.' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')) {
			return fmt.Errorf("%q in %q cannot be part of a name", r, s)
		}
	}
	return nil
}

// link reads "A B … [oneway]" with extra arguments between.
func link(args []string, extra int) (a, b string, rest []string, one bool, err error) {
	if n := len(args); n > 0 && strings.EqualFold(args[n-1], "oneway") {
		one, args = true, args[:n-1]
	}
	if len(args) != 2+extra {
		return "", "", nil, false, fmt.Errorf("takes %d arguments, got %d", 2+extra, len(args))
	}
	for _, end := range args[:2] {
		if err := target(end); err != nil {
			return "", "", nil, false, err
		}
	}
	if args[0] == args[1] {
		return "", "", nil, false, fmt.Errorf("both ends are %s", args[0])
	}
	return args[0], args[1], args[2:], one, nil
}

func parseCut(args []string) (Command, error) {
	a, b, _, one, err := link(args, 0)
	return Cut{A: a, B: b, OneWay: one}, err
}

func parseDelay(args []string) (Command, error) {
	a, b, rest, one, err := link(args, 1)
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(rest[0])
	if err != nil || d <= 0 || d > time.Hour {
		return nil, fmt.Errorf("%q is not a duration between 0 and 1h", rest[0])
	}
	return Delay{A: a, B: b, D: d, OneWay: one}, nil
}

func parseLoss(args []string) (Command, error) {
	a, b, p, one, err := share(args)
	return Loss{A: a, B: b, Percent: p, OneWay: one}, err
}

func parsePartition(args []string) (Command, error) {
	var groups [][]string
	var group []string
	seen := map[string]bool{}
	for _, a := range append(args, "|") {
		if a == "|" {
			if len(group) == 0 {
				return nil, fmt.Errorf("a group is empty")
			}
			groups, group = append(groups, group), nil
			continue
		}
		for _, h := range strings.Split(a, ",") {
			if h == "" {
				continue
			}
			if err := target(h); err != nil {
				return nil, err
			}
			if strings.Contains(h, "/") {
				return nil, fmt.Errorf("%q is a process; groups are made of machines", h)
			}
			if seen[h] {
				return nil, fmt.Errorf("%s stands in two places", h)
			}
			seen[h] = true
			group = append(group, h)
		}
	}
	if len(groups) < 2 {
		return nil, fmt.Errorf("takes at least two groups")
	}
	return Partition{Groups: groups}, nil
}

func parseHeal(args []string) (Command, error) {
	switch len(args) {
	case 0:
		return Heal{}, nil
	case 1:
		if args[0] == "all" {
			return Heal{}, nil
		}
		return Heal{Target: args[0]}, target(args[0])
	}
	return nil, fmt.Errorf("takes at most one target, got %d", len(args))
}

func parseWipe(args []string) (Command, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes one target, got %d", len(args))
	}
	return Wipe{Target: args[0]}, target(args[0])
}

// podTarget reads pod/NAMESPACE/NAME.
func podTarget(s string) (namespace, name string, err error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] != "pod" || parts[1] == "" || parts[2] == "" {
		return "", "", fmt.Errorf("%q is not pod/NAMESPACE/NAME", s)
	}
	return parts[1], parts[2], nil
}

func parseBreak(args []string) (Command, error) {
	if len(args) != 2 || (args[0] != "readiness" && args[0] != "liveness") {
		return nil, fmt.Errorf("takes readiness or liveness, and a pod")
	}
	namespace, name, err := podTarget(args[1])
	return Break{Probe: args[0], Namespace: namespace, Pod: name}, err
}

func parseCrash(args []string) (Command, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("names no pod")
	}
	namespace, name, err := podTarget(args[0])
	if err != nil {
		return nil, err
	}
	c := Crash{Namespace: namespace, Pod: name, Code: 1}
	for _, a := range args[1:] {
		if v, ok := strings.CutPrefix(a, "code="); ok {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > 255 {
				return nil, fmt.Errorf("%q is not an exit code from 0 to 255", v)
			}
			c.Code = n
		} else if c.Container == "" {
			c.Container = a
		} else {
			return nil, fmt.Errorf("does not understand %q", a)
		}
	}
	return c, nil
}

func parseSpeed(args []string) (Command, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes one rate, got %d", len(args))
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.ToLower(args[0]), "x"), 64)
	if err != nil || math.IsNaN(f) || f < 0.1 || f > 60 {
		return nil, fmt.Errorf("%q is not a rate from 0.1x to 60x", args[0])
	}
	return Speed{Rate: f}, nil
}

func parseStep(args []string) (Command, error) {
	if len(args) == 0 {
		return Step{Count: 1}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > 100000 || len(args) > 1 {
		return nil, fmt.Errorf("%q is not a count from 1 to 100000", strings.Join(args, " "))
	}
	return Step{Count: n}, nil
}

func parseUntil(args []string) (Command, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes the name of an event, or quiet")
	}
	return Until{What: args[0]}, nil
}

func parseKubectl(args []string) (Command, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("says nothing to do")
	}
	return Kubectl{Args: args}, nil
}
