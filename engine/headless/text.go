package headless

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Width is the widest line of a report in cells.
const Width = 80

// How many entries of each list a report shows (the JSON form holds all), and the cells of the column of pod names at most.
const (
	commandsShown  = 20
	electionsShown = 10
	nodesShown     = 12
	podsShown      = 25
	podNameWidth   = 46
)

// WriteText writes a report for people: plain text, at most 80 columns. What is not as it should be is listed first, and what is left out is counted.
func WriteText(w io.Writer, s Summary) error {
	r := report{out: bufio.NewWriter(w)}
	r.line("%s of simulated time in %s  (seed %d)", shortDuration(s.VirtualTime), shortDuration(s.WallTime), s.Seed)
	r.raft(s.Raft)
	r.nodes(s.Nodes)
	r.pods(s.Pods)
	r.requests(s.Requests)
	r.commands(s.Commands)
	if err := r.out.Flush(); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

type report struct{ out *bufio.Writer }

// line writes one line, cut to the width.
func (r *report) line(format string, args ...any) {
	text := strings.TrimRight(fit(fmt.Sprintf(format, args...), Width), " ")
	r.out.WriteString(text)
	r.out.WriteByte('\n')
}

// wrapped writes text behind a head, on as many lines as it takes.
func (r *report) wrapped(head, text string) {
	for i, l := range wrap(printable(text), Width-utf8.RuneCountInString(head)) {
		if i > 0 {
			head = strings.Repeat(" ", utf8.RuneCountInString(head))
		}
		r.line("%s%s", head, l)
	}
}

func (r *report) section(name, format string, args ...any) {
	r.line("")
	r.line("%-11s%s", name, fmt.Sprintf(format, args...))
}

func (r *report) raft(s Raft) {
	if len(s.Members) == 0 {
		r.section("store", "in memory, without raft")
		return
	}
	leader := "no leader"
	if s.Leader != "" {
		leader = s.Leader + " leads"
	}
	lose := fmt.Sprintf("can lose %d", s.CanLose)
	if s.CanLose < 0 {
		lose = fmt.Sprintf("lost, %d missing", -s.CanLose)
	}
	r.section("store", "%s, term %d, %d of %d voters up, quorum %d, %s", leader, s.Term, s.Up, s.Voters, s.Quorum, lose)
	for _, m := range s.Members {
		role := m.Role
		if !m.Up {
			role = "down"
		}
		r.line("  %-24s %-10s term %-4d log %-8d committed %d", fit(m.Name, 24), role, m.Term, m.LastIndex, m.CommitIndex)
	}
	if len(s.Removed) > 0 {
		r.wrapped("  removed: ", strings.Join(s.Removed, ", "))
	}
	for _, t := range s.Troubles {
		r.wrapped("  ! ", t.Text)
		if len(t.Mend) > 0 {
			r.wrapped("    mend: ", strings.Join(t.Mend, ", then "))
		}
	}
	r.more("earlier elections", len(s.Elections)-electionsShown)
	for _, e := range last(s.Elections, electionsShown) {
		switch {
		case e.Anew:
			r.line("  at %-12s %s was elected for term %d of the store begun anew", shortDuration(e.At), e.To, e.Term)
			continue
		case e.From == "":
			r.line("  at %-12s %s was elected for term %d", shortDuration(e.At), e.To, e.Term)
			continue
		case e.From == e.To:
			r.line("  at %-12s %s was elected again, term %d, after %s simulated", shortDuration(e.At), e.To, e.Term, milliseconds(e.VirtualMs))
			continue
		}
		r.line("  at %-12s %s took over from %s, term %d, after %s simulated", shortDuration(e.At), e.To, e.From, e.Term, milliseconds(e.VirtualMs))
	}
}

func (r *report) nodes(nodes []Node) {
	ready := 0
	for _, n := range nodes {
		if n.Ready {
			ready++
		}
	}
	r.section("nodes", "%d of %d ready", ready, len(nodes))
	nodes = append([]Node(nil), nodes...)
	sort.SliceStable(nodes, func(i, j int) bool { return !nodes[i].Ready && nodes[j].Ready })
	for _, n := range first(nodes, nodesShown) {
		state := "Ready"
		if !n.Ready {
			state = "NotReady"
		}
		why := ""
		if !n.Ready {
			why = n.Reason
		}
		r.line("  %-24s %-9s %-14s %4d pods  %s", fit(n.Name, 24), state, n.Role, n.Pods, why)
	}
	r.more("more nodes", len(nodes)-nodesShown)
}

func (r *report) pods(pods []Pod) {
	ready, byStatus := 0, map[string]int{}
	for _, p := range pods {
		if p.Ready {
			ready++
		}
		byStatus[p.Status]++
	}
	r.section("pods", "%d of %d ready%s", ready, len(pods), counts(byStatus))
	pods = append([]Pod(nil), pods...)
	sort.SliceStable(pods, func(i, j int) bool { return !pods[i].settled() && pods[j].settled() })
	width := 0
	for _, p := range first(pods, podsShown) {
		width = max(width, utf8.RuneCountInString(p.Namespace)+1+utf8.RuneCountInString(p.Name))
	}
	width = min(width, podNameWidth)
	for _, p := range first(pods, podsShown) {
		restarts := ""
		if p.Restarts > 0 {
			restarts = fmt.Sprintf(" %d restarts", p.Restarts)
		}
		r.line("  %-*s  %-17s %s%s", width, fit(p.Namespace+"/"+p.Name, width), p.Status, p.Node, restarts)
	}
	r.more("more pods", len(pods)-podsShown)
}

// settled pods need no attention.
func (p Pod) settled() bool { return p.Ready || p.Phase == "Succeeded" }

func (r *report) requests(q Requests) {
	r.section("requests", "%d answered%s", q.Total, counts(q.ByCode))
}

func (r *report) commands(list []Command) {
	if len(list) == 0 {
		return
	}
	failed := 0
	for _, c := range list {
		if c.Error != "" {
			failed++
		}
	}
	r.section("commands", "%d given, %d failed", len(list), failed)
	r.more("earlier commands", len(list)-commandsShown)
	for _, c := range last(list, commandsShown) {
		r.line("  at %-12s %s", shortDuration(c.At), c.Text)
		if c.Error != "" {
			for _, l := range wrap("failed: "+printable(c.Error), Width-18) {
				r.line("  %15s %s", "", l)
			}
		}
	}
}

func (r *report) more(what string, n int) {
	if n > 0 {
		r.line("  … and %d %s", n, what)
	}
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }
func last[T any](list []T, n int) []T  { return list[max(0, len(list)-n):] }

// counts lists how many of each, the most frequent first: ": 12 Running, 2 Pending".
func counts(m map[string]int) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if m[keys[i]] != m[keys[j]] {
			return m[keys[i]] > m[keys[j]]
		}
		return keys[i] < keys[j]
	})
	s := ""
	for i, k := range keys {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		s += fmt.Sprintf("%s%d %s", sep, m[k], k)
	}
	return s
}

// shortDuration rounds Go's notation to what people read: "5m0.000213s" becomes "5m0s".
func shortDuration(s string) string {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return s
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}

func milliseconds(ms int64) string {
	return shortDuration((time.Duration(ms) * time.Millisecond).String())
}

// fit makes text printable and cuts it to a width.
func fit(text string, width int) string {
	text = printable(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// printable replaces what would act on a terminal.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || c == '\r' {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, text)
}

// wrap breaks text between words into lines of at most width.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
