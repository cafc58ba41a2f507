package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// interval is a range of indexes, both ends included.
type interval struct{ first, last int32 }

// intervals are indexes of pods, as "0,3-5,7" writes them.
type intervals []interval

func (list intervals) count() int32 {
	var n int32
	for _, r := range list {
		n += r.last - r.first + 1
	}
	return n
}

// parseIndexes reads indexes below completions, in growing order. Nothing comes with an error.
func parseIndexes(text string, completions int32) (intervals, error) {
	if text == "" {
		return nil, nil
	}
	var list intervals
	for _, part := range strings.Split(text, ",") {
		r, err := parseInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if n := len(list); n > 0 && list[n-1].last >= r.first {
			return nil, fmt.Errorf("non-increasing order, previous: %d, current: %d", list[n-1].last, r.first)
		}
		list = append(list, r)
	}
	return list, nil
}

func parseInterval(text string, completions int32) (interval, error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return interval{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	var n [2]int
	for i, e := range ends {
		var err error
		if n[i], err = strconv.Atoi(e); err != nil {
			return interval{}, fmt.Errorf("cannot convert string to integer for index: %q", e)
		}
		if n[i] >= int(completions) {
			return interval{}, fmt.Errorf("too large index: %q", e)
		}
	}
	if len(ends) == 1 {
		return interval{int32(n[0]), int32(n[0])}, nil
	}
	if n[0] >= n[1] {
		return interval{}, fmt.Errorf("non-increasing order, previous: %d, current: %d", n[0], n[1])
	}
	return interval{int32(n[0]), int32(n[1])}, nil
}

// overlap finds the first index that is in both lists; parts that cannot be read count for nothing, they are reported elsewhere.
func overlap(a, b string, completions int32) (index int32, found bool) {
	read := func(text string) (out intervals) {
		if text == "" {
			return nil
		}
		for _, part := range strings.Split(text, ",") {
			if r, err := parseInterval(part, completions); err == nil {
				out = append(out, r)
			}
		}
		return out
	}
	x, y := read(a), read(b)
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].first <= y[j].last && y[j].first <= x[i].last:
			return max(x[i].first, y[j].first), true
		case x[i].first <= y[j].first:
			i++
		default:
			j++
		}
	}
	return 0, false
}
