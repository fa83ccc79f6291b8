package text

import (
	"slices"
	"strings"
)

// Nearest returns the known name that was most likely meant, whatever the case, empty where none is near. At
// most a third of the letters may differ.
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

// OneSlip reports whether one slip of the fingers makes b of a, whatever the case: a letter too few, too many
// or wrong, or two neighbours exchanged.
func OneSlip(a, b string) bool { return distance(strings.ToLower(a), strings.ToLower(b)) == 1 }

// distance returns the number of letters to insert, delete, replace or exchange with a neighbour to make b of
// a (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
