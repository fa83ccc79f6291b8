package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// The test binary is also another worker: with these in its environment it opens a store, and appends until it is
// killed.
const (
	childPath  = "AUDIT_TEST_CHILD_PATH"
	childKey   = "AUDIT_TEST_CHILD_KEY"
	childFirst = "AUDIT_TEST_CHILD_FIRST"
	childTest  = "AUDIT_TEST_CHILD_TEST" // a test that runs in a process of its own
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path, os.Getenv(childKey), os.Getenv(childFirst)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) // it does not end otherwise
	}
	goleak.VerifyTestMain(m)
}

func child(path, key, first string) error {
	secret, err := audit.LoadSecret(key)
	if err != nil {
		return err
	}
	s, err := Open(context.Background(), path, secret, Options{})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	for fmt.Println("open"); ; n += 10 { //nolint:forbidigo // the parent reads it
		if _, err := s.Append(context.Background(), audittest.Records(n, n+10), nil); err != nil {
			return err
		}
		fmt.Println(n + 10) //nolint:forbidigo // the parent reads it
	}
}

// process is a child that appends until it is killed.
type process struct {
	*exec.Cmd
	t      *testing.T
	lines  *bufio.Scanner
	stored int // how many records it has acknowledged
}

// start starts a process that appends from a record on.
func start(t *testing.T, path string, secret *audit.Secret, first int) *process {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key.pem")
	check.Must(t, secret.Save(key))
	w := &process{Cmd: exec.Command(os.Args[0]), t: t, stored: first}
	w.Env = append(os.Environ(), childPath+"="+path, childKey+"="+key, childFirst+"="+strconv.Itoa(first))
	w.Stderr = os.Stderr
	out, err := w.StdoutPipe()
	check.Must(t, err, w.Start())
	t.Cleanup(w.kill)
	w.lines = bufio.NewScanner(out)
	if !w.lines.Scan() || w.lines.Text() != "open" {
		t.Fatalf("the child did not open the store: %q", w.lines.Text())
	}
	return w
}

// appends waits for the process's next batch.
func (w *process) appends() {
	w.t.Helper()
	if !w.lines.Scan() {
		w.t.Fatal("the child ended by itself")
	}
	w.read()
}

func (w *process) read() {
	n, err := strconv.Atoi(w.lines.Text())
	check.Must(w.t, err)
	w.stored = n
}

// pause stops the process where it is, with what it holds, and returns when it stands still.
func (w *process) pause() {
	w.t.Helper()
	check.Must(w.t, w.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(w.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		w.t.Fatalf("the child did not stop: %v, %v", status, err)
	}
}

// kill ends the process, and reads what it has acknowledged until then.
func (w *process) kill() {
	_ = w.Process.Kill()
	for w.lines != nil && w.lines.Scan() {
		w.read()
	}
	_ = w.Wait()
}

// TestAKilledProcessLosesNothingAcknowledged is row 14 of the faults: kill -9 at any moment, also in the
// middle of a transaction. It fails where a transaction is reported before it is committed.
func TestAKilledProcessLosesNothingAcknowledged(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	stored := 0
	for round := range 6 {
		w := start(t, f.path, secret, stored)
		for range 1 + round*5 {
			w.appends()
		}
		w.kill()
		s := openFile(t, f.path, secret)
		v, err := audit.Verify(t.Context(), s, secret.Public(), nil, nil)
		if err != nil || v.Records < int64(w.stored) {
			t.Errorf("after kill %d: %d records, %v; %d were acknowledged", round+1, v.Records, err, w.stored)
		}
		stored = int(v.Records) // one more batch may have been stored
		check.Must(t, s.Close())
	}
}

func TestASecondProcessIsRefused(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	w := start(t, f.path, secret, 0)
	_, err := Open(t.Context(), f.path, secret, Options{})
	if held, is := errors.AsType[*audit.HeldError](err); !is || held.Store != f.path {
		t.Fatalf("opened with %v", err)
	}
	w.appends() // it goes on
	w.kill()
	openFile(t, f.path, secret) // kill -9 has set it free
}

func TestReadingNeedsNoLockAndSeesWhatIsWritten(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	w := start(t, f.path, secret, 0)
	reader, err := OpenReadOnly(t.Context(), f.path, "")
	check.Must(t, err)
	defer reader.Close()
	for range 5 {
		w.appends()
		v, err := audit.Verify(t.Context(), reader, secret.Public(), nil, nil)
		if err != nil || v.Records < int64(w.stored) {
			t.Fatalf("%d records, %v; %d were acknowledged", v.Records, err, w.stored)
		}
	}
	if err := reader.Probe(t.Context()); err == nil {
		t.Error("it wrote")
	}
}

// Where the lock is on another file, such as one named after the path, both have the file open, and the chain gets two ends.
func TestAHeldFileIsHeldByAllItsNames(t *testing.T) {
	f, secret, other := newFile(t), audittest.Secret(t), t.TempDir()
	dir, link, hard := filepath.Join(other, "dir"), filepath.Join(other, "file.db"), filepath.Join(other, "hard.db")
	check.Must(t, os.Symlink(filepath.Dir(f.path), dir), os.Symlink(f.path, link))
	w := start(t, filepath.Join(dir, "audit.db"), secret, 0)
	w.pause() // it would end when its next batch finds the second name
	check.Must(t, os.Link(f.path, hard))
	for _, second := range []string{f.path, filepath.Join(dir, "audit.db"), link, hard} {
		_, err := Open(t.Context(), second, secret, Options{})
		if held, ok := errors.AsType[*audit.HeldError](err); !ok || held.Store != second {
			t.Errorf("%s is opened with %v", second, err)
		}
	}
	w.kill()
}
