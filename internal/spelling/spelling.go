// Package spelling guesses which name somebody meant.
package spelling

import (
	"slices"
	"strings"
)

// Nearest is the known name that was most likely meant by one that is not known, whatever the case; empty where none is
// near: a third of the letters, at the most, may differ.
func Nearest(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	lower := strings.ToLower(name)
	far := func(other string) int { return distance(lower, strings.ToLower(other)) }
	nearest := slices.MinFunc(known, func(a, b string) int { return far(a) - far(b) })
	if far(nearest) > max(len(name), len(nearest))/3 {
		return ""
	}
	return nearest
}

// OneSlip reports whether one slip of the fingers makes b of a, whatever the case: a letter too few, too many or wrong, or
// two neighbours exchanged.
func OneSlip(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch max(len(a), len(b)) {
	case 0, 1:
		return a != b
	case 2:
		return len(a) == len(b) && a[0] == b[1] && a[1] == b[0]
	default:
		return false
	}
}

// distance is the number of letters to insert, delete or replace to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
