//go:build !unix

package real

func closeOnExec(int) {}
