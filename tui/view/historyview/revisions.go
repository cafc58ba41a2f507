package historyview

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/diff"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
)

// Limits of the page: revisions that are listed, records about the object that are looked through, fields of one comparison.
const (
	revisionsMost = 2000
	recordsMost   = 20000
	changesMost   = 400
	phrasesMost   = 3
)

// revision of an object.
type revision struct {
	seq event.Seq
	// before is the record of the revision before; 0: there is none that is remembered.
	before event.Seq
}

// cache is what the page remembers between frames; all of it can be made again.
type cache struct {
	of   target.Target
	seq  event.Seq // of the World that list was made at
	list []revision
	// cut: there are older revisions than those listed, or they are no longer in memory.
	cut     bool
	changes map[event.Seq]change
}

// change is one revision compared with the one before.
type change struct {
	diff   diff.Result
	who    string
	phrase string
	style  grid.Style
}

// advance brings the list up to the World, the newest revision first.
func (c *cache) advance(f view.Frame, of target.Target) {
	if c.of == of && c.seq == f.World.Seq {
		return
	}
	if c.of != of || c.changes == nil || len(c.changes) > 4*revisionsMost {
		c.changes = map[event.Seq]change{}
	}
	c.of, c.seq, c.list, c.cut = of, f.World.Seq, c.list[:0], false
	all := f.About(of)
	for i := len(all) - 1; i >= 0; i-- {
		if len(c.list) >= revisionsMost || len(all)-i > recordsMost {
			c.cut = true
			break
		}
		r, ok := f.Record(all[i])
		if !ok {
			c.cut = true
			break
		}
		if e, ok := r.Event.(event.ObjectChanged); ok && e.Object != nil {
			if n := len(c.list); n > 0 {
				c.list[n-1].before = r.Seq
			}
			c.list = append(c.list, revision{seq: r.Seq})
		}
	}
	if n := len(c.list); n > 0 && !c.cut {
		if r, ok := f.Record(c.list[n-1].seq); ok {
			e := r.Event.(event.ObjectChanged)
			c.cut = e.Type != event.Added
		}
	}
}

// change compares a revision with the one before.
func (c *cache) change(f view.Frame, v revision) change {
	if ch, ok := c.changes[v.seq]; ok {
		return ch
	}
	r, ok := f.Record(v.seq)
	if !ok {
		return change{}
	}
	e := r.Event.(event.ObjectChanged)
	var old kinds.Object
	if b, ok := f.Record(v.before); ok {
		if o, ok := b.Event.(event.ObjectChanged); ok && o.Type != event.Deleted {
			old = o.Object
		}
	}
	ch := change{who: describe.Who(f, r)}
	if old == nil && e.Type != event.Added { // the one before is forgotten: nothing to compare with
		ch.phrase, ch.style = f.Words.Say("history.no-before"), theme.Dim
	} else {
		ch.diff = diff.Of(old, e.Object, changesMost)
		ch.phrase, ch.style = phrase(f, e, old, ch.diff)
	}
	c.changes[v.seq] = ch
	return ch
}

// phrase says what a revision changed, the weightiest first.
func phrase(f view.Frame, e event.ObjectChanged, old kinds.Object, d diff.Result) (string, grid.Style) {
	say := f.Words.Say
	switch {
	case e.Type == event.Deleted:
		return say("history.deleted"), theme.Failing
	case old == nil:
		return say("history.created"), theme.OK
	}
	var parts []string
	style := theme.Text
	add := func(s grid.Style, text string) {
		if len(parts) == 0 {
			style = s
		}
		parts = append(parts, text)
	}
	if old.GetDeletionTimestamp() == nil && e.Object.GetDeletionTimestamp() != nil {
		grace := 0
		if g := e.Object.GetDeletionGracePeriodSeconds(); g != nil {
			grace = int(*g)
		}
		add(theme.Waiting, say("history.deletion", "n", grace))
	}
	switch now := e.Object.(type) {
	case *corev1.Pod:
		was, ok := old.(*corev1.Pod)
		if !ok {
			break
		}
		if was.Spec.NodeName == "" && now.Spec.NodeName != "" {
			add(theme.OK, say("history.bound", "node", now.Spec.NodeName))
		}
		a, b := kinds.ColumnsOf(was), kinds.ColumnsOf(now)
		if a.Status != b.Status {
			s := theme.Text
			if strings.Contains(b.Status, "BackOff") || strings.Contains(b.Status, "Err") {
				s = theme.Failing
			}
			add(s, arrow("", a.Status, b.Status))
		}
		if a.Ready != b.Ready || a.Total != b.Total {
			add(theme.Text, arrow("ready", fmt.Sprintf("%d/%d", a.Ready, a.Total), fmt.Sprintf("%d/%d", b.Ready, b.Total)))
		}
		if a.Restarts != b.Restarts {
			add(theme.Waiting, arrow("restarts", fmt.Sprint(a.Restarts), fmt.Sprint(b.Restarts)))
		}
	case *corev1.Node:
		was, ok := old.(*corev1.Node)
		if !ok {
			break
		}
		if a, b := kinds.NodeStatus(was), kinds.NodeStatus(now); a != b {
			s := theme.OK
			if b != "Ready" {
				s = theme.Failing
			}
			add(s, arrow("", a, b))
		}
		for _, t := range lessTaints(now.Spec.Taints, was.Spec.Taints) {
			add(theme.Waiting, say("history.tainted", "taint", t))
		}
		for _, t := range lessTaints(was.Spec.Taints, now.Spec.Taints) {
			add(theme.OK, say("history.untainted", "taint", t))
		}
		if len(parts) == 0 && onlyHeartbeat(d) {
			add(theme.Dim, say("history.heartbeat"))
		}
	case *appsv1.Deployment:
		if was, ok := old.(*appsv1.Deployment); ok {
			a, b := was.Status, now.Status
			if a.ReadyReplicas != b.ReadyReplicas {
				add(theme.Text, arrow("ready", fmt.Sprint(a.ReadyReplicas), fmt.Sprint(b.ReadyReplicas)))
			}
		}
	}
	if len(parts) == 0 {
		names := fields(d, phrasesMost)
		if len(names) == 0 && len(d.Changes) > 0 {
			names = append(names, say("history.more", "n", len(d.Changes)+d.More))
		}
		parts = names
	}
	return strings.Join(parts, ", "), style
}

