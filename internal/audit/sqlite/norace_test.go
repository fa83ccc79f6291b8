//go:build !race

package sqlite

// times is n; see race_test.go.
func times(n int) int { return n }
