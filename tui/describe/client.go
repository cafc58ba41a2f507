package describe

import (
	"strconv"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// clientsMost bounds the clients of a program, and the watches of a client, that a page lists.
const clientsMost = 200

// outside is a client from outside, or the clients of one program; a person of whom only the name is known has no more than that.
func (r *rows) outside(f view.Frame, name string) {
	if name == motion.Others {
		r.programs(f)
		return
	}
	if program := motion.ProgramOf(name); program != "" {
		r.programOf(f, program)
		return
	}
	say := f.Words.Say
	c, ok := f.World.Client(name)
	if !ok {
		if event.Actor(name).Host() != "" {
			r.line(say("detail.state"), widget.S(string(still.Symbol)+" "+say("detail.client-gone"), theme.Dim))
		}
		return
	}
	r.line(say("detail.state"), widget.S(string(fine.Symbol)+" "+say("detail.client-here", "since", age(f.Now, c.At)), theme.OK)).Seq = c.Seq
	r.who(f, c.User, c.As)
	if c.UserAgent != "" {
		r.field(say("detail.client-agent"), c.UserAgent, theme.Text)
	}
	if c.Command != "" {
		r.field(say("detail.client-command"), c.Command, theme.Text)
	}
	r.way(f, c.Door, c.Server)
	r.asked(f, c.Asked, c.Failed, c.InFlight)
	f.World.InFlight(c.Seq, func(seq event.Seq) bool {
		if q, ok := f.Record(seq); ok {
			if e, is := q.Event.(event.RequestReceived); is {
				r.line("", widget.S(sanitize.Text(e.Verb+" "+e.Resource+" "+e.ObjectName)+"  ", theme.Busy), widget.S(say("detail.client-waits", "since", age(f.Now, q.At)), theme.Waiting)).Seq = seq
			}
		}
		return true
	})
	if c.Slow > 0 {
		r.line("", widget.S(say("detail.client-slow", "n", c.Slow), theme.Waiting))
	}
	n := 0
	f.World.WatchesOf(c.Client, func(o *world.Watch) bool {
		if n++; n == 1 {
			r.title(say("detail.client-watches"))
		}
		if n > clientsMost {
			return true
		}
		what := o.Resource
		if o.Namespace != "" {
			what += " -n " + o.Namespace
		}
		row := r.line(clock(f, o.At), widget.S(padTo(sanitize.Text(what), 22)+" ", theme.Title), widget.S(sanitize.Text(o.Server)+"  ", theme.Text), widget.S(sanitize.Text(o.Selector), theme.Text))
		if o.Revision > 0 {
			row.Line = append(row.Line, widget.S("  "+say("detail.watch-from", "revision", o.Revision), theme.Dim))
		}
		if o.Behind > 0 {
			row.Line = append(row.Line, widget.S("  "+say("detail.behind", "n", o.Behind, "since", age(f.Now, o.BehindSince)), theme.Waiting))
		}
		row.Seq, row.Target = o.Seq, target.Target{Kind: target.Process, Host: o.Server, Process: "apiserver"}
		return true
	})
	if n > clientsMost {
		r.line("", widget.S(say("detail.more", "n", n-clientsMost), theme.Dim))
	}
}

// programOf lists the clients of one program and user.
func (r *rows) programOf(f view.Frame, key string) {
	say := f.Words.Say
	p, ok := f.World.Programs.Get(key)
	if !ok {
		r.line(say("detail.state"), widget.S(string(still.Symbol)+" "+say("detail.client-gone"), theme.Dim))
		return
	}
	style, sign := theme.OK, fine.Symbol
	if p.Present == 0 {
		style, sign = theme.Dim, still.Symbol
	}
	r.line(say("detail.state"), widget.S(string(sign)+" "+say("detail.program", "n", p.Present, "came", p.Came), style))
	r.who(f, p.User, "")
	r.asked(f, p.Asked, p.Failed, 0)
	n := 0
	f.World.Clients.Scan(func(_ event.Seq, c *world.Client) bool {
		if c.Program() != key {
			return true
		}
		if n++; n == 1 {
			r.title(say("detail.clients"))
		}
		if n > clientsMost {
			return true
		}
		watches := 0
		f.World.WatchesOf(c.Client, func(*world.Watch) bool { watches++; return true })
		row := r.line(sanitize.Text(c.Client.Component()), widget.S(padTo(c.Door, 10)+" ", theme.Text), widget.S(say("detail.client-row", "asked", c.Asked, "failed", c.Failed, "flight", c.InFlight, "watches", watches)+"  ", theme.Text),
			widget.S(sanitize.Text(c.Command), theme.Dim))
		if c.Behind > 0 {
			row.Line = append(row.Line, widget.S("  "+say("detail.client-behind", "n", c.Behind), theme.Waiting))
		}
		row.Target, row.Seq = target.Target{Kind: target.Client, Name: string(c.Client)}, c.Seq
		return true
	})
	if n > clientsMost {
		r.line("", widget.S(say("detail.more", "n", n-clientsMost), theme.Dim))
	}
}

// programs lists all programs from outside.
func (r *rows) programs(f view.Frame) {
	say := f.Words.Say
	r.title(say("detail.programs"))
	n := 0
	f.World.Programs.Scan(func(key string, p *world.Program) bool {
		if n++; n > clientsMost {
			return false
		}
		st := fine
		if p.Present <= 0 {
			st = still
		}
		row := r.line(sanitize.Text(p.Name), widget.S(string(st.Symbol)+" ", st.Style), widget.S(say("detail.program-row", "n", p.Present, "asked", p.Asked, "failed", p.Failed)+"  ", theme.Text),
			widget.S(sanitize.Text(p.User), theme.Dim))
		if p.Behind > 0 {
			row.Line = append(row.Line, widget.S("  "+say("detail.client-behind", "n", p.Behind), theme.Waiting))
		}
		row.Target = target.Target{Kind: target.Client, Name: motion.Outside(key)}
		return true
	})
	if more := f.World.Programs.Len() - clientsMost; more > 0 {
		r.line("", widget.S(say("detail.more", "n", more), theme.Dim))
	}
}

// who is the name that a client's certificate has, and whom the API servers took it for last where that is another: a token says who it is with each request, and one may act as another.
func (r *rows) who(f view.Frame, user, as string) {
	if user == "" && as != "" {
		user, as = as, ""
	}
	if user == "" {
		user = f.Words.Say("story.client-nobody")
	}
	r.field(f.Words.Say("detail.client-user"), user, theme.Title)
	if as != "" && as != user {
		r.field(f.Words.Say("detail.client-as"), as, theme.Title)
	}
}

// way is where a client came in and which API server it asked last.
func (r *rows) way(f view.Frame, door, server string) {
	say := f.Words.Say
	if door == "balancer" {
		r.line(say("detail.client-door"), widget.S(say("map.balancer"), theme.Text)).Target = target.Target{Kind: target.Balancer, Name: "balancer"}
	} else {
		r.field(say("detail.client-door"), door, theme.Text).Target = target.Target{Kind: target.Process, Host: door, Process: "apiserver"}
	}
	if server != "" {
		r.field(say("detail.client-server"), server, theme.Title).Target = target.Target{Kind: target.Process, Host: server, Process: "apiserver"}
	}
}

func (r *rows) asked(f view.Frame, asked, failed, flight int) {
	say := f.Words.Say
	row := r.line(say("detail.client-asked"), widget.S(strconv.Itoa(asked), theme.Text))
	if failed > 0 {
		row.Line = append(row.Line, widget.S("  "+say("detail.client-failed", "n", failed), theme.Waiting))
	}
	if flight > 0 {
		row.Line = append(row.Line, widget.S("  "+say("detail.client-flight", "n", flight), theme.Busy))
	}
}
