package cli

import (
	"bufio"
	"os"
	"regexp"
	"syscall"
	"testing"
)

// announced is the line that says where the API is.
var announced = regexp.MustCompile(`^serving single at (https://127\.0\.0\.1:[0-9]+); export KUBECONFIG=(.+)\n$`)

func TestServeSaysWhereItListensAndEndsOnASignal(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // other clusters of this user are no business of the test
	for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		old := os.Stdout
		os.Stdout = w
		code := make(chan int, 1)
		go func() { code <- run([]string{"serve", "single", "--rate", "10"}) }()
		line, err := bufio.NewReader(r).ReadString('\n')
		os.Stdout = old
		if err != nil {
			t.Fatal(err)
		}
		said := announced.FindStringSubmatch(line)
		if said == nil {
			t.Fatalf("it says %q", line)
		}
		if _, err := os.Stat(said[2]); err != nil {
			t.Errorf("kubeconfig: %v", err)
		}
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		if got := <-code; got != want {
			t.Errorf("%v: ended with %d, want %d", signal, got, want)
		}
		if _, err := os.Stat(said[2]); !os.IsNotExist(err) {
			t.Errorf("the temporary kubeconfig is left: %v", err)
		}
		_ = w.Close()
		_ = r.Close()
	}
}

func TestServeEndsAfterItsTime(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if said := output(t, "serve", "single", "--rate", "10", "--for", "2s"); said != "" && !announced.MatchString(said) {
		t.Errorf("it says %q", said)
	}
}
