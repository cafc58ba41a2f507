package tui

import (
	"fmt"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
)

// orders are what the user has asked of the cluster and what has not come true yet.
type orders struct {
	pending []string        // whose answer is to be shown
	wants   map[string]want // replicas asked for, until the cluster has them
	rate    float64         // speed asked for, until the cluster has it; 0: none
}

type want struct {
	replicas int
	at       time.Time // wall
}

// pendingMax bounds the orders whose answer is waited for.
const pendingMax = 64

func newOrders() orders { return orders{wants: map[string]want{}} }

// mine reports whether the answer to an order is for us, once for each time it was given.
func (o *orders) mine(text string) bool {
	for i, p := range o.pending {
		if p == text {
			o.pending = append(o.pending[:i], o.pending[i+1:]...)
			return true
		}
	}
	return false
}

// heard forgets what has come true.
func (o *orders) heard(w *world.World) {
	if w.Rate == o.rate {
		o.rate = 0
	}
}

// do gives an order to the cluster.
func (m *model) do(c command.Command) {
	refused := ""
	switch {
	case m.cluster == nil:
		refused = m.words.Say("not.recording")
	case !m.reader.Live():
		refused = m.words.Say("not.past")
	}
	switch {
	case refused != "" && m.console.open:
		m.console.print(feed.Answer{Text: c.String(), Error: refused})
		m.touch()
		return
	case refused != "":
		m.say(refused, theme.Waiting)
		return
	}
	m.orders.pending = append(m.orders.pending, c.String())
	if len(m.orders.pending) > pendingMax {
		m.orders.pending = m.orders.pending[1:]
	}
	m.cluster.Do(c)
	if w := m.reader.Head(); w.Rate == 0 && !w.Unpaced && !w.Start.IsZero() {
		if _, ok := c.(command.Kubectl); ok { // requests travel in simulated time
			m.say(m.words.Say("toast.waits"), theme.Waiting)
		}
	}
	m.touch()
}

// order makes the command for an intent about the selection; nil: there is none.
func (m *model) order(i intent.Intent, f view.Frame) command.Command {
	t := f.Selected
	host, process, _ := keymap.Machine(t)
	name := host
	if process != "" {
		name += "/" + process
	}
	switch i := i.(type) {
	case intent.Power:
		if t.Kind == scene.Pod {
			return command.Crash{Namespace: t.Namespace, Pod: t.Name, Code: 1}
		}
		verb := command.Kill
		if keymap.Down(f) {
			verb = command.Start
		}
		return command.Power{Verb: verb, Target: name}
	case intent.Restart:
		return command.Power{Verb: command.Restart, Target: name}
	case intent.Wipe:
		return command.Wipe{Target: host}
	case intent.Cut:
		if keymap.Cut(f) {
			return command.Heal{Target: host}
		}
		return command.Cut{A: host, B: "all"}
	case intent.HealAll:
		return command.Heal{}
	case intent.Delete:
		return remove(t)
	case intent.Scale:
		return m.scale(i.By, f)
	}
	return nil
}

// scale counts from what was asked for last, because the cluster may not have it yet.
func (m *model) scale(by int, f view.Frame) command.Command {
	namespace, name, now, ok := keymap.DeploymentOf(f)
	if !ok {
		return nil
	}
	key := namespace + "/" + name
	if asked, ok := m.orders.wants[key]; ok && m.clock().Sub(asked.at) < toastTime {
		now = asked.replicas
	}
	next := max(now+by, 0)
	m.orders.wants[key] = want{next, m.clock()}
	return command.Kubectl{Args: []string{"scale", "deployment", name, fmt.Sprintf("--replicas=%d", next), "-n", namespace}}
}

// remove deletes an object as kubectl would.
func remove(t target.Target) command.Command {
	what := "pod"
	if t.Kind == target.Object {
		what = t.Type
	}
	args := []string{"delete", what, t.Name}
	if t.Namespace != "" {
		args = append(args, "-n", t.Namespace)
	}
	return command.Kubectl{Args: args}
}
