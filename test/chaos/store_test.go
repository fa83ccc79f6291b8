package chaos

import (
	"context"
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

	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// losesStore breaks the store of a worker at work, and waits until the worker knows, lives, and neither takes nor answers a
// job. It returns what /readyz says.
func (w *worker) losesStore(breakIt func()) (says string) {
	r := w.rig
	r.Helper()
	r.untilAtWork(2 * chunk)
	breakIt()
	says = w.answersStatus("/readyz", http.StatusServiceUnavailable)
	w.answersStatus("/healthz", http.StatusOK)
	r.pass(2 * time.Second) // polls that were open, and answers that were on their way
	activated, done := r.look().activated, r.done()
	r.pass(3 * time.Second)
	// A worker that tries whether the store is back may take one more batch.
	if taken := r.look().activated - activated; taken > 50 || r.done() > done {
		r.Errorf("without a store %d jobs were taken and %d came to an end", taken, r.done()-done)
	}
	return says
}

// The guards are the recorder's error, which releases jobs instead of answering them, and Options.Hold, which stops the
// polls. Seen to fail without: 35 jobs are completed that have no record; a worker takes 70 jobs in three seconds.
func TestFullDiskIsWaitedOut(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	disk := smallDisk(t, 16<<20) // the store and its log fit many times
	r.url = "sqlite://" + filepath.Join(disk, "analyze-retry.db")
	w := r.warm()
	filler := filepath.Join(disk, "filler")
	w.losesStore(func() { _ = os.WriteFile(filler, make([]byte, 32<<20), 0o600) }) // as much as there is room for
	full, err := os.Stat(filler)
	r.must(err)
	r.must(os.Remove(filler))
	w.answersStatus("/readyz", http.StatusOK)
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
	r := newRig(t, inSQLite, false, "")
	w := r.warm()
	var heal func() (failed int)
	w.losesStore(func() { heal = r.failsSyncs(w.PID()) })
	failed := heal()
	w.answersStatus("/readyz", http.StatusOK)
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
	r.must(err)
	failed := func() int {
		text, _ := os.ReadFile(output) // it is not there yet
		return strings.Count(string(text), "(INJECTED)")
	}
	return func() int {
		// SIGTERM would leave it to the kernel to let the threads go, wherever they stand.
		r.must(strace.Signal(syscall.SIGINT))
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		r.must(strace.Wait(ctx))
		return failed()
	}
}

// The guard is the look at the file after each commit: a worker whose file is not at its place is not ready, answers nothing
// and goes on when the file is back and it is started again. Seen to fail without, in internal/audit/sqlite: decisions go to
// a file that nobody opens again.
func TestStoreTakenFromUnderAWorkerLosesNoDecision(t *testing.T) {
	for how, take := range map[string]func(*rig){
		"moved": func(r *rig) { r.must(os.Rename(r.path(), r.path()+".own")) },
		"replaced by a copy": func(r *rig) {
			code, said := r.command("audit", "backup", r.path()+".copy")
			if code != 0 {
				r.Fatal(said)
			}
			r.must(os.Link(r.path(), r.path()+".own"))
			r.must(os.Rename(r.path()+".copy", r.path()))
		},
	} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, inSQLite, false, "")
			w := r.warm()
			w.losesStore(func() { take(r) })
			w.kills()
			r.must(os.Rename(r.path()+".own", r.path()))
			r.start()
			r.submit(chunk)
			invariants(r)
		})
	}
}

// ownPostgres moves the store to a server of its own, behind a proxy for the workers.
func (r *rig) ownPostgres() (server *devpostgres.Server, way *proxy.Proxy, setting string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	server, err := devpostgres.Start(ctx)
	r.must(err)
	r.Cleanup(func() { r.check(server.Close()) })
	r.url, err = server.NewDatabase(ctx)
	r.must(err)
	way = r.before(server.Address())
	return server, way, "RETRY_DATABASE_URL=" + strings.Replace(r.url, server.Address(), way.Address(), 1)
}

// The guards are the same as for a full disk, that every question to the store has a time limit, and that the probe takes the
// locks that an append takes. Seen to fail without: the worker waits endlessly for connections that are half-open; behind a
// lock it calls itself ready, and takes 105 jobs in eight seconds.
func TestNothingIsAnsweredWhilePostgreSQLIsAway(t *testing.T) {
	r := newRig(t, inPostgres, false, "")
	server, way, setting := r.ownPostgres()
	w := r.warm(setting)
	w.losesStore(func() { r.must(server.Kill()) })
	r.must(server.Restart(t.Context()))
	w.answersStatus("/readyz", http.StatusOK)
	r.untilDone()

	w.losesStore(func() { way.Set(proxy.Faults{Hole: [2]bool{true, true}}) })
	way.ResetAll()
	way.Set(proxy.Faults{})
	w.answersStatus("/readyz", http.StatusOK)
	r.untilDone()

	var commit func()
	w.losesStore(func() { commit = r.holdsCommits() })
	commit()
	w.answersStatus("/readyz", http.StatusOK)
	r.untilDone()

	way.Set(proxy.Faults{Hole: [2]bool{true, true}})
	w.stops() // in its time and with exit code 0, beside connections that are dead
	way.ResetAll()
	way.Set(proxy.Faults{})
	r.start(setting)
	invariants(r)
	r.happened(way.Did().Held, "connections half-open")
}