func arrow(name, from, to string) string {
	if name != "" {
		name += " "
	}
	return fmt.Sprintf("%s%s %c %s", name, sanitize.Text(from), grid.RightTo, sanitize.Text(to))
}

// fields names the first n changes that are of weight: what was asked for, and what is not a mere time. All that changed of a condition is one.
func fields(d diff.Result, n int) []string {
	var out []string
	told := map[string]bool{}
	for _, c := range d.Changes {
		if len(out) >= n {
			break
		}
		if minor(c) {
			continue
		}
		if kind := conditionOf(c.Path); kind != "" {
			if !told[kind] {
				told[kind] = true
				out = append(out, conditionPhrase(d, kind))
			}
			continue
		}
		name := sanitize.Text(strings.TrimPrefix(strings.TrimPrefix(c.Field(), "spec."), "status."))
		switch c.Op {
		case diff.Changed:
			out = append(out, arrow(name, brief(c.Old), brief(c.New)))
		case diff.Added:
			out = append(out, "+"+name+"="+brief(c.New))
		case diff.Removed:
			out = append(out, "-"+name)
		case diff.Moved:
			out = append(out, name)
		}
	}
	return out
}

// conditionOf is the type of the condition that a path leads into; "" for others.
func conditionOf(path []string) string {
	for _, p := range path[:len(path)-1] {
		if kind, ok := strings.CutPrefix(p, "conditions["); ok {
			return strings.TrimSuffix(kind, "]")
		}
	}
	return ""
}

// conditionPhrase is a condition's status and reason as they are now: "Available False > True", "Progressing NewReplicaSetCreated".
func conditionPhrase(d diff.Result, kind string) string {
	status, reason := "", ""
	for _, c := range d.Changes {
		if conditionOf(c.Path) != kind {
			continue
		}
		switch c.Path[len(c.Path)-1] {
		case "status":
			status = brief(c.New)
			if c.Op == diff.Changed {
				status = arrow("", brief(c.Old), brief(c.New))
			}
		case "reason":
			reason = brief(c.New)
		}
	}
	return strings.Join(strings.Fields(sanitize.Text(kind)+" "+status+" "+reason), " ")
}

// minor are changes that a phrase can do without.
func minor(c diff.Change) bool {
	switch last := c.Path[len(c.Path)-1]; last {
	case "lastHeartbeatTime", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "observedGeneration", "generation", "renewTime", "message":
		return true
	}
	return false
}

func onlyHeartbeat(d diff.Result) bool {
	for _, c := range d.Changes {
		if c.Path[len(c.Path)-1] != "lastHeartbeatTime" {
			return false
		}
	}
	return len(d.Changes) > 0
}

func brief(s string) string { return grid.Cut(sanitize.Text(s), 40) }

// lessTaints lists the taints of a that are not in b.
func lessTaints(a, b []corev1.Taint) []string {
	have := map[string]bool{}
	for i := range b {
		have[b[i].ToString()] = true
	}
	var out []string
	for i := range a {
		if t := a[i].ToString(); !have[t] {
			out = append(out, t)
		}
	}
	return out
}
