// Package policy reads retry policies: the built-in ones, and those of a YAML file. [Open] names every fault
// of a file with its line. [Set.Lint] finds what is valid, but most likely a mistake.
package policy

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"hospital.example/analyze-retry/internal/retry"
)

// Set holds policies by name. It is read-only.
type Set struct{ entries map[string]*entry }

// Get returns the policy of a name.
func (s *Set) Get(name string) (p *retry.Policy, known bool) {
	e, known := s.entries[name]
	if !known {
		return nil, false
	}
	return e.policy, true
}

// Names returns the names of all policies, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.entries)) }

// All returns all policies, sorted by name.
func (s *Set) All() (all []*retry.Policy) {
	for _, name := range s.Names() {
		all = append(all, s.entries[name].policy)
	}
	return all
}

// Versions returns the policies' names, each with its version: tiss@1a2b3c4d5e6f. Two sets with the same
// versions decide alike.
func (s *Set) Versions() (all []string) {
	for _, p := range s.All() {
		all = append(all, p.Name+"@"+p.Version())
	}
	return all
}

// Origin returns where a known policy is written: its file, or where it comes from without one.
func (s *Set) Origin(name string) string { return s.entries[name].origin }

// The origins of policies that no file states.
const (
	// builtInOrigin is that of the policies that come with the worker.
	builtInOrigin = "built-in"
	// settingsOrigin is that of the default policy, if settings replace its numbers.
	settingsOrigin = "RETRY_MAX_RETRIES and RETRY_*_BACKOFF_MINUTES"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// BuiltIns returns the policies that come with the worker. It panics if one of them is broken, which its test
// rules out.
func BuiltIns() *Set { return &Set{entries: maps.Clone(builtIn())} }

var builtIn = sync.OnceValue(func() map[string]*entry {
	s := &Set{entries: map[string]*entry{}}
	for _, name := range []string{"fast", "job-queue", "smtp", "tiss"} {
		content, err := builtinFiles.ReadFile("builtin/" + name + ".yaml")
		if err == nil {
			err = s.add(builtInOrigin, content)
		}
		if err != nil {
			panic(fmt.Sprintf("built-in policies: %v", err))
		}
	}
	return s.entries
})

// BuiltIn returns a built-in policy. It panics if there is none of that name.
func BuiltIn(name string) *retry.Policy {
	return builtIn()[name].policy
}
