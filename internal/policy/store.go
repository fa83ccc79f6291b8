package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"hospital.example/analyze-retry/internal/readfile"
)

// maxFile is the largest size of a policies file in bytes.
const maxFile = 1 << 20

// Store holds the policies in force and can reload their file. It is safe for concurrent use.
type Store struct {
	// needed are names that must always be known.
	needed   []string
	file     string
	override Override
	current  atomic.Pointer[Set]
}

// Open reads the policies file. With an empty file name only the built-in policies are known. It fails if the file
// is missing, has faults ([Faults]), or lacks a needed policy.
func Open(file string, needed ...string) (*Store, error) {
	return OpenWith(Override{}, file, needed...)
}

// OpenWith does so, and puts numbers in the place of the default policy's. It fails also if they do not fit.
func OpenWith(o Override, file string, needed ...string) (*Store, error) {
	s := &Store{file: file, needed: needed, override: o}
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
		content, _, err := readfile.Read(filepath.Clean(s.file), maxFile)
		if err != nil {
			return fmt.Errorf("policies file: %w", err)
		}
		if set, err = Parse(s.file, content); err != nil {
			return err
		}
	}
	set, wrong := s.override.apply(set)
	faults := []error{wrong}
	for _, name := range s.needed {
		if _, known := set.Get(name); !known {
			faults = append(faults, fmt.Errorf("RETRY_JOB_TYPES: there is no policy %s: %s", name, meant(name, set.Names())))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	s.current.Store(set)
	return nil
}
