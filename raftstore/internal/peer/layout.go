package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Layout is the version of how a store lies in its folders: of the folder of the whole and of that of each member. 1, without a file that says so, was that of the first kubeviz.
const Layout = "2"

const (
	versionFile   = "VERSION"
	versionPrefix = "kubeviz store layout "
)

// CheckLayout reads the version of a folder and refuses one that is not ours. A folder without one is new where used says that nothing is in it, and gets one.
func CheckLayout(dir string, used func() bool, sync bool) error {
	path := filepath.Join(dir, versionFile)
	text, err := ReadRegular(path)
	if err == nil {
		version, ok := strings.CutPrefix(strings.TrimSpace(string(text)), versionPrefix)
		switch {
		case version == Layout && ok:
			return nil
		case !ok || version == "":
			return fmt.Errorf("%w: %s does not say which layout %s has", ErrDamaged, path, dir)
		}
		return fmt.Errorf("%s has the layout %s of another kubeviz; this one reads layout %s. Use that kubeviz, or another folder", dir, version, Layout)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if used() {
		return fmt.Errorf("%s holds a store without a %s file: that of an older kubeviz (layout 1), or one that lost the file; this kubeviz reads layout %s. Use the older kubeviz, or another folder",
			dir, versionFile, Layout)
	}
	return WriteWhole(path, []byte(versionPrefix+Layout), sync)
}

// layOut makes the member's folder, or reads its version.
func (d *Disk) layOut() error {
	if err := os.MkdirAll(d.dir, directoryMode); err != nil {
		return err
	}
	if d.sync {
		if err := SyncDir(filepath.Dir(d.dir)); err != nil {
			return err
		}
	}
	return CheckLayout(d.dir, d.Holds, d.sync)
}
