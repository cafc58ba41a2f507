package grid

import "unicode"

// Width of text in cells.
func Width(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			return n + wideWidth(text[i:])
		}
		if text[i] >= 0x20 && text[i] != 0x7f {
			n++
		}
	}
	return n
}

func wideWidth(text string) int {
	n := 0
	for _, r := range text {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth is how many cells a rune takes: 2 for East Asian wide letters, 0 for what must not be drawn at all, else 1. Ambiguous runes are narrow, whatever the locale:
// the screen is made of them. Emoji are 0 here: terminals disagree about them, so they never reach a cell (tui/sanitize spells them out).
func RuneWidth(r rune) int {
	if r >= 0 && r < rune(len(table)) {
		return int(table[r])
	}
	return runeWidth(r)
}

// table holds the widths of the letters and signs that screens are made of.
var table = func() (t [0x2800]uint8) {
	for r := range t {
		t[r] = uint8(runeWidth(rune(r)))
	}
	return t
}()

func runeWidth(r rune) int {
	switch {
	case r < 0x20 || r == 0x7f:
		return 0
	case r < 0x7f:
		return 1
	case r < 0xa0 || r == 0xad:
		return 0
	case r < 0x300:
		return 1
	case wide(r):
		return 2
	case r >= 0x1f000: // emoji, tags, private planes
		return 0
	case r >= 0xe000 && r <= 0xf8ff, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r >= 0xfff0 && r != 0xfffd:
		return 0
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return 0
	case r >= 0x1160 && r <= 0x11ff: // Hangul vowels and finals join the letter before
		return 0
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case emojiInText[r]:
		return 0
	}
	if !unicode.IsPrint(r) {
		return 0
	}
	return 1
}

func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f ||
		r >= 0x2e80 && r <= 0x303e ||
		r >= 0x3041 && r <= 0x33ff ||
		r >= 0x3400 && r <= 0x4dbf ||
		r >= 0x4e00 && r <= 0x9fff ||
		r >= 0xa000 && r <= 0xa4cf ||
		r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f ||
		r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6
}

// emojiInText are runes below U+1F000 that terminals draw two cells wide.
var emojiInText = func() map[rune]bool {
	m := map[rune]bool{}
	for _, r := range "⌚⌛⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗➕➖➗➰➿⬛⬜⭐⭕" {
		m[r] = true
	}
	return m
}()
