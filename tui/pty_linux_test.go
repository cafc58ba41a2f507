package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/term"
)

// TestMain runs the screen in a child process when the test that needs a real terminal asks for it.
func TestMain(m *testing.M) {
	if mode := os.Getenv("KUBEVIZ_TUI_CHILD"); mode != "" {
		os.Exit(asChild(mode))
	}
	os.Exit(m.Run())
}

func asChild(mode string) int {
	guard := &term.Guard{}
	c := newDemo()
	o := Options{Cluster: c, Guard: guard, Log: os.Getenv("KUBEVIZ_TUI_LOG"), CrashDir: os.Getenv("KUBEVIZ_TUI_CRASH"), ASCII: mode == "ascii"}
	switch mode {
	case "panic":
		guard.Go("the engine", func() { time.Sleep(400 * time.Millisecond); panic("made to fail") })
	case "panic-update":
		o.Cluster = failing{c}
	case "replay":
		o.Cluster, o.Journal, o.Replay = nil, c.j, true
	case "heart": // an engine that must not stop whatever the terminal does
		guard.Go("heart", func() {
			for n := 0; ; n++ {
				c.j.Emit("machine/worker-1", 0, event.MachineUp{Host: "worker-1"})
				_ = os.WriteFile(os.Getenv("KUBEVIZ_TUI_HEART"), []byte(strconv.Itoa(n)), 0o600)
				time.Sleep(5 * time.Millisecond)
			}
		})
	case "stderr":
		guard.Go("noise", func() { time.Sleep(300 * time.Millisecond); fmt.Fprintln(os.Stderr, "NOISE-ON-STDERR") })
	}
	err := Run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubeviz:", err)
	}
	return ExitCode(err)
}

// demo is a cluster without an engine: it answers some commands by writing facts.
type demo struct {
	mu     sync.Mutex
	j      *journal.Journal
	now    time.Time
	wall   time.Time
	rate   float64
	flt    map[string]event.Seq
	faults map[string]fault.Fault
}

func newDemo() *demo {
	tape := fixture.Trouble(4)
	d := &demo{now: tape.At(), wall: time.Now(), rate: 1, flt: map[string]event.Seq{}, faults: map[string]fault.Fault{}}
	d.j = journal.New(journal.Options{Now: d.Now})
	for _, r := range tape.Records {
		d.j.Append(r)
	}
	return d
}

func (d *demo) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	wall := time.Now()
	d.now = d.now.Add(time.Duration(float64(wall.Sub(d.wall)) * d.rate))
	d.wall = wall
	return d.now
}

func (d *demo) Journal() *journal.Journal { return d.j }
func (d *demo) Targets() []string {
	return []string{"leader", "master-1", "master-2", "master-3", "worker-1", "worker-2", "worker-3", "worker-4"}
}

func (d *demo) Do(c command.Command) {
	d.Now()
	give := d.j.Emit(event.You, 0, event.CommandGiven{Text: c.String()})
	done := event.CommandDone{Text: c.String()}
	switch c := c.(type) {
	case command.Power:
		if c.Verb == command.Kill {
			d.j.Emit(event.On("machine", c.Target), give, event.MachineDown{Host: c.Target, Reason: "killed"})
		} else {
			d.j.Emit(event.On("machine", c.Target), give, event.MachineUp{Host: c.Target})
			d.j.Emit(event.On("etcd", c.Target), give, event.RaftRole{Member: c.Target, Role: "follower", Term: 4, Leader: "master-2"})
		}
	case command.Cut:
		f := fault.Fault{Kind: fault.Cut, A: c.A, B: c.B}
		d.flt[c.A], d.faults[c.A] = d.j.Emit(event.Engine, give, event.FaultAdded{Fault: f}), f
	case command.Heal:
		for a, seq := range d.flt {
			if c.Target == "" || c.Target == a {
				d.j.Emit(event.Engine, give, event.FaultRemoved{ID: seq, Fault: d.faults[a]})
				delete(d.flt, a)
			}
		}
	case command.Pause:
		d.rate = 0
		d.j.Emit(event.Engine, give, event.RateChanged{})
	case command.Resume:
		d.rate = 1
		d.j.Emit(event.Engine, give, event.RateChanged{Rate: 1})
	case command.Speed:
		d.rate = c.Rate
		d.j.Emit(event.Engine, give, event.RateChanged{Rate: c.Rate})
	case command.Kubectl:
		done.Output = []string{"NAME                     READY   STATUS    RESTARTS   AGE", "nginx-6d4cf56db6-dcgw6   1/1     Running   0          13m", "web-7f9c8d4b5d-s649s     1/1     Running   0          13m"}
	}
	d.j.Emit(event.You, give, done)
}

