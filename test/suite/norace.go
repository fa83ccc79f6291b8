//go:build !race

package suite

// Race says that the tests run with the race detector. Then the worker under test has it too.
const Race = false
