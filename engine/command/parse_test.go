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
		"member add master-4", "member promote master-4", "member remove leader", "member replace master-3",
		"disk master-1 ok", "disk master-1 full", "disk leader slow 200ms", "disk master-1 flaky", "disk master-1 readonly", "disk master-2 torn", "disk master-2 zeroed",
		"disk master-2 flipped", "disk master-2 cut", "disk master-2 deleted",
		"failpoint master-1 before-store-vote kill", "failpoint leader after-store-log fail skip=3", "failpoint master-2 in-snapshot stall 1s skip=1", "failpoint master-1 clear",
		"backup store.backup", `backup "my store"`, "backup /tmp/x", "restore store.backup", "backup @before", "restore @before",
		"compact", "compact 4711", "defrag master-1", "defrag all", "disarm", "quota 8Mi", "quota 2Gi", "quota 100000",
		"duplicate master-1 master-2 20%", "reorder leader all 0.5% oneway", "clog master-1 master-2", "clog master-1 master-2 oneway",
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
		"":                                       "no command",
		"explode master-1":                       `no command is called "explode"`,
		"kill":                                   "takes one target",
		"kill a b":                               "takes one target",
		"kill master-1/":                         "not MACHINE or MACHINE/PROCESS",
		"kill m\u001b[31m":                       "control character",
		"cut a":                                  "takes 2 arguments",
		"cut a a":                                "both ends are a",
		"partition a,b":                          "at least two groups",
		"partition a | a":                        "stands in two places",
		"delay a b soon":                         "not a duration",
		"loss a b 120%":                          "not a percentage",
		"loss a b NaN":                           "not a percentage",
		"speed 100x":                             "not a rate from 0.1x to 60x",
		"speed":                                  "takes one rate",
		"step zero":                              "not a count",
		"crash nginx":                            "not pod/NAMESPACE/NAME",
		"break pod/a/b":                          "takes readiness or liveness",
		"break liveness nginx":                   "not pod/NAMESPACE/NAME",
		"vm delete worker-1":                     `"vm" is not offered by this version`,
		"pressure worker-1 disk":                 `"pressure" is not offered by this version`,
		"member":                                 "takes add, promote, remove or replace, and a master",
		"member list x":                          `"list" is not add, promote, remove or replace`,
		"member add a/etcd":                      "goes by the master's name",
		"disk master-1":                          "takes a master and the state of its disk",
		"disk master-1 wet":                      `"wet" is no state of a disk; there are ok, full, slow`,
		"disk master-1 full 1s":                  `full takes no "1s"`,
		"disk master-1 slow 1h":                  "not a duration between 1ms and 1m",
		"failpoint master-1":                     "takes a master, a point and what happens there",
		"failpoint m nowhere":                    `"nowhere" is no point; there are before-bootstrap`,
		"failpoint m in-snapshot":                "does not say what happens at in-snapshot",
		"failpoint m in-snapshot explode":        `"explode" is no thing to happen; there are kill, fail, stall`,
		"failpoint m in-snapshot kill 2s":        `kill takes no "2s"`,
		"failpoint m in-snapshot kill skip=none": `"none" is not a count`,
		"failpoint m clear all":                  `clear takes no "all"`,
		"backup":                                 "takes one file",
		"backup a b":                             "takes one file",
		"backup @":                               "is not @NAME",
		"restore @../x":                          "is not @NAME",
		"compact soon":                           `"soon" is not a revision`,
		"compact -1":                             `"-1" is not a revision`,
		"defrag":                                 "takes a master, or all",
		"disarm now":                             "takes no arguments",
		"quota":                                  "takes one size",
		"quota much":                             "is not a size from 64Ki to 1Ti",
		"quota 1Ki":                              "is not a size from 64Ki to 1Ti",
		"quota 9999999Ti":                        "is not a size from 64Ki to 1Ti",
		"duplicate a b":                          "takes 3 arguments",
		"duplicate a b 0%":                       "not a percentage",
		"reorder a a 5%":                         "both ends are a",
		"clog a b 5%":                            "takes 2 arguments",
		"pause now":                              "takes no arguments",
		`kill "master-1`:                         "not closed",
		strings.Repeat("x", 5e3):                 "longer than",
	} {
		_, err := Parse(line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want …%s…", line, err, want)
		}
	}
}

func TestWhatIsLeftOutHasADefaultThatIsShown(t *testing.T) {
	for line, want := range map[string]string{"disk a slow": "disk a slow 200ms", "failpoint a in-snapshot stall": "failpoint a in-snapshot stall 200ms", "quota 2048Mi": "quota 2Gi", "loss a b 5": "loss a b 5%"} {
		c, err := Parse(line)
		if err != nil || c.String() != want {
			t.Errorf("%s: %v %v, want %s", line, c, err, want)
		}
	}
}

func TestCompletionOffersWhatMayStandThere(t *testing.T) {
	targets := []string{"leader", "master-1", "master-1/etcd", "master-1/kubelet", "master-2", "master-2/etcd", "worker-1", "worker-1/kubelet"}
	for line, want := range map[string]string{
		"memb":                     "member",
		"member ":                  "add promote remove replace",
		"member re":                "remove replace",
		"member add ":              "master-3 master-4 master-5 master-6 master-7",
		"member remove ":           "leader master-1 master-2",
		"disk m":                   "master-1 master-2",
		"disk master-1 f":          "flaky flipped full",
		"failpoint master-1 in-":   "in-send-snapshot in-snapshot",
		"failpoint master-1 c":     "clear",
		"failpoint master-1 x ":    "fail kill stall",
		"failpoint master-1 x k s": "skip=",
		"defrag ":                  "all leader master-1 master-2",
		"clog ":                    "all leader master-1 master-2 oneway",
		"quota 8":                  "8Gi 8Mi",
		"kill w":                   "worker-1 worker-1/kubelet",
		"disarm ":                  "",
		"ba":                       "backup",
	} {
		if got := strings.Join(Complete(line, targets), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"kill master-1", "partition a,b | c", "cut a b oneway", `kubectl x "y z"`, "speed 1e1x",
		"member replace master-3", "disk a slow 200ms", "failpoint a in-snapshot stall 1s skip=2", "backup \"a b\"", "restore @x", "compact 7", "defrag all", "quota 8Mi", "duplicate a b 2%", "clog a b oneway"} {
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
