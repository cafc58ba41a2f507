package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/raftstore/failure"
)

// Member changes who belongs to the store. Target is a master, for Add also one that does not exist yet.
type Member struct {
	Verb   MemberVerb
	Target string
}

// MemberVerb of Member.
type MemberVerb string

const (
	// Add lets a master join as a learner; Promote gives a learner its vote; Remove takes a member out; Replace removes it and adds it again, with an empty disk.
	Add     MemberVerb = "add"
	Promote MemberVerb = "promote"
	Remove  MemberVerb = "remove"
	Replace MemberVerb = "replace"
)

func (c Member) String() string { return "member " + string(c.Verb) + " " + c.Target }

// Disk makes the disk of a master behave as State says, or damages it. Delay is that of failure.Slow, wall.
type Disk struct {
	Target string
	State  failure.Disk
	Delay  time.Duration
}

func (c Disk) String() string {
	s := "disk " + c.Target + " " + string(c.State)
	if c.Delay > 0 {
		s += " " + c.Delay.String()
	}
	return s
}

// Failpoint lets the store member of a master step on a trap at a point of its work; Clear takes its traps away instead. Delay is that of failure.Stall, wall.
type Failpoint struct {
	Target string
	Clear  bool
	Point  failure.Point
	Action failure.Action
	Delay  time.Duration
	Skip   int
}

func (c Failpoint) String() string {
	if c.Clear {
		return "failpoint " + c.Target + " clear"
	}
	s := "failpoint " + c.Target + " " + string(c.Point) + " " + string(c.Action)
	if c.Delay > 0 {
		s += " " + c.Delay.String()
	}
	if c.Skip > 0 {
		s += " skip=" + strconv.Itoa(c.Skip)
	}
	return s
}

// Backup writes the store to File; Restore makes the store begin anew with what File holds. A File of the form @NAME is kept by the program and lives as long as it.
type Backup struct{ File string }
type Restore struct{ File string }

func (c Backup) String() string  { return "backup " + quote(c.File) }
func (c Restore) String() string { return "restore " + quote(c.File) }

// Compact drops the store's history up to Revision; 0: the present one.
type Compact struct{ Revision int64 }

func (c Compact) String() string {
	if c.Revision == 0 {
		return "compact"
	}
	return "compact " + strconv.FormatInt(c.Revision, 10)
}

// Defrag gives the free space of a member's database back; of all, one after the other, with Target "all".
type Defrag struct{ Target string }

func (c Defrag) String() string { return "defrag " + c.Target }

// Disarm lifts the store's alarms.
type Disarm struct{}

func (Disarm) String() string { return "disarm" }

// Quota bounds the size of each member's database.
type Quota struct{ Bytes int64 }

func (c Quota) String() string { return "quota " + Size(c.Bytes) }

// Duplicate makes a share of the store's messages between A and B arrive twice, Reorder makes a share of them late, so that newer ones overtake them; both in Percent. Clog
// lets only the first piece of each snapshot through. The API's traffic is TCP, which hides all three.
type Duplicate struct {
	A, B    string
	Percent float64
	OneWay  bool
}
type Reorder struct {
	A, B    string
	Percent float64
	OneWay  bool
}
type Clog struct {
	A, B   string
	OneWay bool
}

func (c Duplicate) String() string {
	return "duplicate " + c.A + " " + c.B + " " + percentText(c.Percent) + oneway(c.OneWay)
}

func (c Reorder) String() string {
	return "reorder " + c.A + " " + c.B + " " + percentText(c.Percent) + oneway(c.OneWay)
}

func (c Clog) String() string { return "clog " + c.A + " " + c.B + oneway(c.OneWay) }

// Bounds of a quota. Below the least not even an idle cluster fits.
const (
	QuotaMin = 64 << 10
	QuotaMax = 1 << 40
)

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}

// Size writes a number of bytes as it is given in commands: 8Mi.
func Size(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes >= u.bytes && bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}

func parseQuota(args []string) (Command, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes one size, got %d", len(args))
	}
	number, unit := args[0], int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(args[0], u.name); ok {
			number, unit = n, u.bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > QuotaMax/unit || n*unit < QuotaMin {
		return nil, fmt.Errorf("%q is not a size from %s to %s, such as 8Mi", args[0], Size(QuotaMin), Size(QuotaMax))
	}
	return Quota{Bytes: n * unit}, nil
}

func parseMember(args []string) (Command, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("takes add, promote, remove or replace, and a master")
	}
	switch v := MemberVerb(args[0]); v {
	case Add, Promote, Remove, Replace:
		return Member{Verb: v, Target: args[1]}, master(args[1])
	}
	return nil, fmt.Errorf("%q is not add, promote, remove or replace", args[0])
}

// master checks the form of a master's name.
func master(s string) error {
	if strings.Contains(s, "/") {
		return fmt.Errorf("%q is a process; the store's member of a master goes by the master's name", s)
	}
	return target(s)
}

