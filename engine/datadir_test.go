package engine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/kubeviz/engine/scenario"
)

func TestAClockThatCannotBeRightIsRefusedByName(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		text, refused string
		want          time.Time
	}{
		"an instant":           {"2026-02-01T00:00:00.5Z\n", "", start.Add(12*time.Hour + 500*time.Millisecond)},
		"one of long ago":      {"2020-02-01T00:00:00Z", "", time.Date(2020, 2, 1, 0, 0, 0, 0, time.UTC)},
		"years of fast runs":   {"2035-12-31T00:00:00Z", "", time.Date(2035, 12, 31, 0, 0, 0, 0, time.UTC)},
		"rubbish":              {"rubbish", `says "rubbish"; write the right instant`, time.Time{}},
		"nothing":              {"", "says \"\"", time.Time{}},
		"the end of all years": {"9999-12-31T00:00:00Z", "more than ten years after this start", time.Time{}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, clockFile)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		at, notice, err := clockIn(dir, start, start)
		if tt.refused == "" && (err != nil || !at.Equal(tt.want) || notice != "") {
			t.Errorf("%s: %v, %q, %v", name, at, notice, err)
		}
		if tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, want …%s…", name, err, tt.refused)
		}
	}
	dir := t.TempDir()
	if at, notice, err := clockIn(dir, start, start); !at.IsZero() || notice != "" || err != nil {
		t.Errorf("a new folder: %v, %q, %v", at, notice, err)
	}
	if err := os.Mkdir(filepath.Join(dir, storeFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if at, notice, err := clockIn(dir, start, start); !at.IsZero() || !strings.Contains(notice, "starts again at 2026-01-31T12:00:00Z") || err != nil {
		t.Errorf("a store without a clock: %v, %q, %v", at, notice, err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, clockFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := clockIn(dir, start, start); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a named pipe: %v", err)
	}
}

// What would fail at the end of a run is told at its start.
func TestAClockThatCannotBeWrittenIsToldAtTheStart(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("to root nothing is forbidden")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, clockFile), []byte("2026-01-31T12:00:00Z\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{Name: "clock", Cluster: scenario.Cluster{Masters: 1}}
	s.Default()
	e, err := New(Options{Scenario: s, Store: StoreRaft, DataDir: dir})
	if err == nil {
		e.Close()
	}
	if err == nil || !strings.Contains(err.Error(), clockFile) {
		t.Errorf("%v", err)
	}
}
