package tui

import (
	"fmt"
	"testing"

	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/theme"
)

// BenchmarkFrame draws each view at 200x60 with 10, 1,000 and 150,000 pods in the fold: what a frame costs must follow the cells of the screen.
func BenchmarkFrame(b *testing.B) {
	for _, size := range []struct{ workers, pods int }{{4, 10}, {40, 1000}, {5000, 150_000}} {
		recs := fixture.Big(size.workers, size.pods).Records
		m := still(recs, Still{W: 200, H: 60, Depth: theme.Colours256})
		for _, v := range numbered() {
			b.Run(fmt.Sprintf("%s/%dpods", v.ID(), size.pods), func(b *testing.B) {
				m.rooms.show(v.ID())
				b.ReportAllocs()
				for b.Loop() {
					m.dirty = true
					m.sceneAt = m.sceneAt.AddDate(-1, 0, 0) // the scene is made anew, too
					m.View()
				}
			})
		}
	}
}
