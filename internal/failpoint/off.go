//go:build !failpoints

package failpoint

import "time"

// At is a point at which a test may interfere; subject is the claim that is at the point.
func At(_, _ string) {}

// Now is the wall clock that a job is decided by. A test may move it.
func Now() time.Time { return time.Now() }
