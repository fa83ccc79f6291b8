package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// maxFile is the largest size of a policies file in bytes.
const maxFile = 1 << 20

// Source is where policies are read from, in addition to the built-in ones. The zero value adds none.
type Source struct {
	// File is a policies file, empty for none.
	File string
	// MaxRetries, Base and Max take the place of the numbers of tiss, the default policy (RN-BIL-004 section
	// 5.2), unless the file states its own; 0 leaves what tiss has. Base is the shortest wait too: no jitter
	// goes below it (RN-BIL-004 section 4.2).
	MaxRetries int
	Base, Max  time.Duration
	// Needed are the names of policies that must be known: those of RETRY_JOB_TYPES.
	Needed []string
}

// Open reads the policies. The error is [text.Findings], unless the file cannot be read.
func Open(from Source) (*Set, error) {
	set := BuiltIns()
	if err := set.override(from); err != nil {
		return nil, err
	}
	if from.File != "" {
		content, _, err := readfile.Read(filepath.Clean(from.File), maxFile)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", text.Messagef("policies file"), err)
		}
		if err := set.add(from.File, content); err != nil {
			return nil, err
		}
	}
	missing := form{file: "RETRY_JOB_TYPES"}
	for _, name := range from.Needed {
		if _, known := set.Get(name); !known {
			missing.add(0, text.Messagef("there is no policy %s: %s", name, meant(name, set.Names())))
		}
	}
	return set, missing.err()
}

// override puts the numbers of settings in the place of those of the default policy.
func (s *Set) override(by Source) error {
	if by.MaxRetries == 0 && by.Base == 0 && by.Max == 0 {
		return nil
	}
	tiss := s.entries["tiss"]
	e := tiss.heir(settingsOrigin, yaml.Node{})
	e.Name, e.Description, e.Source, e.Extends = tiss.Name, tiss.Description, tiss.Source, tiss.Name
	e.MaxRetries = cmp.Or(by.MaxRetries, e.MaxRetries)
	e.Base = cmp.Or(retry.Duration(by.Base), e.Base)
	e.Min = cmp.Or(retry.Duration(by.Base), e.Min)
	e.Max = cmp.Or(retry.Duration(by.Max), e.Max)
	r := &reader{form: form{file: settingsOrigin}}
	r.make(e)
	s.entries[e.Name] = e
	return r.err()
}
