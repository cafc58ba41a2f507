// Package layout is arithmetic on rectangles of cells: one rectangle in, named ones out, no styles.
//
// Imports nothing of ours. Goroutines: values. Time: none.
package layout

// Rect is a rectangle of cells. A rectangle with no area has W or H 0.
type Rect struct{ X, Y, W, H int }

// Right and Bottom are the first column and row outside.
func (r Rect) Right() int  { return r.X + r.W }
func (r Rect) Bottom() int { return r.Y + r.H }

// Empty reports whether no cell is inside.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell is inside.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.Right() && y >= r.Y && y < r.Bottom()
}

// Intersect is the part of r inside o.
func (r Rect) Intersect(o Rect) Rect {
	x, y := max(r.X, o.X), max(r.Y, o.Y)
	w, h := min(r.Right(), o.Right())-x, min(r.Bottom(), o.Bottom())-y
	if w <= 0 || h <= 0 {
		return Rect{X: x, Y: y}
	}
	return Rect{x, y, w, h}
}

// Inset takes n cells off each side.
func (r Rect) Inset(n int) Rect {
	return Rect{r.X + n, r.Y + n, max(r.W-2*n, 0), max(r.H-2*n, 0)}
}

// Center is a rectangle of at most w by h in the middle of r.
func (r Rect) Center(w, h int) Rect {
	w, h = min(w, r.W), min(h, r.H)
	return Rect{r.X + (r.W-w)/2, r.Y + (r.H-h)/2, w, h}
}

// Part is a share of a side: a fixed number of cells, or a weight of what is left.
type Part struct{ cells, weight int }

// Fixed asks for n cells.
func Fixed(n int) Part { return Part{cells: max(n, 0)} }

// Fill asks for a share of what the fixed parts leave.
func Fill(weight int) Part { return Part{weight: max(weight, 1)} }

// Rows cuts r from top to bottom. When the fixed parts do not fit, the later ones get less.
func (r Rect) Rows(parts ...Part) []Rect {
	out := make([]Rect, len(parts))
	y := r.Y
	for i, n := range share(r.H, parts) {
		out[i] = Rect{r.X, y, r.W, n}
		y += n
	}
	return out
}

// Cols cuts r from left to right.
func (r Rect) Cols(parts ...Part) []Rect {
	out := make([]Rect, len(parts))
	x := r.X
	for i, n := range share(r.W, parts) {
		out[i] = Rect{x, r.Y, n, r.H}
		x += n
	}
	return out
}

func share(total int, parts []Part) []int {
	out := make([]int, len(parts))
	left, weights := max(total, 0), 0
	for i, p := range parts {
		if p.weight > 0 {
			weights += p.weight
			continue
		}
		out[i] = min(p.cells, left)
		left -= out[i]
	}
	for i, p := range parts {
		if p.weight > 0 {
			out[i] = left * p.weight / weights
			left -= out[i]
			weights -= p.weight
		}
	}
	return out
}

// Tiles cuts r into count tiles of equal width, columns to a row, with a gap between; the height of each is h. Cells left over go to the first columns.
func (r Rect) Tiles(count, columns, h, gap int) []Rect {
	if count <= 0 || columns <= 0 {
		return nil
	}
	columns = min(columns, count)
	out := make([]Rect, 0, count)
	room := r.W - gap*(columns-1)
	for i := range count {
		col, row := i%columns, i/columns
		w, extra := room/columns, room%columns
		x := r.X + col*(w+gap) + min(col, extra)
		if col < extra {
			w++
		}
		out = append(out, Rect{x, r.Y + row*h, max(w, 0), h})
	}
	return out
}
