package settings

import (
	"errors"
	"io/fs"
)

// Error is a setting that is wrong: where it stands, what is wrong, and what to write instead.
type Error struct {
	// Where is a file with a line ("/home/ann/.config/kubeviz/config.yaml:3"), a variable of the environment or a flag.
	Where string
	// Field in the file, such as "roles.ok"; empty: the whole.
	Field string
	Wrong string
	Want  string
}

func (e *Error) Error() string {
	s := e.Where + ": "
	if e.Field != "" {
		s += e.Field + ": "
	}
	s += e.Wrong
	if e.Want != "" {
		s += "; " + e.Want
	}
	return s
}

// reason is why a file could not be read, without its path again.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
