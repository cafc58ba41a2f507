// Package command is the vocabulary of orders that the engine accepts: one struct each, one grammar for the console, scenario steps and --do.
//
// Parse reads the words (design.md 9), String gives them back in canonical form; Parse(c.String()) equals c. A command says what is wanted; whether it can be done is
// decided by the engine when it is carried out.
//
// Imports of ours: raftstore/failure, for the names of what can go wrong in the store. Goroutines: values, safe anywhere. Time: durations are simulated, but those of
// a disk and of a failpoint, which are wall.
package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Command is an order. String is its canonical text.
type Command interface{ String() string }

// Power changes a machine or a process: kill (at once, nothing is handed over), stop (clean, SIGTERM), start, restart (kill, then start).
type Power struct {
	Verb   PowerVerb
	Target string // "master-1", "master-1/apiserver", "leader", "scheduler-leader", "controller-manager-leader"
}

// PowerVerb of Power.
type PowerVerb string

const (
	Kill    PowerVerb = "kill"
	Stop    PowerVerb = "stop"
	Start   PowerVerb = "start"
	Restart PowerVerb = "restart"
)

func (c Power) String() string { return string(c.Verb) + " " + c.Target }

// Cut makes packets between A and B vanish; OneWay only those from A to B. Ends are hosts, processes ("master-1/etcd") or "all".
type Cut struct {
	A, B   string
	OneWay bool
}

func (c Cut) String() string { return "cut " + c.A + " " + c.B + oneway(c.OneWay) }

// Partition cuts every link between hosts of different groups. Hosts that are in no group are not touched.
type Partition struct{ Groups [][]string }

func (c Partition) String() string {
	groups := make([]string, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = strings.Join(g, ",")
	}
	return "partition " + strings.Join(groups, " | ")
}

// Delay makes packets between A and B take D longer.
type Delay struct {
	A, B   string
	D      time.Duration
	OneWay bool
}

func (c Delay) String() string {
	return "delay " + c.A + " " + c.B + " " + c.D.String() + oneway(c.OneWay)
}

// Loss makes each packet between A and B vanish with a chance of Percent.
type Loss struct {
	A, B    string
	Percent float64
	OneWay  bool
}

func (c Loss) String() string {
	return "loss " + c.A + " " + c.B + " " + percentText(c.Percent) + oneway(c.OneWay)
}

// Heal lifts link faults that touch Target; all of them when Target is empty.
type Heal struct{ Target string }

func (c Heal) String() string { return strings.TrimSpace("heal " + c.Target) }

// Wipe deletes the disk of a master that is down.
type Wipe struct{ Target string }

func (c Wipe) String() string { return "wipe " + c.Target }

// Crash makes the container of a pod exit with Code; Container empty: the first.
type Crash struct {
	Namespace, Pod, Container string
	Code                      int
}

func (c Crash) String() string {
	s := "crash pod/" + c.Namespace + "/" + c.Pod
	if c.Container != "" {
		s += " " + c.Container
	}
	if c.Code != 1 {
		s += " code=" + strconv.Itoa(c.Code)
	}
	return s
}

// Break makes a probe of a pod's first container fail until the container restarts. Probe is "readiness" or "liveness".
type Break struct{ Probe, Namespace, Pod string }

func (c Break) String() string { return "break " + c.Probe + " pod/" + c.Namespace + "/" + c.Pod }

// Speed sets simulated seconds per wall second.
type Speed struct{ Rate float64 }

func (c Speed) String() string { return "speed " + strconv.FormatFloat(c.Rate, 'g', -1, 64) + "x" }

// Pause holds time still; Resume lets it run at the rate before. Step lets time go on while paused until Count things
// worth a look have happened.
type Pause struct{}
type Resume struct{}
type Step struct{ Count int }

func (Pause) String() string  { return "pause" }
func (Resume) String() string { return "resume" }
func (c Step) String() string {
	if c.Count == 1 {
		return "step"
	}
	return "step " + strconv.Itoa(c.Count)
}

// Until runs time until a record of that name, an Event object with that reason, or "quiet" (nothing ready and nothing due within 5 s but heartbeats), then pauses.
type Until struct{ What string }

func (c Until) String() string { return "until " + c.What }

// Kubectl is a line for kubectl, without the word itself: ["scale", "deployment", "nginx", "--replicas=5"].
type Kubectl struct{ Args []string }

func (c Kubectl) String() string {
	quoted := make([]string, len(c.Args))
	for i, a := range c.Args {
		quoted[i] = quote(a)
	}
	return "kubectl " + strings.Join(quoted, " ")
}

// Apply creates or updates the objects of YAML documents. Scenario manifests use it; it has no console form of its own.
type Apply struct {
	Source string // where the text came from, for messages
	YAML   string
}

func (c Apply) String() string { return "apply -f " + c.Source }

func oneway(b bool) string {
	if b {
		return " oneway"
	}
	return ""
}

// quote puts a word in double quotes where split would otherwise take it apart.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'\\|", r) }) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// SyntaxError says what is wrong with a line and how to write it.
type SyntaxError struct {
	Line  string
	Wrong string
	Usage string
}

func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%q: %s", e.Line, e.Wrong)
	if e.Usage != "" {
		s += "; write: " + e.Usage
	}
	return s
}
