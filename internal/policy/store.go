package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"hospital.example/analyze-retry/internal/readfile"
)

// Store holds the policies that are in force, and reads their file again when it is asked to. It may be used by several
// goroutines.
type Store struct {
	// needed are names that must be known at any time.
	needed  []string
	file    string
	current atomic.Pointer[Set]
}

// Open reads the policies file, or takes the built-in policies alone where file is empty. A file that is missing or
// broken is an error, which names every fault with its line; so is one without the policies that are needed.
func Open(file string, needed ...string) (*Store, error) {
	s := &Store{file: file, needed: needed}
	set, err := s.read()
	if err != nil {
		return nil, err
	}
	s.current.Store(set)
	return s, nil
}

// Current is the policies in force. A job keeps to the set it began with.
func (s *Store) Current() *Set { return s.current.Load() }

// Reload reads the file again. Where it is missing or broken, the policies in force stay, and the error says why. Without
// a file there is nothing to do.
func (s *Store) Reload() error {
	if s.file == "" {
		return nil
	}
	set, err := s.read()
	if err != nil {
		return err
	}
	s.current.Store(set)
	return nil
}

func (s *Store) read() (*Set, error) {
	set, err := read(s.file)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, name := range s.needed {
		if _, known := set.Get(name); !known {
			faults = append(faults, &MissingError{Name: name, Known: set.Names()})
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return set, nil
}

// MissingError says that a policy which must be known is not.
type MissingError struct {
	// Name is the policy's, Known are those that are known.
	Name  string
	Known []string
}

// Error names the policy and those that are known.
func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no policy %s; known are %s", e.Name, strings.Join(e.Known, ", "))
}

func read(file string) (*Set, error) {
	if file == "" {
		return BuiltIns(), nil
	}
	text, _, err := readfile.Read(filepath.Clean(file), maxFile)
	if err != nil {
		return nil, fmt.Errorf("policies file: %w", err)
	}
	return Parse(file, text)
}
