package failure

import "testing"

func TestATrapSpringsOnceAtItsPassAndForItsMemberOnly(t *testing.T) {
	var traps Traps
	if _, sprung := traps.Step("a", BeforeApply); sprung {
		t.Fatal("an empty set sprang")
	}
	traps.Set(Trap{Member: "a", Point: BeforeApply, Action: Kill, Skip: 2})
	traps.Set(Trap{Member: "b", Point: BeforeApply, Action: Fail})
	var passes []int
	for i := range 6 {
		if _, sprung := traps.Step("a", BeforeApply); sprung {
			passes = append(passes, i)
		}
		traps.Step("a", AfterApply)
		traps.Step("c", BeforeApply)
	}
	if len(passes) != 1 || passes[0] != 2 {
		t.Errorf("sprang at passes %v, want the third alone", passes)
	}
	if w := traps.Waiting(); len(w) != 1 || w[0].Member != "b" {
		t.Errorf("still waiting: %v", w)
	}
	traps.Clear("b")
	if _, sprung := traps.Step("b", BeforeApply); sprung || len(traps.Waiting()) != 0 {
		t.Error("a cleared trap is still there")
	}
	if _, sprung := (*Traps)(nil).Step("a", BeforeApply); sprung {
		t.Error("no traps sprang")
	}
}

func TestEveryStateAndPointIsListedOnce(t *testing.T) {
	points := make(map[Point]bool)
	for _, p := range Points() {
		if p == "" || points[p] {
			t.Errorf("point %q twice", p)
		}
		points[p] = true
	}
	if len(points) != 28 {
		t.Errorf("%d points", len(points))
	}
	disks := make(map[Disk]bool)
	for _, d := range Disks() {
		if disks[d] || d == Damaged {
			t.Errorf("state %q twice, or one that cannot be set", d)
		}
		disks[d] = true
	}
}
