package chainview

import (
	"math"
	"slices"
	"sort"
	"time"
)

// scale puts instants on an axis. The stretched one gives every gap between neighbouring instants room by its logarithm, so that milliseconds can be seen beside minutes
// and everything still lies in its order.
type scale struct {
	linear bool
	at     []int64   // instants, rising
	place  []float64 // of each, from 0 to 1
}

// finest is the gap from which on room is given.
const finest = 200 * time.Microsecond

func newScale(rows []row, linear bool) scale {
	s := scale{linear: linear}
	for i := range rows {
		h := rows[i].h
		if rows[i].id.kind == noteRow {
			continue
		}
		s.at = append(s.at, h.rec.At.UnixNano(), h.last().At.UnixNano())
		if h.parent != nil {
			s.at = append(s.at, h.from.At.UnixNano())
		}
		if rows[i].level == closed && rows[i].id.kind == hopRow {
			s.at = append(s.at, h.end.last().At.UnixNano())
		}
	}
	slices.Sort(s.at)
	s.at = slices.Compact(s.at)
	s.place = make([]float64, len(s.at))
	if len(s.at) < 2 {
		return s
	}
	sum := 0.0
	for i := 1; i < len(s.at); i++ {
		gap := float64(s.at[i] - s.at[i-1])
		if !linear {
			gap = math.Log2(1 + gap/float64(finest))
		}
		sum += gap
		s.place[i] = sum
	}
	for i := range s.place {
		s.place[i] /= sum
	}
	return s
}

// column of an instant on an axis of so many cells.
func (s scale) column(t time.Time, width int) int {
	if len(s.at) == 0 || width < 1 {
		return 0
	}
	n := t.UnixNano()
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= n })
	p := 1.0
	switch {
	case i == 0:
		p = 0
	case i < len(s.at):
		p = s.place[i]
		if gap := s.at[i] - s.at[i-1]; s.at[i] != n {
			p -= (s.place[i] - s.place[i-1]) * float64(s.at[i]-n) / float64(gap)
		}
	}
	return min(int(p*float64(width-1)+0.5), width-1)
}

// tick is a mark of the axis: a column, and how long after the start it is.
type tick struct {
	x     int
	after time.Duration
}

// ticks are as many as there is room for, room cells apart at least: instants where something happened, or even parts of a linear axis.
func (s scale) ticks(width, room int) []tick {
	if len(s.at) == 0 || width < room {
		return nil
	}
	var out []tick
	next := 0
	take := func(x int, after time.Duration) {
		if x >= next && x+room <= width+1 {
			out = append(out, tick{x, after})
			next = x + room
		}
	}
	total := s.at[len(s.at)-1] - s.at[0]
	if s.linear {
		for x := 0; x < width; x += room {
			take(x, time.Duration(float64(x)/float64(max(width-1, 1))*float64(total)))
		}
		return out
	}
	for i := range s.at {
		take(min(int(s.place[i]*float64(width-1)+0.5), width-1), time.Duration(s.at[i]-s.at[0]))
	}
	return out
}
