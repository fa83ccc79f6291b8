//go:build race

package sqlite

// times is a fifth of n: under the race detector SQLite is ten times slower, and it finds nothing in tests of one goroutine.
// `make test-race` runs all of them without it as well.
func times(n int) int { return n / 5 }