// failing panics in the screen's own update.
type failing struct{ *demo }

func (failing) Do(command.Command) { panic("made to fail") }

// pty is a child process on a terminal that we play; it never answers a question.
type pty struct {
	t       *testing.T
	master  *os.File
	cmd     *exec.Cmd
	mu      sync.Mutex
	out     bytes.Buffer
	before  unix.Termios
	stalled atomic.Bool // we read nothing
	slave   *os.File
}

func startPty(t *testing.T, mode string, env ...string) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, slave: slave}
	if s, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err == nil {
		p.before = *s
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(append(os.Environ(), "KUBEVIZ_TUI_CHILD="+mode, "TERM=xterm-256color", "NO_COLOR="), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			for p.stalled.Load() {
				time.Sleep(10 * time.Millisecond)
			}
			n, err := master.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = slave.Close()
		_ = master.Close()
	})
	return p
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// until waits for text on the screen.
func (p *pty) until(what string, limit time.Duration) time.Duration {
	p.t.Helper()
	start := time.Now()
	for time.Since(start) < limit {
		if strings.Contains(p.text(), what) {
			return time.Since(start)
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.t.Fatalf("%q did not come within %v; there is %q", what, limit, tail(p.text()))
	return 0
}

func (p *pty) press(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the child and checks its exit code and that the terminal is as it was.
func (p *pty) ends(code int, limit time.Duration) {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		got := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		if got != code {
			p.t.Errorf("exit code %d, want %d; %q", got, code, tail(p.text()))
		}
	case <-time.After(limit):
		p.t.Fatalf("still running after %v", limit)
	}
	time.Sleep(50 * time.Millisecond)
	s, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	if *s != p.before {
		p.t.Error("the terminal's settings are not as they were")
	}
	out := p.text()
	for _, want := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?1006l"} {
		if !strings.Contains(out, want) {
			p.t.Errorf("%q was not sent", want)
		}
	}
	if last := strings.LastIndex(out, "\x1b[?1049h"); last > strings.LastIndex(out, "\x1b[?1049l") {
		p.t.Error("the alternate screen was left on")
	}
}

func tail(s string) string { return s[max(len(s)-600, 0):] }

func TestFirstFrameComesFastOnATerminalThatNeverAnswers(t *testing.T) {
	p := startPty(t, "live")
	took := p.until("master-2", 5*time.Second)
	t.Logf("first frame after %v", took)
	if took > time.Second {
		t.Errorf("first frame after %v, want under 1 s", took)
	}
	p.press("qq")
	p.ends(0, 3*time.Second)
}

func TestSignalsGiveTheTerminalBack(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		t.Run(sig.String(), func(t *testing.T) {
			p := startPty(t, "live")
			p.until("master-2", 5*time.Second)
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			p.ends(code, 5*time.Second)
		})
	}
}

func TestASignalEndsTheProgramEvenWhenTheTerminalIsStalled(t *testing.T) {
	p := startPty(t, "live")
	p.until("master-2", 5*time.Second)
	p.stalled.Store(true)
	for range 60 { // frames that nobody reads, until the terminal takes no more
		p.press("4")
		time.Sleep(15 * time.Millisecond)
		p.press("1")
		time.Sleep(15 * time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 143 {
			t.Errorf("%v, want exit code 143", err)
		}
	case <-time.After(watchdog + 2*time.Second):
		t.Fatal("still running after the watchdog's time")
	}
	if s, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS); err != nil || *s != p.before {
		t.Error("the terminal's settings are not as they were")
	}
}

func TestAStalledTerminalDoesNotStopTheEngine(t *testing.T) {
	heart := t.TempDir() + "/heart"
	p := startPty(t, "heart", "KUBEVIZ_TUI_HEART="+heart)
	p.until("master-2", 5*time.Second)
	beats := func() int {
		data, _ := os.ReadFile(heart)
		n, _ := strconv.Atoi(string(data))
		return n
	}
	p.stalled.Store(true)
	for range 40 { // until the terminal takes no more
		p.press("4")
		time.Sleep(10 * time.Millisecond)
		p.press("1")
		time.Sleep(10 * time.Millisecond)
	}
	before := beats()
	for limit := time.Now().Add(5 * time.Second); beats() < before+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d beats, then %d", before, beats())
		}
	}
	p.stalled.Store(false)
	p.press("\x03")
	p.ends(0, 5*time.Second)
}

// size tells the terminal another size, as a window manager does.
func (p *pty) size(w, h int) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(h), Col: uint16(w)}); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGWINCH)
}