func parseDisk(args []string) (Command, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, fmt.Errorf("takes a master and the state of its disk")
	}
	c := Disk{Target: args[0]}
	var err error
	if c.State, err = oneOf(args[1], failure.Disks(), "state of a disk"); err != nil {
		return nil, err
	}
	switch {
	case c.State == failure.Slow:
		c.Delay, err = delay(args[2:])
	case len(args) == 3:
		err = fmt.Errorf("%s takes no %q", c.State, args[2])
	}
	if err != nil {
		return nil, err
	}
	return c, master(c.Target)
}

func parseFailpoint(args []string) (Command, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("takes a master, a point and what happens there")
	}
	c := Failpoint{Target: args[0]}
	if err := master(c.Target); err != nil {
		return nil, err
	}
	if args[1] == "clear" {
		if len(args) > 2 {
			return nil, fmt.Errorf("clear takes no %q", args[2])
		}
		c.Clear = true
		return c, nil
	}
	var err error
	if c.Point, err = oneOf(args[1], failure.Points(), "point"); err != nil {
		return nil, err
	}
	if len(args) < 3 {
		return nil, fmt.Errorf("does not say what happens at %s", c.Point)
	}
	if c.Action, err = oneOf(args[2], failure.Actions(), "thing to happen"); err != nil {
		return nil, err
	}
	rest := args[3:]
	if n := len(rest); n > 0 {
		if v, ok := strings.CutPrefix(rest[n-1], "skip="); ok {
			if c.Skip, err = strconv.Atoi(v); err != nil || c.Skip < 1 || c.Skip > 1_000_000 {
				return nil, fmt.Errorf("%q is not a count from 1 to 1000000", v)
			}
			rest = rest[:n-1]
		}
	}
	switch {
	case c.Action == failure.Stall:
		c.Delay, err = delay(rest)
	case len(rest) > 0:
		err = fmt.Errorf("%s takes no %q", c.Action, rest[0])
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// diskDelay is what a slow disk and a stall take longer when nothing is said.
const diskDelay = 200 * time.Millisecond

// delay reads the optional delay of a disk, wall.
func delay(args []string) (time.Duration, error) {
	if len(args) == 0 {
		return diskDelay, nil
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d < time.Millisecond || d > time.Minute || len(args) > 1 {
		return 0, fmt.Errorf("%q is not a duration between 1ms and 1m", strings.Join(args, " "))
	}
	return d, nil
}

// oneOf finds a word in a list.
func oneOf[T ~string](word string, list []T, what string) (T, error) {
	for _, x := range list {
		if strings.EqualFold(string(x), word) {
			return x, nil
		}
	}
	return "", fmt.Errorf("%q is no %s; there are %s", word, what, strings.Join(texts(list), ", "))
}

// fileMax bounds a file's name.
const fileMax = 1024

func file(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("takes one file, got %d", len(args))
	}
	f := args[0]
	if name, ok := strings.CutPrefix(f, "@"); ok {
		if name == "" || target(name) != nil || strings.ContainsAny(name, "/") || strings.HasPrefix(name, ".") {
			return "", fmt.Errorf("%q is not @NAME with a name of letters, digits and '-'", f)
		}
	}
	if f == "" || len(f) > fileMax || strings.ContainsRune(f, 0) {
		return "", fmt.Errorf("%.40q is not the name of a file", f)
	}
	return f, nil
}

func parseBackup(args []string) (Command, error) {
	f, err := file(args)
	return Backup{File: f}, err
}

func parseRestore(args []string) (Command, error) {
	f, err := file(args)
	return Restore{File: f}, err
}

func parseCompact(args []string) (Command, error) {
	if len(args) == 0 {
		return Compact{}, nil
	}
	n, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || n < 1 || len(args) > 1 {
		return nil, fmt.Errorf("%q is not a revision", strings.Join(args, " "))
	}
	return Compact{Revision: n}, nil
}

func parseDefrag(args []string) (Command, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes a master, or all")
	}
	return Defrag{Target: args[0]}, master(args[0])
}

func parseDuplicate(args []string) (Command, error) {
	a, b, p, one, err := share(args)
	return Duplicate{A: a, B: b, Percent: p, OneWay: one}, err
}

func parseReorder(args []string) (Command, error) {
	a, b, p, one, err := share(args)
	return Reorder{A: a, B: b, Percent: p, OneWay: one}, err
}

func parseClog(args []string) (Command, error) {
	a, b, _, one, err := link(args, 0)
	return Clog{A: a, B: b, OneWay: one}, err
}

// share reads "A B 20% [oneway]".
func share(args []string) (a, b string, percent float64, one bool, err error) {
	a, b, rest, one, err := link(args, 1)
	if err != nil {
		return "", "", 0, false, err
	}
	percent, err = strconv.ParseFloat(strings.TrimSuffix(rest[0], "%"), 64)
	if err != nil || math.IsNaN(percent) || percent <= 0 || percent > 100 {
		return "", "", 0, false, fmt.Errorf("%q is not a percentage above 0 and up to 100", rest[0])
	}
	return a, b, percent, one, nil
}

func percentText(p float64) string { return strconv.FormatFloat(p, 'g', -1, 64) + "%" }
