// Package bgfix tells Lip Gloss that the background is dark, so that Bubble Tea's own init does not ask the terminal and wait seconds for an answer that many
// terminals never give.
//
// It works because Go runs the inits that are ready in the order of their import paths, and this path sorts before Bubble Tea's. So it must import nothing but
// Lip Gloss, and must not move to a path that sorts later. A test on a terminal that never answers holds it in place.
package bgfix

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
