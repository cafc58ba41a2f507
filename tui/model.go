package tui

import (
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/trace"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/listview"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/words"
)

// Cluster is what the screen needs of a running cluster.
type Cluster interface {
	// Do gives an order; the journal tells what came of it. It must not block.
	Do(command.Command)
	Journal() *journal.Journal
	// Targets are the names that commands can act on, for completion.
	Targets() []string
}

// Figures of the frame loop.
const (
	frameBusy  = 33 * time.Millisecond  // while things change
	frameCalm  = 100 * time.Millisecond // when nothing has for a second
	foldBatch  = 512
	foldTime   = 12 * time.Millisecond // at most, in a frame
	toastTime  = 5 * time.Second
	minW, minH = 60, 16
)

// model is the root: it pulls the line forward, routes keys, turns intents into commands and caches the frame. All drawing is in the views.
type model struct {
	cluster  Cluster // nil in a recording
	journal  *journal.Journal
	line     Line
	feed     *feed.Feed
	words    *words.Catalogue
	keys     *keymap.Keys
	theme    *theme.Theme
	ascii    bool
	location *time.Location
	clock    func() time.Time // wall
	title    string

	rooms   rooms
	trace   *trace.Index
	motion  *motion.Lanes
	overlay listview.List
	console console
	toasts  []toast
	pending []string        // orders whose answer is to be shown
	wants   map[string]want // replicas asked for, until the cluster has them
	asked   float64         // speed asked for, until the cluster has it; 0: none

	w, h      int
	grid      *grid.Grid
	scene     *scene.Scene
	maker     scene.Maker
	sceneAt   time.Time
	sceneCost time.Duration
	shown     string
	dirty     bool
	buf       []event.Record
	caughtUp  bool
	replayed  float64 // rate of a recording before it was paused
	lost      bool    // the recording cannot be written, and that was said
	second    int64   // of simulated time on the last frame
	active1   time.Time
	typing    func(bool) // told when the text field opens and closes
	ending    bool
	suspend   func() bool // whether a shell is there to wake us
}

type toast struct {
	text  string
	style grid.Style
	until time.Time
}

type want struct {
	replicas int
	at       time.Time
}

type tickMsg struct{}

func newModel(o Options) *model {
	m := &model{cluster: o.Cluster, journal: o.Journal, line: o.Line, words: words.English(), keys: keymap.New(keymap.Table()), ascii: o.ASCII,
		location: o.Location, clock: o.wall, title: o.Title, wants: map[string]want{}, typing: func(bool) {}, suspend: func() bool { return true }, dirty: true}
	if m.cluster != nil && m.journal == nil {
		m.journal = m.cluster.Journal()
	}
	if m.clock == nil {
		m.clock = time.Now
	}
	if m.location == nil {
		m.location = time.Local
	}
	if m.line == nil {
		if o.Replay {
			m.line = newPlayer(m.journal, m.clock)
		} else {
			var now func() time.Time
			if c, ok := m.cluster.(interface{ Now() time.Time }); ok {
				now = c.Now
			}
			m.line = newFollower(m.journal, now)
		}
	}
	m.theme = o.theme
	m.feed = feed.New(m.words)
	m.rooms = newRooms()
	m.trace = trace.New(m.journal)
	m.motion = &motion.Lanes{}
	m.console = newConsole()
	m.scene = scene.Of(m.line.World(), m.line.Now())
	return m
}

func (m *model) Init() tea.Cmd { return m.next() }

func (m *model) next() tea.Cmd {
	wait := frameBusy
	if m.clock().Sub(m.active1) > time.Second {
		wait = frameCalm
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{} })
}

// Update takes one message of the terminal.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		m.tick()
		return m, m.next()
	case tea.WindowSizeMsg:
		if msg.Width != m.w || msg.Height != m.h {
			m.resize(msg.Width, msg.Height)
			return m, tea.ClearScreen
		}
	case tea.KeyMsg:
		m.touch()
		return m, m.key(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	case tea.ResumeMsg:
		m.touch()
		return m, tea.Sequence(tea.EnableMouseCellMotion, tea.ClearScreen, tea.WindowSize())
	}
	return m, nil
}

func (m *model) resize(w, h int) {
	m.w, m.h = max(w, 0), max(h, 0)
	m.grid = nil
	m.touch()
}

// touch makes the next frame new.
func (m *model) touch() {
	m.dirty = true
	m.active1 = m.clock()
}

