package grid

import "unicode/utf8"

// Reset ends all attributes.
const reset = "\x1b[0m"

// Render turns the grid into one string of h lines. seq gives the escape sequence that starts a style; for a style without a look it returns "". Trailing blanks
// that carry no style are left out. A nil seq gives plain text. ascii draws the ASCII twin of each symbol.
func (g *Grid) Render(seq func(Style) string, ascii bool) string {
	out := g.out[:0]
	for y := range g.h {
		if y > 0 {
			out = append(out, '\n')
		}
		row := g.cells[y*g.w : (y+1)*g.w]
		end := len(row)
		for end > 0 && row[end-1].Rune == ' ' && row[end-1].Style&Reverse == 0 {
			end--
		}
		styled := false
		var now Style
		nowSeq := ""
		for _, cell := range row[:end] {
			if cell.Rune == 0 {
				continue
			}
			if seq != nil && cell.Style != now && (cell.Rune != ' ' || (cell.Style|now)&Reverse != 0) {
				next := seq(cell.Style)
				if next != nowSeq {
					if styled {
						out = append(out, reset...)
					}
					out = append(out, next...)
					styled = next != ""
					nowSeq = next
				}
				now = cell.Style
			}
			r := cell.Rune
			if r < 0x80 {
				out = append(out, byte(r))
				continue
			}
			if ascii {
				if t, ok := twin(r); ok {
					out = append(out, t)
					continue
				}
			}
			out = utf8.AppendRune(out, r)
		}
		if styled {
			out = append(out, reset...)
		}
	}
	g.out = out
	return string(out)
}
