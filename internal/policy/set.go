// Package policy keeps retry policies as data: the built-in ones, and those of a file that an operator writes. It reads
// them strictly, names every fault by its line, and knows what is odd about a policy although it is valid.
package policy

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"sync"

	"hospital.example/analyze-retry/internal/retry"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// builtinFolder is the name of the folder of the built-in files, in front of their names.
const builtinFolder = "builtin"

// Set is the policies that are known, by name. It is read-only.
type Set struct {
	policies map[string]*retry.Policy
	entries  map[string]*Entry
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

// Entry is a policy as a file would state it, with everything that it takes over and all defaults; it extends nothing.
func (s *Set) Entry(name string) (written Entry, known bool) {
	e, known := s.entries[name]
	if !known {
		return Entry{}, false
	}
	written = e.completed()
	written.Extends = ""
	return written, true
}

// Origin is where a policy is written: a file, or "built-in".
func (s *Set) Origin(name string) string {
	e := s.entries[name]
	if e == nil || e == BuiltIns().entries[name] {
		return BuiltInOrigin
	}
	return e.file
}

// BuiltInOrigin is the origin of the policies that come with the worker.
const BuiltInOrigin = "built-in"

// BuiltIns are the policies that come with the worker. It panics where one of them is broken, which its test rules out.
func BuiltIns() *Set { return builtIns() }

var builtIns = sync.OnceValue(func() *Set {
	s := &Set{policies: map[string]*retry.Policy{}, entries: map[string]*Entry{}}
	files, err := builtinFiles.ReadDir(builtinFolder)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		name := path.Join(builtinFolder, f.Name())
		text, err := builtinFiles.ReadFile(name)
		if err == nil {
			err = s.add(name, text)
		}
		if err != nil {
			panic(fmt.Sprintf("built-in policies: %v", err))
		}
	}
	return s
})

// BuiltIn is one of the built-in policies. It panics where there is none of that name.
func BuiltIn(name string) *retry.Policy {
	p, known := BuiltIns().Get(name)
	if !known {
		panic("no built-in policy " + name)
	}
	return p
}

// Parse reads a policies file and returns the built-in policies and those of the file, which take the place of built-in
// ones of the same name. The error is [Faults].
func Parse(name string, text []byte) (*Set, error) {
	above := BuiltIns()
	s := &Set{policies: maps.Clone(above.policies), entries: maps.Clone(above.entries)}
	if err := s.add(name, text); err != nil {
		return nil, err
	}
	return s, nil
}

// add reads a file. Where it has a fault, nothing is added.
func (s *Set) add(file string, text []byte) error {
	r := &reader{file: file}
	made := resolve(r, r.read(text), s.entries)
	if err := ordered(r.faults); err != nil {
		return err
	}
	for e, p := range made {
		s.policies[e.Name], s.entries[e.Name] = p, e
	}
	return nil
}
