//go:build race

package retry_test

// mostAllocations are those of a decision, with two of the race detector's own.
const mostAllocations = 6
