//go:build unix

package ops

import (
	"math"
	"syscall"
)

// descriptors returns how many files and connections this process may have open. Go raises the soft limit to the hard one
// at the start.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
