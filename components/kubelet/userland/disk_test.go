package userland

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// in runs a command in a container and returns what it prints.
func (c *Container) in(t *testing.T, input io.Reader, argv ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code, err := (&Process{In: input, Out: &out, Err: &out, Clock: &manual{began}, Container: c}).Run(t.Context(), argv)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

func TestWhatIsWrittenStaysForTheNextCommandAndNotForTheNextContainer(t *testing.T) {
	box := container("nginx")
	box.Disk = NewDisk()
	if out, code := box.in(t, nil, "sh", "-c", "echo hello > /usr/share/nginx/html/index.html; mkdir /data"); code != 0 {
		t.Fatal(out)
	}
	if out, code := box.in(t, nil, "cat", "/usr/share/nginx/html/index.html"); code != 0 || out != "hello\n" {
		t.Errorf("%d, %q", code, out)
	}
	conn, err := Dial(&box, 80)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequest(http.MethodGet, "http://localhost/", nil)
	req.Close = true
	go func() { _ = req.Write(conn) }()
	if page, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(page), "\r\n\r\nhello\n") {
		t.Errorf("%v, %q", err, page)
	}
	next := container("nginx")
	next.Disk = NewDisk()
	if out, _ := next.in(t, nil, "ls", "/data"); out != "ls: /data: No such file or directory\n" {
		t.Errorf("%q", out)
	}
}

func TestAnArchiveNeverLeavesTheContainerNorItsBounds(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, size := range map[string]int{"../../etc/passwd2": 3, "dir/file": 5} {
		_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(size)})
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
	}
	_ = w.Close()
	box := container("busybox")
	box.Disk = NewDisk()
	if out, code := box.in(t, &b, "tar", "-xmf", "-", "-C", "/tmp"); code != 0 {
		t.Fatal(out)
	}
	if out, _ := box.in(t, nil, "cat", "/etc/passwd2", "/tmp/dir/file"); out != "xxxxxxxx" {
		t.Errorf("%q", out)
	}
	b.Reset()
	w = tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "big", Size: diskMax + 1})
	_, _ = w.Write(make([]byte, diskMax+1))
	_ = w.Close()
	if out, code := box.in(t, &b, "tar", "xf", "-"); code != 1 || out != "tar: can't create 'big': No space left on device\n" {
		t.Errorf("%d, %q", code, out)
	}
}

func TestWhatAContainersOwnCommandWroteIsSeenFromOutside(t *testing.T) {
	box := container("busybox", "sh", "-c", "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600")
	box.Disk = NewDisk()
	defer box.Disk.Close()
	account(box, 10*time.Second).CatchUp()
	if _, code := box.in(t, nil, "test", "-f", "/tmp/healthy"); code != 0 {
		t.Error("it is not there after ten seconds")
	}
	account(box, 40*time.Second).CatchUp()
	if out, code := box.in(t, nil, "cat", "/tmp/healthy"); code != 1 || out != "cat: can't open '/tmp/healthy': No such file or directory\n" {
		t.Errorf("%d, %q", code, out)
	}
}
