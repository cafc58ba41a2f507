package columns

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
)

// recorded is the Table of every kind that a v1.37.2 API server lists.
func recorded(t *testing.T) map[string][]metav1.TableColumnDefinition {
	t.Helper()
	raw, err := os.ReadFile("testdata/columns.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]metav1.TableColumnDefinition
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestColumnsAreThoseOfTheRealServer(t *testing.T) {
	all := recorded(t)
	for _, k := range append(kinds.All(), kinds.ComponentStatuses) {
		names := []string{k.APIVersion() + "/" + k.Resource}
		for _, f := range k.Faces {
			names = append(names, f.GVK().GroupVersion().String()+"/"+k.Resource)
		}
		for _, name := range names {
			want, ok := all[name]
			if !ok {
				t.Errorf("%s is not recorded", name)
				continue
			}
			got := Of(k)
			if len(got) != len(want) {
				t.Errorf("%s has %d columns, want %d", name, len(got), len(want))
				continue
			}
			for i, c := range got {
				if w := want[i]; c.Name != w.Name || c.Type != w.Type || c.Format != w.Format || c.Priority != w.Priority {
					t.Errorf("%s, column %d: %s %s %q %d, want %+v", name, i, c.Name, c.Type, c.Format, c.Priority, w)
				}
				if c.Header != strings.ToUpper(c.Name) || c.Value == nil || c.Rank == nil {
					t.Errorf("%s, column %s is not whole", name, c.Name)
				}
			}
		}
	}
}

// Descriptions come from the API's own documentation by the name of a field; a wrong name would give none. Two have none in the real server either.
func TestColumnsAreDescribed(t *testing.T) {
	for _, k := range kinds.All() {
		for _, c := range Of(k) {
			if c.Description == "" && !(k == kinds.RuntimeClasses && c.Name == "Handler") {
				t.Errorf("%s: column %s says nothing of itself", k, c.Name)
			}
		}
	}
}

// Every column bears every kind's empty object, and is silent about an object of another type.
func TestNoObjectIsTooEmptyOrTooStrange(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, k := range kinds.All() {
		own, other := k.New(), kinds.Object(&corev1.LimitRange{})
		for _, c := range Of(k) {
			c.Rank(own)
			switch v := c.Value(own, now).(type) {
			case string, int64, bool, time.Time:
			default:
				t.Errorf("%s: the empty object's cell %s is a %T", k, c.Name, v)
			}
			if v := c.Value(other, now); v != nil && c.Name != "Name" && c.Name != "Age" && c.Name != "Created At" && k != kinds.LimitRanges {
				t.Errorf("%s: the cell %s of another kind's object is %v", k, c.Name, v)
			}
			if c.Among != nil {
				c.Among([]kinds.Object{own, other})(other, now)
			}
		}
	}
}

func TestTextIsOneLineThatNoTerminalObeys(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"ünïcödé ☃":       "ünïcödé ☃",
		"two\nlines":      "two...",
		"form\ffeed":      "form...",
		"\rback":          "...",
		"red\x1b[31m":     "red^[[31m",
		"bell\a nul\x00":  "bell^G nul^@",
		"tab\tstop":       "tab^Istop",
		"del\x7f":         "del^?",
		"c1\u009b31m":     "c1\\u009b31m",
		"broken \xff\xfe": "broken \xff\xfe",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, c := range []struct {
		v    any
		want string
	}{{nil, "<none>"}, {int64(7), "7"}, {true, "true"}, {1.5, "1.5"}, {time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)), "2026-03-01T12:00:00Z"}} {
		if got := Text(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestRanksPutTheYoungestFirstAndTheEmptiestBelow(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	column := func(header string) Column {
		for _, c := range Of(kinds.Pods) {
			if c.Header == header {
				return c
			}
		}
		t.Fatal(header)
		return Column{}
	}
	young := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2)}}
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}
	if a := column("AGE"); a.Rank(young).Number >= a.Rank(old).Number {
		t.Error("a young pod does not rank below an old one by age")
	}
	if r := column("READY"); r.Rank(young).Number >= r.Rank(old).Number {
		t.Error("0 of 2 does not rank below 0 of 1")
	}
}
