package running

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func publish(t *testing.T, dir, name string, at time.Time) *Entry {
	t.Helper()
	e, err := Publish(dir, name, []string{"https://127.0.0.1:6443"}, []byte("kind: Config\n"), at)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNewestIsFoundAndOthersByName(t *testing.T) {
	dir := t.TempDir()
	if _, err := Find(dir, ""); err == nil || !strings.Contains(err.Error(), "no cluster is running") {
		t.Fatalf("%v", err)
	}
	first, second := publish(t, dir, "ha", day.Add(time.Second)), publish(t, dir, "ha", day)
	third := publish(t, dir, "demo", day.Add(-time.Hour))
	if first.Name != "ha" || second.Name != "ha-2" {
		t.Fatalf("%s, %s", first.Name, second.Name)
	}
	if c, err := Find(dir, ""); err != nil || c.Name != "ha" {
		t.Fatalf("%+v, %v", c, err)
	}
	c, err := Find(dir, "demo")
	if err != nil || c.Kubeconfig() != third.Kubeconfig() || len(c.Servers) != 1 || c.Servers[0] != "https://127.0.0.1:6443" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := Find(dir, "x"); err == nil || !strings.Contains(err.Error(), "there is ha, ha-2, demo") {
		t.Fatalf("%v", err)
	}
	for _, e := range []*Entry{first, second, third} {
		for path, mode := range map[string]os.FileMode{e.Kubeconfig(): 0o600, filepath.Dir(e.Kubeconfig()): 0o700, e.Cache(): 0o700, e.Home(): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	dir := t.TempDir()
	dead := publish(t, dir, "dead", day.Add(time.Hour))
	release(dead.lock) // what the kernel does with the process
	living := publish(t, dir, "living", day)
	defer living.Close()
	if all := List(dir); len(all) != 1 || all[0].Name != "living" {
		t.Fatalf("%+v", all)
	}
	if _, err := os.Stat(filepath.Dir(dead.Kubeconfig())); !os.IsNotExist(err) {
		t.Fatalf("the folder of the dead one is there: %v", err)
	}
}

func TestWhatIsNoClusterIsPassedBy(t *testing.T) {
	dir := t.TempDir()
	making := filepath.Join(dir, "making")
	if err := os.Mkdir(making, 0o700); err != nil {
		t.Fatal(err)
	}
	e := publish(t, dir, "odd", day)
	defer e.Close()
	if err := os.WriteFile(filepath.Join(e.dir, about), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := List(dir); len(all) != 0 {
		t.Fatalf("%+v", all)
	}
	if _, err := os.Stat(making); err != nil {
		t.Fatal("a folder that is being made was swept")
	}
	for _, name := range []string{"", "../x", "a/b", ".hidden"} {
		if _, err := Publish(dir, name, nil, nil, day); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

func TestDirectoryIsPrivate(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", base)
	dir, err := Directory()
	if err != nil || dir != filepath.Join(base, "kubeviz") {
		t.Fatalf("%s, %v", dir, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Directory(); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Fatalf("%v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Directory(); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Fatalf("%v", err)
	}
}

func TestNamesOfScenariosBecomeNamesOfFolders(t *testing.T) {
	for title, want := range map[string]string{"ha": "ha", "my cluster": "my-cluster", "../../etc": "etc", "": "cluster", "é": "cluster", "-x": "x", strings.Repeat("a", 300): strings.Repeat("a", 60)} {
		if got := NameFor(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
}
