package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// table puts the rows under each other. The ratio says how many times better raftstore is, whichever way better lies.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.TabIndent)
	fmt.Fprintln(w, "etcd\traftstore\ttimes better\tgoal\t\t what\t")
	for _, r := range rows {
		goal, met := "", ""
		if r.goal > 0 {
			goal, met = fmt.Sprintf("%.2f", r.goal), "missed"
			if r.goalAbsolute {
				goal = "<= " + r.show(r.goal)
			}
			if r.met() {
				met = "met"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\t%s\t %s\t\n", r.show(r.etcd), r.show(r.ours), r.ratio(), goal, met, r.what)
	}
	w.Flush()
	return b.String()
}

func count(v float64) string    { return fmt.Sprintf("%.0f", v) }
func fraction(v float64) string { return fmt.Sprintf("%.2f", v) }

func duration(v float64) string {
	d := time.Duration(v)
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

func megabytes(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }
