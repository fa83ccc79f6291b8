package faults

import (
	"fmt"
	"os/exec"
	"testing"
)

// SmallDisk returns an empty directory on a file system of its own that holds so many bytes, until the test ends; what is
// written beyond that fails with ENOSPC. It needs root, because it mounts a tmpfs.
func SmallDisk(tb testing.TB, bytes int) string {
	tb.Helper()
	dir := tb.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0700", bytes), "tmpfs", dir).CombinedOutput(); err != nil {
		tb.Fatalf("mount a tmpfs (needs root): %v\n%s", err, out)
	}
	tb.Cleanup(func() {
		// Lazily: a process that is being killed may still hold a file.
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			tb.Errorf("unmount %s: %v\n%s", dir, err, out)
		}
	})
	return dir
}
