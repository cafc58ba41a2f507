package layout

import "testing"

func TestPartsShareASideWithoutLosingACell(t *testing.T) {
	r := Rect{3, 4, 101, 37}
	for _, parts := range [][]Part{{Fixed(10), Fill(1), Fixed(5)}, {Fill(2), Fill(3), Fill(1)}, {Fixed(90), Fixed(90)}, {Fill(1)}} {
		x := r.X
		for _, c := range r.Cols(parts...) {
			if c.X != x || c.W < 0 || c.H != r.H {
				t.Fatalf("%v: %v does not begin at %d", parts, c, x)
			}
			x = c.Right()
		}
		if x > r.Right() {
			t.Fatalf("%v reaches %d of %d", parts, x, r.Right())
		}
	}
}

func TestTilesStayInsideAndDoNotOverlap(t *testing.T) {
	r := Rect{1, 2, 97, 60}
	for count := 1; count < 14; count++ {
		for cols := 1; cols < 6; cols++ {
			tiles := r.Tiles(count, cols, 5, 1)
			if len(tiles) != count {
				t.Fatalf("%d tiles, want %d", len(tiles), count)
			}
			for i, a := range tiles {
				if a.X < r.X || a.Right() > r.Right() {
					t.Errorf("%d of %d in %d columns is outside: %v", i, count, cols, a)
				}
				for _, b := range tiles[:i] {
					if !a.Intersect(b).Empty() {
						t.Errorf("%v and %v overlap", a, b)
					}
				}
			}
		}
	}
}
