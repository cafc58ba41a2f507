package command

import (
	"strings"
	"testing"
)

func TestWordsReadBackAsWritten(t *testing.T) {
	for _, line := range []string{
		"kill master-1", "stop leader", "start master-1/apiserver", "restart worker-2",
		"cut worker-1 all", "cut master-1/etcd master-2/etcd oneway", "partition master-1,worker-1 | master-2,master-3",
		"delay master-1 master-2 200ms", "loss worker-1 master-1 20%", "heal", "heal worker-1", "wipe master-1",
		"crash pod/default/nginx-1", "break readiness pod/default/nginx-1", "crash pod/default/nginx-1 app code=137", "speed 10x", "speed 0.5x", "pause", "resume", "step", "step 5",
		"until quiet", "until NodeNotReady", "kubectl scale deployment nginx --replicas=5", `kubectl run x --image=nginx "--overrides={\"a\": 1}"`,
	} {
		c, err := Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if c.String() != line {
			t.Errorf("%q reads back as %q", line, c)
		}
	}
}

func TestBareKubectlVerbsNeedNoKubectl(t *testing.T) {
	c, err := Parse("scale deployment nginx --replicas=5")
	if err != nil || c.String() != "kubectl scale deployment nginx --replicas=5" {
		t.Fatalf("%v %v", c, err)
	}
}

func TestWrongLinesSayWhatAndHow(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "no command",
		"explode master-1":       `no command is called "explode"`,
		"kill":                   "takes one target",
		"kill a b":               "takes one target",
		"kill master-1/":         "not MACHINE or MACHINE/PROCESS",
		"kill m\u001b[31m":       "control character",
		"cut a":                  "takes 2 arguments",
		"cut a a":                "both ends are a",
		"partition a,b":          "at least two groups",
		"partition a | a":        "stands in two places",
		"delay a b soon":         "not a duration",
		"loss a b 120%":          "not a percentage",
		"loss a b NaN":           "not a percentage",
		"speed 100x":             "not a rate from 0.1x to 60x",
		"speed":                  "takes one rate",
		"step zero":              "not a count",
		"crash nginx":            "not pod/NAMESPACE/NAME",
		"break pod/a/b":          "takes readiness or liveness",
		"break liveness nginx":   "not pod/NAMESPACE/NAME",
		"backup /tmp/x":          `"backup" is not offered by this version`,
		"pause now":              "takes no arguments",
		`kill "master-1`:         "not closed",
		strings.Repeat("x", 5e3): "longer than",
	} {
		_, err := Parse(line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want …%s…", line, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"kill master-1", "partition a,b | c", "cut a b oneway", `kubectl x "y z"`, "speed 1e1x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(c.String())
		if err != nil {
			t.Fatalf("%q gave %q, which does not parse: %v", line, c, err)
		}
		if again.String() != c.String() {
			t.Fatalf("%q: %q reads back as %q", line, c, again)
		}
	})
}
