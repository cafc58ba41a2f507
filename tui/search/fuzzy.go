// Package search finds text: a fuzzy matcher with smart case, and a small query language over texts that have fields.
//
// A query is words with blanks between, all of which must match: plain text, "quoted text", field:value, any of them with ! in front for "not". A value may name
// several with commas and hold * for anything. Lower case matches any case; a capital letter matches only itself. What the fields are, and what they say of a thing,
// is the caller's; since:5m is a span that the caller reads from the query.
//
// Imports of ours: tui/words. Goroutines: values. Time: spans only.
package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hit is how well a text matched, and where: byte ranges in it, in order. Higher scores are better.
type Hit struct {
	Score int
	At    [][2]int
}

// The scores: a text that holds what was typed beats one that only holds its letters.
const (
	scoreWhole   = 2000
	scoreHeld    = 1000
	scoreLetters = 500
	bonusStart   = 200 // at the start of a word
)

// Find looks for what was typed. It matches where the text holds it, or where one word of the text holds its letters in order, each right after the one before, within
// two letters of it, or at the start of a part of the word ("ngx4" finds "nginx-874bd98df-4zvsv").
func Find(typed, text string) (Hit, bool) {
	if typed == "" {
		return Hit{}, true
	}
	folded := text
	if !hasUpper(typed) {
		folded = strings.ToLower(text)
	}
	if i := held(typed, folded); i >= 0 {
		h := Hit{Score: scoreHeld - min(i, scoreHeld/2)}
		if startsAt(folded, i) {
			h.Score += bonusStart
		}
		if len(typed) == len(folded) {
			h.Score = scoreWhole
		}
		if len(folded) == len(text) { // else folding moved the bytes
			h.At = [][2]int{{i, i + len(typed)}}
		}
		return h, true
	}
	if utf8.RuneCountInString(typed) < 3 || strings.ContainsRune(typed, ' ') { // two letters are in order nearly everywhere
		return Hit{}, false
	}
	for from := 0; from < len(folded); {
		end := strings.IndexByte(folded[from:], ' ')
		if end < 0 {
			end = len(folded) - from
		}
		if at, gaps, ok := letters(typed, folded[from:from+end]); ok {
			h := Hit{Score: max(scoreLetters-10*gaps-min(from, 100), 1)}
			if len(folded) == len(text) {
				for i := range at {
					at[i] += from
				}
				h.At = runs(at, folded)
			}
			return h, true
		}
		from += end + 1
	}
	return Hit{}, false
}

// held finds the typed text, at the start of a word if there is such a place.
func held(typed, folded string) int {
	first := strings.Index(folded, typed)
	for i := first; i >= 0; {
		if startsAt(folded, i) {
			return i
		}
		next := strings.Index(folded[i+1:], typed)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return first
}

// wordMax is how long a word is looked through for letters; longer ones are not names.
const wordMax = 128

// letters matches the runes of typed in order inside one word. at are the bytes where they are, gaps the letters between.
func letters(typed, word string) (at []int, gaps int, ok bool) {
	if len(word) > wordMax || len(typed) > len(word) {
		return nil, 0, false
	}
	first, _ := utf8.DecodeRuneInString(typed)
	for i, r := range word {
		if r == first && startsAt(word, i) {
			if at := follow(typed, word, i, make([]int, 0, len(typed))); at != nil {
				return at, at[len(at)-1] - at[0] + 1 - len(at), true
			}
		}
	}
	return nil, 0, false
}

// follow puts the first rune of typed at byte i of the word and the others after it.
func follow(typed, word string, i int, at []int) []int {
	_, n := utf8.DecodeRuneInString(typed)
	_, m := utf8.DecodeRuneInString(word[i:])
	at = append(at, i)
	typed, i = typed[n:], i+m
	if typed == "" {
		return at
	}
	next, _ := utf8.DecodeRuneInString(typed)
	skipped := 0
	for j, r := range word[i:] {
		if r == next && (skipped <= 2 || startsAt(word, i+j)) {
			if done := follow(typed, word, i+j, at); done != nil {
				return done
			}
		}
		skipped++
	}
	return nil
}

// startsAt reports whether a word, or a part of one, starts at a byte of the text.
func startsAt(text string, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before)
}

// runs joins the places of runes that follow each other.
func runs(at []int, text string) [][2]int {
	var out [][2]int
	for _, i := range at {
		_, n := utf8.DecodeRuneInString(text[i:])
		if k := len(out); k > 0 && out[k-1][1] == i {
			out[k-1][1] = i + n
			continue
		}
		out = append(out, [2]int{i, i + n})
	}
	return out
}

func hasUpper(s string) bool {
	for _, r := range s {
		if unicode.IsUpper(r) {
			return true
		}
	}
	return false
}
