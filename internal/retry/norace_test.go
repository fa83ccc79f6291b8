//go:build !race

package retry_test

// mostAllocations are those of a decision.
const mostAllocations = 4
