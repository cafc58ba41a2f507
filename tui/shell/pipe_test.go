package shell

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const table = `NAME                  READY   STATUS             RESTARTS   AGE
web-d789fd689-hp5vx   1/1     Running            0          3m
web-d789fd689-4qkj5   0/1     CrashLoopBackOff   3          3m
db-0                  1/1     Running            0          9m
db-1                  0/1     Pending            0          9m
job[1].a+b            0/1     Completed          0          1h
webhook               1/1     Running            0          2d`

// through gives lines to what stands behind the pipe, and stops when it wants no more.
func through(p Pipe, text string) (out []string, took int) {
	for l := range strings.SplitSeq(text, "\n") {
		some, more := p.Line(l)
		out, took = append(out, some...), took+1
		if !more {
			break
		}
	}
	return append(out, p.End()...), took
}

func pipeOf(t *testing.T, line string) Pipe {
	t.Helper()
	l, err := Parse("k get pods " + line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return l.Pipe
}

var piped = []string{
	`| grep web`, `| grep -i RUNNING`, `| grep -v Running`, `| grep -iv running`, `| grep ^web`, `| grep 'd$'`, `| grep -E 'hp5|4qk'`, `| grep 'hp5\|4qk'`, `| grep 'hp5|4qk'`, `| grep -E "db-[0-9]"`,
	`| grep db-.`, `| grep -F .`, `| grep -F '[1]'`, `| grep '[1].'`, `| grep 'a+b'`, `| grep -E 'a\+b'`, `| grep -w web`, `| grep -c web`, `| grep -n db`, `| grep -o 'web-[a-z0-9]*'`, `| grep -A1 hp5`, `| grep -B1 db-0`,
	`| grep -C 1 db-0`, `| grep -A1 -E 'hp5|job'`, `| grep -nA1 db-0`, `| grep -m1 web`, `| grep -m 2 -A1 web`, `| grep -e hp5 -e db-1`, `| grep -x 'db.*'`, `| grep '*'`, `| grep -E '0{1}/1'`, `| grep '0\{1\}/1'`,
	`| grep '[[:upper:]]\{4\}'`, `| grep '\<db'`, `| grep -v NAME | wc -l`, `| head -3`, `| head -n 2`, `| head -n2 | tail -1`, `| tail -2`, `| tail -n 1`, `| head -0`, `| wc -l`, `| grep Running | grep -v web | wc -l`,
	`| grep nothing`, `| grep -c nothing`, `| grep -vc web`, `| head`, `| tail`, `| tail --lines=3`, `| grep -- -0`, `| grep --ignore-case NAME`, `| egrep 'hp5|4qk'`, `| grep "" | cat`, `| grep '[]]'`, `| grep '[\]'`,
	`| grep -ow web`, `| head -5 | grep -c db`, `| grep -m1 -c Running`, `| grep -on db`,
}

// TestWhatStandsBehindAPipeDoesAsTheProgramsOfThatNameDo asks the programs of the machine the same.
func TestWhatStandsBehindAPipeDoesAsTheProgramsOfThatNameDo(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if v, verr := exec.Command("grep", "--version").Output(); err != nil || verr != nil || !strings.Contains(string(v), "GNU grep") {
		t.Skip("no GNU grep on this machine")
	}
	for _, line := range piped {
		cmd := exec.Command(sh, "-c", "cat "+line)
		cmd.Stdin = strings.NewReader(table + "\n")
		cmd.Env = append(os.Environ(), "LC_ALL=C", "GREP_COLORS=", "GREP_OPTIONS=")
		text, _ := cmd.Output() // grep without a hit exits with 1
		var want []string
		if s := strings.TrimSuffix(string(text), "\n"); s != "" || len(text) > 0 {
			want = strings.Split(s, "\n")
		}
		for i := range want {
			want[i] = strings.TrimLeft(want[i], " ") // some wc put blanks before the number
		}
		if got, _ := through(pipeOf(t, line), table); !slices.Equal(got, want) {
			t.Errorf("%s:\n%q, want\n%q", line, got, want)
		}
	}
}

func TestAPipeThatIsFullSaysSo(t *testing.T) {
	for line, want := range map[string]int{`| head -2`: 2, `| grep web | head -1`: 2, `| head -0`: 1, `| grep -m1 web`: 2, `| grep -m1 -A1 hp5`: 3, `| tail -1`: 7, `| grep -q web`: 0, ``: 7} {
		l, err := Parse("k get pods " + line)
		if want == 0 {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Key != "shell.pipe-flag" {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if _, took := through(l.Pipe, table); err != nil || took != want {
			t.Errorf("%s: %v, took %d lines, want %d", line, err, took, want)
		}
	}
}

func FuzzGrep(f *testing.F) {
	for _, s := range []string{"a", `\`, "[", "[]", "[^]]", `\(a\|b\)*`, "*", `a\{1,2\}`, "[[:digit:]]", "x{", "(((", "\xff"} {
		f.Add(s, "some text", true)
	}
	f.Fuzz(func(t *testing.T, expr, text string, extended bool) {
		args := []string{"-e", expr, "-o"}
		if extended {
			args = append(args, "-E")
		}
		st, err := grepOf("grep", args)
		var wrong *Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%q: %v", expr, err)
		}
		if err == nil {
			for _, l := range first(st.line(text)) {
				if !strings.Contains(text, l) {
					t.Fatalf("%q finds %q in %q", expr, l, text)
				}
			}
		}
	})
}

func first(out []string, _ bool) []string { return out }
