//go:build unix

package sqlite

import (
	"io/fs"
	"syscall"
)

// lockName returns the file that is locked: the database itself, so that it is locked by every name that it
// has.
func lockName(file string) string { return file }

// links is how many names the file has.
func links(info fs.FileInfo) uint64 {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return uint64(stat.Nlink) //nolint:unconvert // it has fewer bits on other systems
	}
	return 1
}
