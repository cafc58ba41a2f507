package child

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain makes this binary a stand-in for kubectl where it is called so.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "stand-in" {
		os.Exit(m.Run())
	}
	switch args := os.Args[2:]; args[0] {
	case "say":
		fmt.Println("out", os.Getenv("COLUMNS"))
		fmt.Fprint(os.Stderr, "err without an end")
		os.Exit(3)
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "many":
		w := bufio.NewWriter(os.Stdout)
		for i := range 10 * heldMax {
			fmt.Fprintln(w, i)
		}
		_ = w.Flush()
	case "watch":
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(os.Interrupt)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "__complete":
		fmt.Print("pods\tabout\npodtemplates\n:4\n")
		fmt.Fprintln(os.Stderr, "Completion ended with directive")
		if args[len(args)-1] == "slow" {
			time.Sleep(time.Hour)
		}
	}
	os.Exit(0)
}

func standIn() Kubectl {
	return Kubectl{Program: []string{os.Args[0], "stand-in"}, Kubeconfig: "/k", Cache: "/c", Home: "/h", UserHome: "/u", Servers: []string{"https://127.0.0.1:1", "https://127.0.0.1:2"}}
}

func start(t *testing.T, stdin io.Reader, args ...string) *Run {
	t.Helper()
	r, err := standIn().Start(args, stdin, 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Cancel(); r.Cancel(); <-r.Done() })
	return r
}

func TestLinesAndCode(t *testing.T) {
	all, code := start(t, nil, "say").Wait(t.Context())
	if code != 3 || len(all) != 2 || !slices.Contains(all, Line{"out 80", false}) || !slices.Contains(all, Line{"err without an end", true}) {
		t.Errorf("%v, %d", all, code)
	}
	long := strings.Repeat("x", lineMax+5)
	all, code = start(t, strings.NewReader("a\r\n\n"+long), "cat").Wait(t.Context())
	if want := []Line{{Text: "a"}, {}, {Text: long[:lineMax]}, {Text: "xxxxx"}}; code != 0 || !reflect.DeepEqual(all, want) {
		t.Errorf("%d lines, %d", len(all), code)
	}
}

func TestSlowReaderHoldsTheChildBack(t *testing.T) {
	r := start(t, nil, "many")
	for {
		r.mu.Lock()
		n := len(r.held)
		r.mu.Unlock()
		if n == heldMax {
			break
		}
		time.Sleep(time.Millisecond)
	}
	all, code := r.Wait(t.Context())
	if code != 0 || len(all) != 10*heldMax || all[len(all)-1].Text != fmt.Sprint(10*heldMax-1) {
		t.Errorf("%d lines, %d", len(all), code)
	}
}

func ready(t *testing.T, r *Run) {
	t.Helper()
	for {
		some, ended, _ := r.Pull()
		if len(some) > 0 {
			return
		}
		if ended {
			t.Fatal("ended before it was ready")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCancel(t *testing.T) {
	r := start(t, nil, "watch")
	ready(t, r)
	r.Cancel()
	<-r.Done()
	if _, _, code := r.Pull(); code != 130 && code != 2 { // Go's own handler exits with 2
		t.Errorf("interrupted: %d", code)
	}
	r = start(t, nil, "stubborn")
	ready(t, r)
	r.Cancel()
	r.Cancel()
	<-r.Done()
	if _, _, code := r.Pull(); code != 137 {
		t.Errorf("killed: %d", code)
	}
}

func TestComplete(t *testing.T) {
	got, err := standIn().Complete(t.Context(), []string{"get", "po"})
	if want := []Offer{{"pods", "about"}, {"podtemplates", ""}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := standIn().Complete(ctx, []string{"slow"}); err == nil {
		t.Errorf("%v without an error", got)
	}
}

func FuzzOffers(f *testing.F) {
	for _, s := range []string{"", "a\tb\n:4\n", ":1\n", "a\n", "_activeHelp_ x\n:0\n", ":x\n:4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, o := range offers(s) {
			if o.Word == "" || strings.ContainsAny(o.Word, "\t\n") {
				t.Fatalf("%q offers %q", s, o.Word)
			}
		}
	})
}

func TestEnvironmentLeadsNowhereElse(t *testing.T) {
	got := standIn().Environment([]string{"KUBECONFIG=/root/.kube/config", "HOME=/root", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERC=on", "EDITOR=vi", "KUBECACHEDIR=/x"})
	want := []string{"EDITOR=vi", "KUBECONFIG=/k", "KUBECACHEDIR=/c", "HOME=/h", "KUBEVIZ_USER_HOME=/u", "KUBEVIZ_SERVERS=https://127.0.0.1:1,https://127.0.0.1:2", "KUBECTL_KUBERC=false", "KUBERC=off"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestInteractive(t *testing.T) {
	for line, want := range map[string]Need{
		"edit deploy/nginx": Answers, "-n x edit pod a": Answers, "--namespace=x edit pod a": Answers, "-n edit get pods": NoTerminal, "get pods": NoTerminal, "create deployment a --edit": Answers,
		"apply edit-last-applied x": Answers, "apply -f x": NoTerminal, "delete pod a -i": Answers, "delete --interactive pod a": Answers, "delete pod a": NoTerminal, "delete -Ai pods": Answers,
		"delete pods -l i": NoTerminal, "delete pod -n -i a": NoTerminal, "delete pod a --interactive=false": NoTerminal, "delete pod a -f -i": NoTerminal, "delete pod a -i=false": NoTerminal,
		"exec -it a -- sh": Session, "exec a -ti -- sh": Session, "exec a -- ls -it": NoTerminal, "exec a -i": Session, "exec -n it a": NoTerminal, "exec --stdin --tty a": Session,
		"exec -itc b a -- sh": Session, "exec -c b a -- sh": NoTerminal, "exec -cit a -- sh": NoTerminal, "exec -c -it a": NoTerminal, "exec -itcb a -- sh": Session, "exec -ti=false a": Session,
		"exec --container -it a": NoTerminal, "exec --tty=false a -- ls": NoTerminal, "run x -it --image=b": Session, "run x --image=b": NoTerminal, "run x --image -it": NoTerminal,
		"run x --image=b -qi": Session, "debug node/a -it": Session, "attach a": NoTerminal, "attach -itn x a": Session, "logs -f a": NoTerminal, "logs -if a": NoTerminal,
	} {
		if got := Interactive(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
