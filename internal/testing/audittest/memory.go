package audittest

import (
	"os"
	"testing"
)

// MemoryDir returns a directory that no disk makes slow, if there is one.
func MemoryDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "audit-") //nolint:usetesting // tb.TempDir is on the disk
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
