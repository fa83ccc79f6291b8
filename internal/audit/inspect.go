package audit

import (
	"maps"
	"slices"
)

// Inspection is what a look at the store itself has shown, apart from its chains.
type Inspection struct {
	// Findings say what is not as the worker makes it, each in a sentence: a trigger that is missing, a right too many.
	Findings []string
	// Notes are no fault; an auditor may want to know them.
	Notes []string
	// LastID is the last record ID that the store has given out, 0 where it gave out none or does not count them.
	LastID int64
}

// Differences compares the definitions that a store has with those that the worker's migrations make, by their names, such
// as "trigger append_only on records". It returns a sentence for each that is missing, added or different, in the order of
// names.
func Differences(want, has map[string]string) (findings []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		is, there := has[name]
		switch {
		case !there:
			findings = append(findings, name+" is missing")
		case is != want[name]:
			findings = append(findings, name+" is not as the worker's migrations make it")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if _, known := want[name]; !known {
			findings = append(findings, name+" was added")
		}
	}
	return findings
}
