package chaos

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
)

// losesStore breaks the store of a worker at work, and waits until the worker knows, lives, and neither takes nor answers a
// job.
func (w *worker) losesStore(breakIt func()) {
	r := w.rig
	r.Helper()
	r.untilAtWork(2 * chunk)
	breakIt()
	w.is(http.StatusServiceUnavailable)
	r.pass(2 * time.Second) // polls that were open, and answers that were on their way
	activated, done := r.look().activated, r.done()
	r.pass(3 * time.Second)
	// A worker that tries whether the store is back may take one more batch.
	if taken := r.look().activated - activated; taken > 50 || r.done() > done {
		r.Errorf("without a store %d jobs were taken and %d came to an end", taken, r.done()-done)
	}
}

// The guards are the recorder's error, which releases jobs instead of answering them, and Options.Hold, which stops the
// polls. Seen to fail without: 35 jobs are completed that have no record; a worker takes 70 jobs in three seconds.
func TestFullDiskIsWaitedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	disk := smallDisk(t, 16<<20) // the store and its log fit many times
	r.url = "sqlite://" + filepath.Join(disk, "analyze-retry.db")
	w := r.warm()
	filler := filepath.Join(disk, "filler")
	w.losesStore(func() { _ = os.WriteFile(filler, make([]byte, 32<<20), 0o600) }) // as much as there is room for
	full, err := os.Stat(filler)
	check.Must(r, err)
	check.Must(r, os.Remove(filler))
	w.is(http.StatusOK)
	invariants(r)
	r.happened(int(full.Size()), "bytes more than fit")
}

// smallDisk returns an empty directory on a file system of so many bytes. It needs root, because it mounts a tmpfs.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	mount := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0700", bytes), "tmpfs", dir)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Fatalf("mount a tmpfs (needs root): %v\n%s", err, out)
	}
	t.Cleanup(func() {
		// Lazily: a process that is being killed may still hold a file.
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount %s: %v\n%s", dir, err, out)
		}
	})
	return dir
}

// The guard is that a connection whose sync has failed is given up, because what it holds in memory may not be on the disk.
// Seen to fail without: 250 of 751 records verify, because the chain goes on behind some that were never stored.
func TestWriterIsGivenUpWhenASyncFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.warm()
	var heal func() (failed int)
	w.losesStore(func() { heal = r.failsSyncs(w.PID()) })
	failed := heal()
	w.is(http.StatusOK)
	r.untilDone()
	w.kills() // what is in its memory only is gone with it
	r.start()
	r.submit(chunk)
	invariants(r)
	r.happened(failed, "syncs that failed")
}

// failsSyncs makes fsync and fdatasync of a running process fail with EIO, until heal is called. It needs strace and root.
func (r *rig) failsSyncs(pid int) (heal func() (failed int)) {
	r.Helper()
	output := filepath.Join(r.TempDir(), "strace")
	cmd := exec.CommandContext(r.Context(), "strace", "-f", "-p", strconv.Itoa(pid), "-o", output,
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO", "-e", "signal=none")
	strace, err := process.Start(cmd)
	check.Must(r, err)
	failed := func() int {
		text, _ := os.ReadFile(output) // it is not there yet
		return strings.Count(string(text), "(INJECTED)")
	}
	return func() int {
		// SIGTERM would leave it to the kernel to let the threads go, wherever they stand.
		check.Must(r, strace.Signal(syscall.SIGINT))
		check.Must(r, strace.Wait(r.Context()))
		return failed()
	}
}
