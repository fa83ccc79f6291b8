package chaos

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Row 36. The guards are the looks at the file before and after each commit, the one every second, and the comparison of a start
// with what the key has signed. Each was seen to fail without in the smaller tests of internal/audit/sqlite (place_test.go,
// missing_test.go) and internal/app (state_test.go), which break one guard at a time.
func TestStoreTakenFromUnderAWorkerLosesNoDecision(t *testing.T) {
	each(t, setup{row: 36, what: "the store is, while it works, ", store: inSQLite}, map[string]func(*rig, *worker) string{
		"removed":                     (*rig).removesStore,
		"moved":                       (*rig).movesStore,
		"replaced by an earlier copy": (*rig).replacesStore,
	}, func(r *rig, takes func(*rig, *worker) string) {
		w := r.warm(200, outageLock)
		what := takes(r, w)
		r.releases() // none, where the look of each second came before the next job
		invariants(r)
		r.happened(1, what)
	})
}

// losesFile is an outage of a second or more, because of what is done to the file; /readyz gives this reason.
func (w *worker) losesFile(reason string, breakIt func()) (*storeOutage, string) {
	w.rig.Helper()
	o := w.loses(500, breakIt)
	o.lasts(time.Second)
	_, text := w.get("/readyz")
	if !strings.Contains(text, reason) {
		w.rig.Errorf("/readyz says %q, without %q", text, reason)
	}
	return o, text
}

func (r *rig) removesStore(w *worker) string {
	_, text := w.losesFile("its file was removed", func() { r.must(os.Remove(r.store.path())) })
	rescued := filepath.Join(r.dir, "rescued.db")
	left, err := os.ReadFile(regexp.MustCompile(`/proc/\d+/fd/\d+`).FindString(text)) // where the worker says it still has it
	r.must(err)
	r.must(os.WriteFile(rescued, left, 0o600))
	w.kills()
	r.isRefused("the key signed")
	if _, err := os.Stat(r.store.path()); err == nil {
		r.Error("a start that was refused has made a store")
	}
	r.does(r.command("audit", "restore", rescued))
	r.start(outageLock)
	r.untilDone()
	return "store removed, copied from its process and restored"
}

func (r *rig) movesStore(w *worker) string {
	o, _ := w.losesFile("its file was moved away", func() { r.must(os.Rename(r.store.path(), r.store.path()+".moved")) })
	r.isRefused("in use by worker", outageLock)
	r.must(os.Rename(r.store.path()+".moved", r.store.path()))
	took := o.over()
	r.untilDone()
	w.kills()
	r.submit(50)
	r.start(outageLock)
	return "store moved away and back, taken up after " + took.Round(time.Millisecond).String()
}

func (r *rig) replacesStore(w *worker) string {
	path := r.store.path()
	r.does(r.command("audit", "backup", path+".copy"))
	w.losesFile("another file was put in its place", func() {
		r.must(os.Link(path, path+".own"))
		r.must(os.Rename(path+".copy", path))
	})
	w.kills()
	r.isRefused("the key signed", outageLock)
	r.must(os.Rename(path+".own", path))
	r.start(outageLock)
	r.untilDone()
	return "store replaced and put back"
}

// Row 37. The guards are the look at the log, which has what only the log had brought into the file, and the head that each commit
// notes in the lock file. Seen to fail without, in internal/audit/sqlite: TestALogThatIsTakenAwayCostsNoRecord and
// TestRecordsThatWentWithTheLogAreMissedByTheNextProcess.
func TestLogTakenFromUnderAWorkerLosesNoDecision(t *testing.T) {
	r := newRig(t, setup{row: 37, what: "-wal and -shm removed while it works, noticed, kill -9", store: inSQLite})
	kills := 0
	for range either(3, 30) {
		w := r.start(outageLock)
		w.answersStatus("/readyz", http.StatusOK)
		before := r.done()
		r.submit(100)
		r.until("jobs flow", func() bool { return r.done() > before })
		r.losesLog()
		r.until("the log is made anew", func() bool { return len(w.lines("store_back")) > 0 || r.logMade(w) })
		w.kills()
		kills++
	}
	r.start(outageLock)
	invariants(r)
	r.happened(kills, "logs removed")
}

// Row 37. The guard is the head in the lock file, as above.
func TestDecisionsLostWithTheLogAreMissed(t *testing.T) {
	r := newRig(t, setup{row: 37, what: "-wal and -shm removed, kill -9 before it is noticed", store: inSQLite})
	w := r.warm(100, outageLock)
	r.must(w.Signal(syscall.SIGSTOP))
	r.losesLog()
	w.kills()
	r.isRefused("the key signed", outageLock)
	r.isRefused("the key signed", outageLock) // and not only once
	w = r.warm(50, "--new-trail", outageLock)
	r.happened(len(w.lines("audit_trail_begun_anew")), "trail given up by a person")
	r.happened(100, "decisions missed by the next start")
}

// losesLog removes the log of the SQLite file.
func (r *rig) losesLog() {
	r.Helper()
	r.must(os.Remove(r.store.path() + "-wal"))
	r.must(os.Remove(r.store.path() + "-shm"))
}

// logMade reports whether the worker has made its log anew, after which it may log nothing: the commit was tried again.
func (r *rig) logMade(w *worker) bool {
	r.Helper()
	_, err := os.Stat(r.store.path() + "-wal")
	return err == nil && w.metric("retry_store_errors_total") > 0
}

// Row 38. The guards are the count of names, the look for a mount, and the lock on the file itself. Without them the
// second worker starts on a log of its own. The count and the lock were seen to fail without in internal/audit/sqlite:
// TestAFileWithASecondNameIsRefused, TestTheHolderOfAFileHoldsItBySecondNames.
func TestOneFileByTwoNamesIsNotUsedTwice(t *testing.T) {
	r := newRig(t, setup{row: 38, what: "a hard link and a bind mount of the store", store: inSQLite})
	w := r.start(outageLock)
	r.submit(200)
	r.until("jobs flow", func() bool { return r.done() > 0 })
	path := r.store.path()
	linked := filepath.Join(r.dir, "linked.db")
	r.must(os.Link(path, linked))
	r.isRefused("has 2 names (hard links)", "RETRY_DATABASE_URL=sqlite://"+linked)
	r.must(os.Remove(linked))
	mounted := filepath.Join(t.TempDir(), "mounted.db")
	r.must(os.WriteFile(mounted, nil, 0o600))
	r.does(exec.CommandContext(t.Context(), "mount", "--bind", path, mounted))
	t.Cleanup(func() { r.check(exec.Command("umount", "--lazy", mounted).Run()) })
	r.isRefused("the file is a mount of its own: mount its directory instead", "RETRY_DATABASE_URL=sqlite://"+mounted)
	w.answersStatus("/readyz", http.StatusOK)
	invariants(r)
	r.happened(2, "second names refused")
}
