//go:build !planted

package planted

// Enabled tells whether bugs can be planted in this build.
const Enabled = false

// Is is false: there are no bugs in this build.
func Is(Bug) bool { return false }

// Once in how many passes a bug bites; in this build never.
func Once(Bug, uint64) bool { return false }

// Keep and Kept do nothing.
func Keep(any, any) {}

// Kept returns nil.
func Kept(any) any { return nil }
