package policy

import (
	"cmp"
	"fmt"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Open reads the policies: the built-in ones, and those of a file, if one is named, which replace built-in
// ones of the same name. MaxRetries, Base and Max of numbers, where they are stated, take the place of those
// of tiss, the default policy (RN-BIL-004 section 5.2), unless the file states its own. The policies that
// RETRY_JOB_TYPES needs must be among them. The error is [text.Findings], unless the file cannot be read.
func Open(file string, numbers retry.Settings, needed ...string) (*Set, error) {
	set := BuiltIns()
	if err := set.override(numbers); err != nil {
		return nil, err
	}
	if file != "" {
		content, _, err := readfile.Read(filepath.Clean(file))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", text.Messagef("policies file"), err)
		}
		if err := set.add(file, content); err != nil {
			return nil, err
		}
	}
	missing := form{file: "RETRY_JOB_TYPES"}
	for _, name := range needed {
		if _, known := set.Get(name); !known {
			missing.add(0, text.Messagef("there is no policy %s: %s", name, meant(name, set.Names())))
		}
	}
	return set, missing.err()
}

// override puts the numbers of settings in the place of those of the default policy. Base is the shortest
// wait too: no jitter goes below it (RN-BIL-004 section 4.2).
func (s *Set) override(by retry.Settings) error {
	if by.MaxRetries == 0 && by.Base == 0 && by.Max == 0 {
		return nil
	}
	tiss := s.entries["tiss"]
	e := tiss.heir(settingsOrigin, yaml.Node{})
	e.Name, e.Description, e.Source, e.Extends = tiss.Name, tiss.Description, tiss.Source, tiss.Name
	e.MaxRetries = cmp.Or(by.MaxRetries, e.MaxRetries)
	e.Base = cmp.Or(by.Base, e.Base)
	e.Min = cmp.Or(by.Base, e.Min)
	e.Max = cmp.Or(by.Max, e.Max)
	r := &reader{form: form{file: settingsOrigin}}
	r.make(e)
	s.entries[e.Name] = e
	return r.err()
}
