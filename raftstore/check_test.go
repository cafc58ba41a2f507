package raftstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
)

// logFileOf makes the log file of a member.
func logFileOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := openLed(t, Options{Members: names(1), Dir: dir, Rate: 5, Sync: true})
	mustPut(t, c, "a")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "master-1", "raft.db")
}

func TestACheckExitsWithWhatItFound(t *testing.T) {
	t.Parallel()
	path := logFileOf(t)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	damaged[4096+20] ^= 4
	cut := sound[:2*4096+100]
	for _, c := range []struct {
		name    string
		content []byte // nil: there is no file
		code    int
		says    string
	}{{"sound", sound, 0, ""}, {"a bit of a meta page is another", damaged, 3, "meta page 1 does not read"}, {"cut", cut, 3, "pages in use"}, {"no file", nil, 1, "no such file"}} {
		t.Run(c.name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "raft.db")
			if c.content != nil {
				if err := os.WriteFile(at, c.content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			code := CheckMain(at, &out)
			if code != c.code || !strings.Contains(out.String(), c.says) || code == 0 && out.Len() > 0 || code != 0 && strings.Count(out.String(), "\n") != 1 {
				t.Errorf("exits with %d and says %q", code, out.String())
			}
		})
	}
}

// What a damaged file does to who reads it is done to the child.
func TestAChildThatDiesOrHangsMeansDamageAndOneThatCannotBeStartedMeansNothing(t *testing.T) {
	t.Parallel()
	path := logFileOf(t)
	shell := func(script string) func(context.Context, string) error {
		return CheckCommand("sh", "-c", "echo "+checkGreetings+" >&2; "+script)
	}
	for _, c := range []struct {
		name  string
		check func(context.Context, string) error
		want  error
		says  string
	}{
		{"sound", CheckCommand(os.Args[0]), nil, ""},
		{"faults", shell("kill -BUS $$"), peer.ErrDamaged, "fatal"},
		{"panics", shell("echo 'panic: page 7 already freed' >&2; exit 2"), peer.ErrDamaged, "page 7 already freed"},
		{"is another program", CheckCommand("false"), peer.ErrNotChecked, ""},
		{"does not exist", CheckCommand(filepath.Join(t.TempDir(), "nothing")), peer.ErrNotChecked, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(context.Background(), path); !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v …%s…", err, c.want, c.says)
			}
		})
	}
	t.Run("hangs", func(t *testing.T) {
		ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0)) // the limit, at once
		defer cancel()
		if err := CheckCommand("sleep")(ctx, "3600"); !errors.Is(err, peer.ErrDamaged) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cannot be started, and the member starts nevertheless", func(t *testing.T) {
		c := openLed(t, Options{Members: names(1), Dir: filepath.Dir(filepath.Dir(path)), Rate: 5, Sync: true, Check: CheckCommand("/nothing")})
		if !c.has("a") {
			t.Error("the write is gone")
		}
	})
}
