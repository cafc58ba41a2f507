package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the program with its standard error kept.
func call(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = old }()
	code = run(args)
	w.Close()
	text, _ := io.ReadAll(r)
	return code, string(text)
}

func TestWrongCallsEndWithTwoAndOneSentence(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string
	}{
		{"bogus", "unknown command"},
		{"run --bogus", "unknown flag"},
		{"run nosuch", "no preset is called"},
		{"run --masters 0", "0 is not between 1 and 7"},
		{"run --masters 8", "8 is not between 1 and 7"},
		{"run --workers -1", "-1 is not between 0 and 5000"},
		{"run --for 0s", "not above 0"},
		{"run --for -1s", "not above 0"},
		{"run --rate NaN", "not between"},
		{"run --store disk", "neither raft nor memory"},
		{"run --store memory --data-dir " + dir, "keeps nothing"},
		{"run -o xml", "neither text nor json"},
		{"run --do kill", "AT COMMAND"},
		{"run --start now", "not an instant"},
		{"run --size 120x40junk", "not COLUMNSxROWS"},
		{"run --size 1x1", "not COLUMNSxROWS"},
		{"run --frame x.png", "neither .svg nor .txt"},
		{"run --frame " + filepath.Join(dir, "no", "x.svg"), "--frame"},
		{"run --journal " + filepath.Join(dir, "no", "x"), "--journal"},
		{"replay", "takes one journal file"},
		{"replay " + filepath.Join(dir, "none"), "no such file"},
		{"presets x", "takes no arguments"},
	} {
		code, said := call(t, strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("kubeviz %s: code %d, said %q; want 2 and …%s…", c.args, code, said, c.want)
		}
	}
}
