package grid

// Symbols of the screen. Each is one cell wide and has a one-byte ASCII twin.
const (
	Running     = '●'
	Starting    = '◐'
	Waiting     = '○'
	Terminating = '◌'
	Failing     = '✗'
	Unknown     = '?'
	Leader      = '★'
	Standby     = '☆'
	CutMark     = '╳'
	Done        = '·'

	Play     = '▶'
	PauseBar = '‖'
	RightTo  = '→'
	LeftTo   = '←'
	UpTo     = '↑'
	DownTo   = '↓'
	Moment   = '▲'
	Times    = '×'
	Dot      = '·'
	Marker   = '▸'
	Into     = '└'
	Crumb    = '›'

	BarFull  = '▇'
	BarEmpty = '▁'

	Cordoned = '⊘'
	Packet   = '•'
	Ballot   = '◇'
	Granted  = '◆'
	Before   = '‹'
	Fall     = '▼'

	LineH     = '─'
	LineStart = '├'
	LineEnd   = '┤'
)

// Spark are the eight heights of a small chart.
var Spark = [8]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// The frames: thin for what is well, heavy for what is not, double for what lies on top.
var (
	Thin   = Border{'─', '│', '╭', '╮', '╰', '╯'}
	Heavy  = Border{'━', '┃', '┏', '┓', '┗', '┛'}
	Double = Border{'═', '║', '╔', '╗', '╚', '╝'}
)

// twins of every rune outside ASCII that our own drawing uses.
var twins = map[rune]byte{
	Running: '#', Starting: '+', Waiting: '.', Terminating: '~', Failing: 'x', Leader: '*', Standby: '-', CutMark: 'X', Done: ',',
	Cordoned: '/', Packet: 'o', Ballot: '?', Granted: '!', Before: '<', Fall: 'v',
	Play: '>', PauseBar: '|', RightTo: '>', LeftTo: '<', UpTo: '^', DownTo: 'v', Moment: '^', Times: 'x', Marker: '>', Into: '`', Crumb: '>',
	'▂': '_', '▃': '-', '▄': '-', '▅': '=', '▆': '=', BarFull: '=', '█': '#', BarEmpty: '_',
	'—': '-', '–': '-', '«': '"', '»': '"', // signs of sentences
	LineH: '-', LineStart: '|', LineEnd: '|', Ellipsis: '~',
	'│': '|', '╭': '.', '╮': '.', '╰': '\'', '╯': '\'',
	'━': '=', '┃': 'H', '┏': '#', '┓': '#', '┗': '#', '┛': '#',
	'═': '=', '║': '|', '╔': '+', '╗': '+', '╚': '+', '╝': '+',
}

// twin gives the ASCII rune for a symbol. Letters of other languages have none and stay.
func twin(r rune) (byte, bool) {
	b, ok := twins[r]
	return b, ok
}

// AllSymbols lists the runes with a twin, for tests.
func AllSymbols() []rune {
	var out []rune
	for r := range twins {
		out = append(out, r)
	}
	return out
}

// ASCII is the twin of a symbol; other runes are their own.
func ASCII(r rune) rune {
	if t, ok := twins[r]; ok {
		return rune(t)
	}
	return r
}
