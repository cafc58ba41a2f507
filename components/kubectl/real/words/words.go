// Package words keeps kubectl's catalogues of translations out of the start of this program.
//
// The commands of kubectl look up their help texts when the packages are initialised, and the first look-up unpacks and parses a catalogue: some 4 MiB and half of all the
// time that the packages of kubectl take, in every start of the program, screen or not. The catalogue is asked for through a function that may be replaced by a package
// initialised earlier. This is it: it stands on the catalogue's package alone and its path sorts before k8s.io, so that Go initialises it before anything that looks up.
// (A test counts what initialisation allocates.) Only the child, which is kubectl, reads the catalogue.
//
// Owns: Child. Imports of ours: none. Goroutines: init. Time: none.
package words

import (
	"os"

	"k8s.io/kubectl/pkg/util/i18n"
)

// Child is the first argument of a child that is kubectl.
const Child = "kubectl-child"

func init() {
	if len(os.Args) > 1 && os.Args[1] == Child {
		return
	}
	if err := i18n.SetLoadTranslationsFunc(func() error { return nil }); err != nil {
		panic("kubectl's catalogue was read before it could be left out: " + err.Error())
	}
}
