package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// LastState reads the state that a key has saved in one of these files, the newest where there are several, and returns its
// path too. The error is an [fs.ErrNotExist] or an [fs.ErrPermission] where none of them can be read, and otherwise that of
// [LoadState].
func LastState(paths []string, public Public) (path string, last State, err error) {
	unread := fmt.Errorf("%w: %s", fs.ErrNotExist, strings.Join(paths, ", "))
	for _, p := range paths {
		st, err := LoadState(p, public)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, fs.ErrPermission):
			unread = err
		case err != nil:
			return "", State{}, err
		case path == "" || st.At.After(last.At):
			path, last = p, st
		}
	}
	if path == "" {
		return "", State{}, unread
	}
	return path, last, nil
}

// HasGivenUp reports whether a person has given up the records that end with this head: the key has gone on without them.
func (st State) HasGivenUp(h Head) bool {
	for _, g := range st.GivenUp {
		if !h.At.After(g.At) && h.Seq > headOf(g.From, h.Chain).Seq {
			return true
		}
	}
	return false
}
