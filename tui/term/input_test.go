package term

import (
	"strings"
	"testing"
	"time"
)

// feed sends pieces through a filter, each a while after the one before.
func feed(typing bool, gap time.Duration, pieces ...string) string {
	var f pasteFilter
	var out strings.Builder
	now := time.Unix(0, 0)
	for _, p := range pieces {
		buf := make([]byte, len(p), 256)
		copy(buf, p)
		out.Write(buf[:f.apply(buf, cap(buf), typing, now)])
		now = now.Add(gap)
	}
	return out.String()
}

func TestPastes(t *testing.T) {
	for _, c := range []struct {
		name   string
		typing bool
		gap    time.Duration
		in     []string
		want   string
	}{
		{"keys pass untouched", false, 0, []string{"k", "\x1b[A", "\x1b"}, "k\x1b[A\x1b"},
		{"a paste outside a text field is dropped", false, 0, []string{"a\x1b[200~kill\x1b[201~b"}, "ab"},
		{"a paste into a text field is one line", true, 0, []string{"\x1b[200~kill\nmaster-1\x03\x1b[201~!"}, "kill master-1!"},
		{"a mark in two reads is still a mark", true, 0, []string{"\x1b[20", "0~x\x1b[2", "01~y"}, "xy"},
		{"what only begins like a mark passes", false, 0, []string{"\x1b[2", "~k"}, "\x1b[2~k"},
		{"a paste without an end ends after a second", false, 2 * time.Second, []string{"\x1b[200~lost", "q"}, "q"},
	} {
		if got := feed(c.typing, c.gap, c.in...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	long := make([]string, 400)
	for i := range long {
		long[i] = strings.Repeat("x", 200)
	}
	if got := feed(false, 0, append([]string{"\x1b[200~"}, long...)...); len(got) == 0 {
		t.Error("a paste without an end swallows everything after 64 KiB")
	}
}

func TestAPanicIsKeptOnceAndStops(t *testing.T) {
	var g Guard
	stopped := make(chan bool, 4)
	g.OnPanic(func() { stopped <- true })
	g.Go("first", func() { panic("one") })
	<-stopped
	g.Go("second", func() { panic("two") })
	<-stopped
	err := g.Crash(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "first: one") {
		t.Errorf("%v", err)
	}
}
