package userland

import (
	"bytes"
	"strings"
	"testing"
)

// typeIn runs an interactive shell on keys.
func typeIn(t testing.TB, image, keys string) (screen string, code int) {
	box := container(image)
	var out bytes.Buffer
	code, err := (&Process{In: strings.NewReader(keys), Out: &out, Clock: &manual{began}, Container: &box, TTY: true}).Run(t.Context(), []string{"sh"})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

func TestATerminalEchoesAndEdits(t *testing.T) {
	for _, c := range []struct {
		says, image, keys, screen string
		code                      int
	}{
		{"a command and the end of input", "busybox", "hostname\r\x04", "/ # hostname\r\nweb-0\r\n/ # \r\n", 0},
		{"a letter is taken back", "busybox", "hostnameX\x7f\rexit\r", "/ # hostnameX\b \b\r\nweb-0\r\n/ # exit\r\n", 0},
		{"a line is given up", "busybox", "sleep\x03exit\r", "/ # sleep^C\r\n/ # exit\r\n", 130},
		{"the directory is kept", "busybox", "cd /etc\rpwd\rexit 3\r", "/ # cd /etc\r\n/etc # pwd\r\n/etc\r\n/etc # exit 3\r\n", 3},
		{"a prompt of Debian", "nginx", "false\r\x04", "root@web-0:/# false\r\nroot@web-0:/# \r\n", 1},
		{"arrows do nothing", "busybox", "\x1b[A\x1b[1;5Cpwd\rexit\r", "/ # pwd\r\n/\r\n/ # exit\r\n", 0},
		{"an unknown command", "busybox", "foo\r\x04", "/ # foo\r\nsh: foo: not found\r\n/ # \r\n", 127},
	} {
		t.Run(c.says, func(t *testing.T) {
			if screen, code := typeIn(t, c.image, c.keys); screen != c.screen || code != c.code {
				t.Errorf("code %d, screen %q\n             want %q", code, screen, c.screen)
			}
		})
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("ls\r\x1b[Aexit\r")
	f.Add("\x7f\x15\x0c\x03\x04")
	f.Fuzz(func(t *testing.T, keys string) {
		if strings.Count(keys, "\r") > 3 || len(keys) > 200 {
			return
		}
		if screen, _ := typeIn(t, "busybox", keys); !strings.HasPrefix(screen, "/ # ") {
			t.Fatalf("%q", screen)
		}
	})
}