func TestResizeStormsAndKeyFloodsAreSurvived(t *testing.T) {
	p := startPty(t, "live")
	p.until("master-2", 5*time.Second)
	for i := range 150 {
		p.size([]int{0, 1, 20, 80, 200, 500}[i%6], []int{0, 1, 10, 24, 60, 300}[(i/2)%6])
		if i%3 == 0 {
			p.press("jjjjkkkk\t\t[]{}<>12345/nginx\x1b")
		}
	}
	time.Sleep(200 * time.Millisecond)
	p.size(100, 30)
	for range 3 { // whatever is open; an escape alone is told from a sequence by time
		p.press("\x1b")
		time.Sleep(150 * time.Millisecond)
	}
	p.press("1")
	time.Sleep(300 * time.Millisecond)
	mark := len(p.text())
	p.press("?")
	for limit := time.Now().Add(5 * time.Second); !strings.Contains(p.text()[mark:], "keys, signs and words"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it does not answer any more: %q", tail(p.text()))
		}
	}
	p.press("\x03")
	p.ends(0, 5*time.Second)
}

func TestAQuietScreenWritesLittle(t *testing.T) {
	p := startPty(t, "live")
	p.until("master-2", 5*time.Second)
	// On a machine that is busy the beginning takes longer, and what is late is drawn at once; a screen that writes much does so in every second.
	least := math.MaxInt
	for range 10 {
		before := len(p.text())
		time.Sleep(time.Second)
		if least = min(least, len(p.text())-before); least <= 4000 { // a frame of 120x40 is about 10,000
			break
		}
	}
	t.Logf("%d bytes a second", least)
	if least > 4000 {
		t.Errorf("%d bytes in the quietest second while nothing happens but the clock", least)
	}
	p.press("\x03")
	p.ends(0, 3*time.Second)
}

func TestAPanicIsToldAfterTheTerminalIsGivenBack(t *testing.T) {
	for _, mode := range []string{"panic", "panic-update"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			p := startPty(t, mode, "KUBEVIZ_TUI_CRASH="+dir)
			p.until("master-2", 5*time.Second)
			p.press("\tK")
			p.ends(1, 5*time.Second)
			out := p.text()
			if at := strings.LastIndex(out, "made to fail"); at < 0 || at < strings.LastIndex(out, "\x1b[?1049l") {
				t.Errorf("the report is not after the end of the alternate screen: %q", tail(out))
			}
			files, _ := os.ReadDir(dir)
			if len(files) != 1 {
				t.Errorf("%d crash files, want 1", len(files))
			}
		})
	}
}

func TestAPasteWithoutAnEndDoesNotSwallowTheKeysAfterIt(t *testing.T) {
	p := startPty(t, "live")
	p.until("master-2", 5*time.Second)
	p.press("\x1b[200~" + strings.Repeat("x", 100))
	time.Sleep(1200 * time.Millisecond)
	p.press("qq")
	p.ends(0, 3*time.Second)
}

func TestStandardErrorStaysOffTheScreen(t *testing.T) {
	log := t.TempDir() + "/log"
	p := startPty(t, "stderr", "KUBEVIZ_TUI_LOG="+log)
	p.until("master-2", 5*time.Second)
	time.Sleep(700 * time.Millisecond)
	if strings.Contains(p.text(), "NOISE-ON-STDERR") {
		t.Error("it is on the screen")
	}
	if data, _ := os.ReadFile(log); !strings.Contains(string(data), "NOISE-ON-STDERR") {
		t.Error("it is not in the log")
	}
	p.press("qq")
	p.ends(0, 3*time.Second)
}

func TestWithoutATerminalThereIsOneLineAndCode2(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KUBEVIZ_TUI_CHILD=live", "TERM=xterm")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("%v, want exit code 2", err)
	}
	if !strings.Contains(string(out), "kubeviz run") || strings.Count(string(out), "\n") != 1 || strings.Contains(string(out), "\x1b") {
		t.Errorf("said %q", out)
	}
	p := startPty(t, "live", "TERM=dumb")
	p.until("kubeviz run", 3*time.Second)
}

func TestAVanishedTerminalEndsTheProgram(t *testing.T) {
	temp := t.TempDir()
	p := startPty(t, "live", "TMPDIR="+temp, "KUBEVIZ_TUI_LOG=")
	p.until("master-2", 5*time.Second)
	_ = p.slave.Close()
	_ = p.master.Close()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(6 * time.Second):
		t.Fatal("still running")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 { // a hang-up is noticed in several ways; none may cut the end short
		t.Errorf("it left %v behind (%v)", left, err)
	}
}
