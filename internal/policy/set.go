// Package policy keeps retry policies as data: the built-in ones, and those of a file that an operator writes. It reads
// them strictly, names every fault by its line, and knows what is odd about a policy although it is valid.
package policy

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// Set is the policies that are known, by name. It is read-only.
type Set struct {
	policies map[string]*retry.Policy
	entries  map[string]*entry
}

// Get returns a policy by its name.
func (s *Set) Get(name string) (p *retry.Policy, known bool) {
	p, known = s.policies[name]
	return p, known
}

// Names are the names of all policies, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.policies)) }

// All are all policies, sorted by name.
func (s *Set) All() iter.Seq[*retry.Policy] {
	return func(yield func(*retry.Policy) bool) {
		for _, name := range s.Names() {
			if !yield(s.policies[name]) {
				return
			}
		}
	}
}

// Version is a short hash of the names and versions of all policies. Two sets with the same version decide alike.
func (s *Set) Version() string {
	h := sha256.New()
	for p := range s.All() {
		fmt.Fprintln(h, p.Name, p.Version())
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// BuiltIns are the policies that come with the worker. It panics where one of them is broken, which its test rules out.
func BuiltIns() *Set {
	s := &Set{policies: map[string]*retry.Policy{}, entries: map[string]*entry{}}
	files, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := builtinFiles.ReadFile("builtin/" + f.Name())
		if err == nil {
			err = s.add(f.Name(), text)
		}
		if err != nil {
			panic(fmt.Sprintf("built-in policies: %v", err))
		}
	}
	return s
}

// BuiltIn is one of the built-in policies. It panics where there is none of that name.
func BuiltIn(name string) *retry.Policy {
	p, known := BuiltIns().Get(name)
	if !known {
		panic("no built-in policy " + name)
	}
	return p
}

// Parse reads a policies file and returns the built-in policies and those of the file, which take the place of built-in
// ones of the same name. The error joins all that is wrong with the file, each with the file's name and a line.
func Parse(name string, text []byte) (*Set, error) {
	s := BuiltIns()
	if err := s.add(name, text); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Set) add(file string, text []byte) error {
	var d document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", file, err)
	}
	var faults []error
	for i := range d.Policies {
		e := &d.Policies[i]
		if e.Extends != "" {
			parent, known := s.entries[e.Extends]
			if !known {
				faults = append(faults, fmt.Errorf("%s: policy %s: extends %q, which is not known here", file, e.Name, e.Extends))
				continue
			}
			e.extend(parent)
		}
		p, err := e.policy()
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: policy %s: %w", file, e.Name, err))
			continue
		}
		s.policies[e.Name], s.entries[e.Name] = p, e
	}
	return errors.Join(faults...)
}
