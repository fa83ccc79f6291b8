//go:build !failpoints

package failpoint

import "time"

// At marks a point that a claim passes.
func At(_, _ string) {}

// Now returns the time by which jobs are decided.
func Now() time.Time { return time.Now() }
