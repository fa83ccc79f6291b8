package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"hospital.example/analyze-retry/internal/readfile"
)

// ErrMissing is the error for a needed policy that is not known.
var ErrMissing = errors.New("there is no policy")

// maxFile is the largest size of a policies file in bytes.
const maxFile = 1 << 20

// Store holds the policies in force and can reload their file. It is safe for concurrent use.
type Store struct {
	// needed are names that must always be known.
	needed  []string
	file    string
	current atomic.Pointer[Set]
}

// Open reads the policies file. With an empty file name only the built-in policies are known. It fails if the file is missing,
// has faults ([Faults]), or lacks a needed policy ([ErrMissing]).
func Open(file string, needed ...string) (*Store, error) {
	s := &Store{file: file, needed: needed}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// Current returns the policies in force. A job keeps the set that it began with.
func (s *Store) Current() *Set { return s.current.Load() }

// Reload reads the file again. If that fails, the policies in force stay.
func (s *Store) Reload() error {
	set := BuiltIns()
	if s.file != "" {
		text, _, err := readfile.Read(filepath.Clean(s.file), maxFile)
		if err != nil {
			return fmt.Errorf("policies file: %w", err)
		}
		if set, err = Parse(s.file, text); err != nil {
			return err
		}
	}
	var missing []error
	for _, name := range s.needed {
		if _, known := set.Get(name); !known {
			missing = append(missing, fmt.Errorf("%w %s; known are %s", ErrMissing, name, strings.Join(set.Names(), ", ")))
		}
	}
	if missing != nil {
		return errors.Join(missing...)
	}
	s.current.Store(set)
	return nil
}