// tick pulls in what is due, for a bounded time.
func (m *model) tick() {
	start := m.clock()
	n := 0
	for {
		got := m.line.Advance(foldBatch)
		n += got
		if got < foldBatch || m.clock().Sub(start) > foldTime {
			break
		}
	}
	now := m.line.Now()
	m.trace.Advance(4 * foldBatch)
	if n > 0 {
		if m.line.World().Rate == m.asked {
			m.asked = 0
		}
		m.pump()
		m.touch()
	}
	if s := now.Unix(); s != m.second {
		m.second, m.dirty = s, true
	}
	m.news()
	if m.journal != nil && !m.lost {
		if err := m.journal.Err(); err != nil {
			m.lost = true
			m.say(m.words.Say("toast.record", "error", err.Error()), theme.Failing)
		}
	}
	for len(m.toasts) > 0 && start.After(m.toasts[0].until) {
		m.toasts, m.dirty = m.toasts[1:], true
	}
}

// news turns headlines and answers into toasts.
func (m *model) news() {
	fresh := m.caughtUp
	m.caughtUp = true // what was there before the screen is no news
	for _, l := range m.feed.TakeNews() {
		if !fresh {
			continue
		}
		text := l.One
		if l.TouchesStore {
			if q := m.quorumNow(); q != "" {
				text = m.words.Say("toast.and", "what", l.One, "quorum", q)
			}
		}
		m.say(text, storyview.Style(l.Tone))
	}
	for _, a := range m.feed.TakeAnswers() {
		m.answer(a)
	}
}

// quorumNow is the quorum in words, where it is in danger.
func (m *model) quorumNow() string {
	q := scene.Of(m.line.World(), m.line.Now()).Quorum
	switch {
	case !q.Raft || q.CanLose() >= (q.Members-1)/2:
		return ""
	case q.Alive < q.Need:
		return m.words.Say("quorum.lost", "alive", q.Alive, "members", q.Members, "need", q.Need)
	}
	return m.words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", q.CanLose())
}

func (m *model) answer(a feed.Answer) {
	mine := -1
	for i, p := range m.pending {
		if p == a.Text {
			mine = i
			break
		}
	}
	if mine < 0 {
		return
	}
	m.pending = append(m.pending[:mine], m.pending[mine+1:]...)
	switch {
	case a.Error != "":
		m.say(m.words.Say("toast.failed", "text", grid.Cut(a.Text, max(m.w/2-2, 30)), "error", a.Error), theme.Waiting)
	case len(a.Output) == 1:
		m.say(m.words.Say("toast.answer", "text", a.Output[0]), theme.Text)
	case len(a.Output) > 1:
		m.overlay = answerList(a)
		m.touch()
	}
}

// say shows a sentence for a while. Equal sentences are shown once.
func (m *model) say(text string, style grid.Style) {
	for i := range m.toasts {
		if m.toasts[i].text == text {
			m.toasts[i].until = m.clock().Add(toastTime)
			return
		}
	}
	m.toasts = append(m.toasts, toast{text, style, m.clock().Add(toastTime)})
	if len(m.toasts) > 2 {
		m.toasts = m.toasts[len(m.toasts)-2:]
	}
	m.touch()
}

// frame is what views see.
func (m *model) frame(r layout.Rect) view.Frame {
	f := view.Frame{World: m.line.World(), Scene: m.scene, Feed: m.feed, Words: m.words, Now: m.line.Now(), W: r.W, H: r.H, Live: m.line.Live(), Recording: m.cluster == nil,
		Trace: m.trace, Motion: m.motion, Wall: m.clock(), Location: m.location}
	if m.journal != nil {
		f.Journal = m.journal
	}
	f.Rate, f.Unpaced, f.WhyPause = f.World.Rate, f.World.Unpaced, f.World.WhyPause
	if p, ok := m.line.(Pacer); ok {
		f.Rate, f.Unpaced, f.WhyPause = p.Rate(), false, ""
	}
	front := m.rooms.front()
	f.Front = front.ID()
	f.Selected = selection(front, f)
	return f
}

// console holds the text field and its history.
type console struct {
	open    bool
	field   textinput.Model
	history []string
	at      int // in history; len: the line being written
	draft   string
	err     string
	offers  []string
}

func newConsole() console {
	f := textinput.New()
	f.Prompt = ""
	f.CharLimit = 4000
	f.KeyMap.Paste.SetEnabled(false) // it would run a program
	return console{field: f}
}
