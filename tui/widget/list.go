package widget

// Window is the first of n rows to show in height of them so that row at is seen, in the middle where it can be.
func Window(at, n, height int) int {
	if height <= 0 {
		return 0
	}
	return max(min(at-height/2, n-height), 0)
}

// Seek is the first of n rows that holds, from one on in steps of by and around the ends.
func Seek(n, from, by int, holds func(int) bool) (int, bool) {
	for k := range n {
		if at := ((from+k*by)%n + n) % n; holds(at) {
			return at, true
		}
	}
	return 0, false
}
