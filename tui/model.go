package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/reader"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/listview"
	"example.com/kubeviz/tui/view/mapview"
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
	frameBusy  = 33 * time.Millisecond  // while things move
	frameMarks = 66 * time.Millisecond  // while only heartbeats travel
	frameCalm  = 100 * time.Millisecond // when nothing has for a while
	calmAfter  = 500 * time.Millisecond
	foldBatch  = 512
	foldTime   = 12 * time.Millisecond // at most, in a frame
	minW, minH = 60, 16
)

// model is the root: it pulls the reader forward, routes keys, turns intents into commands and caches the frame. All drawing is in the views.
type model struct {
	cluster  Cluster // nil in a recording
	journal  *journal.Journal
	reader   *reader.Reader
	sources  sources
	words    *words.Catalogue
	keys     *keymap.Keys
	theme    *theme.Theme
	ascii    bool
	still    bool // reduced motion
	noMouse  bool
	noHint   bool
	location *time.Location
	clock    func() time.Time // wall
	title    string
	version  string
	palettes func(name string) (theme.Palette, error)

	rooms   rooms
	overlay listview.List
	console console
	find    finder
	toasts  toasts
	hand    mouse
	orders  orders
	leaving time.Time // until when another q quits; wall
	saver   saver
	outside outside

	w, h      int
	grid      *grid.Grid
	scene     *scene.Scene
	maker     scene.Maker
	sceneAt   time.Time
	sceneCost time.Duration
	shown     string
	dirty     bool
	second    int64     // of simulated time on the last frame
	moved     time.Time // wall: when something moved last
	typing    func(bool)
	ending    bool
	suspend   func() bool // whether a shell is there to wake us
}

type tickMsg struct{}

func newModel(o Options) *model {
	m := &model{cluster: o.Cluster, journal: o.Journal, ascii: o.ASCII, still: o.Still, noMouse: o.NoMouse, noHint: o.NoHint, location: o.Location, clock: o.wall, title: o.Title, version: o.Version, palettes: o.Palette,
		typing: func(bool) {}, suspend: func() bool { return true }, dirty: true}
	if m.cluster != nil && m.journal == nil {
		m.journal = m.cluster.Journal()
	}
	if m.clock == nil {
		m.clock = time.Now
	}
	if m.location == nil {
		m.location = time.Local
	}
	m.words = o.Words
	if m.words == nil {
		m.words = words.English()
	}
	rows := o.Keys
	if rows == nil {
		rows = keymap.Table()
	}
	m.keys = keymap.New(rows)
	if o.Replay {
		m.reader = reader.Replay(m.journal, m.clock)
	} else {
		var now func() time.Time
		if c, ok := m.cluster.(interface{ Now() time.Time }); ok {
			now = c.Now
		}
		m.reader = reader.Follow(m.journal, now, m.clock)
	}
	m.theme = o.theme
	m.sources = newSources(m.journal, m.words)
	m.rooms = newRooms()
	m.console = newConsole()
	m.find = newFinder()
	m.saver = newSaver(o)
	m.outside = newOutside(o)
	m.orders = newOrders()
	m.scene = scene.Of(m.reader.World(), m.reader.Now())
	return m
}

func (m *model) Init() tea.Cmd { return m.next() }

// next is the next frame: soon while things move, later when all is calm.
func (m *model) next() tea.Cmd {
	now := m.clock()
	wait := frameBusy
	switch {
	case now.Sub(m.moved) <= calmAfter:
	case m.moving(now):
		wait = frameMarks
	default:
		wait = frameCalm
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{} })
}

// moving reports whether something is seen to travel; only the map shows it.
func (m *model) moving(wall time.Time) bool {
	return !m.still && m.rooms.front().ID() == mapview.ID && m.sources.motion.Moving(wall)
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
	case savedMsg:
		m.saved(msg)
	case openedMsg:
		return m, m.openedOutside(msg)
	case startedMsg:
		m.started(msg)
	case offeredMsg:
		m.offered(msg)
	case lentMsg:
		return m, m.returned(msg)
	case tea.ResumeMsg:
		return m, m.comeBack()
	}
	return m, nil
}

// sizeMax bounds the screen in cells either way; what a terminal claims beyond it is not drawn.
const sizeMax = 1000

func (m *model) resize(w, h int) {
	m.w, m.h = min(max(w, 0), sizeMax), min(max(h, 0), sizeMax)
	m.grid = nil
	m.touch()
}

// touch makes the next frame new, and those after it come soon.
func (m *model) touch() {
	m.dirty = true
	m.moved = m.clock()
}

// tick pulls in what is due, for a bounded time.
func (m *model) tick() {
	start := m.clock()
	live, slow := m.reader.Live(), m.reader.Slow() > 0
	news, moved := false, false
	for {
		n, went := m.reader.Advance(foldBatch)
		news, moved = news || n > 0, moved || went
		if n < foldBatch || m.clock().Sub(start) > foldTime {
			break
		}
	}
	m.sources.advance(start, foldTime/3, m.clock)
	if news || moved || live != m.reader.Live() {
		m.pump(moved)
	}
	if now := m.reader.Now(); now.Unix() != m.second || m.reader.Slow() > 0 {
		m.second, m.dirty = now.Unix(), true
	}
	if m.moving(start) {
		m.dirty = true
	}
	m.news()
	m.pull()
	m.complain()
	if m.toasts.expire(start) || !m.leaving.IsZero() && start.After(m.leaving) {
		m.dirty = true
	}
	if !m.leaving.IsZero() && start.After(m.leaving) {
		m.leaving = time.Time{}
	}
	if slow && m.reader.Slow() == 0 && !m.reader.Live() {
		m.say(m.words.Say("toast.slow-end"), theme.Accent)
	}
}

// pump lets the memories that follow the place catch up with it.
func (m *model) pump(moved bool) {
	m.orders.heard(m.reader.Head())
	if m.sources.follow(m.reader, m.clock()) { // heartbeats alone are shown in their own time
		m.touch()
	}
	m.dirty = m.dirty || moved
}

// complain says once that the recording cannot be written.
func (m *model) complain() {
	if m.journal == nil || m.saver.lost {
		return
	}
	if err := m.journal.Err(); err != nil {
		m.saver.lost = true
		m.say(m.words.Say("toast.record", "error", err.Error()), theme.Failing)
	}
}

// frame is what views see.
func (m *model) frame(r layout.Rect) view.Frame {
	f := view.Frame{World: m.reader.World(), Scene: m.scene, Feed: m.sources.feedOf(m.reader), Words: m.words, Now: m.reader.Now(), W: r.W, H: r.H,
		Live: m.reader.Live(), Recording: m.cluster == nil, Slow: m.reader.Slow(), RecordedWall: m.reader.RecordedWall(), Trace: m.sources.trace, Motion: m.sources.motion, Wall: m.clock(), Still: m.still, NoHint: m.noHint, Location: m.location}
	if m.journal != nil {
		f.Journal = m.journal
	}
	f.Rate, f.Unpaced, f.WhyPause = f.World.Rate, f.World.Unpaced, f.World.WhyPause
	if !f.Live {
		f.Rate, f.Unpaced, f.WhyPause = m.reader.Rate(), false, ""
	}
	front := m.rooms.front()
	f.Front = front.ID()
	f.Selected = selection(front, f)
	return f
}
