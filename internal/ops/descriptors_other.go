//go:build !unix

package ops

import "math"

// descriptors returns how many files and connections this process may have open. Here the system sets no limit.
func descriptors() int { return math.MaxInt32 }
