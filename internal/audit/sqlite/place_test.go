package sqlite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// working is a store with a hundred records, all of them in its log.
func working(t *testing.T) (s *Store, path string, secret *audit.Secret) {
	t.Helper()
	path, secret = newFile(t).path, audittest.Secret(t)
	s, err := Open(t.Context(), path, secret, Options{Worker: "test"})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() }) // a store that is not in its place says so
	mustFill(t, s, 0, 100)
	return s, path, secret
}

func mustFill(t *testing.T, s *Store, from, to int) {
	t.Helper()
	must(t, audittest.Fill(t.Context(), s, from, to))
}

func (s *Store) appends(t *testing.T, n int) error {
	t.Helper()
	_, err := s.Append(t.Context(), audittest.Records(n, n+1), nil)
	return err
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	out, err := os.Create(to)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err, in.Close(), out.Close())
}

// holds opens the file as the next process does, and counts its records.
func holds(t *testing.T, path string, secret *audit.Secret) int64 {
	t.Helper()
	s := openFile(t, path, secret)
	v, err := audit.Verify(t.Context(), s, secret.Public(), nil, nil)
	must(t, err, s.Close())
	return v.Records
}

func TestACommitIntoAFileThatIsNotAtItsPathFails(t *testing.T) {
	for name, test := range map[string]struct {
		stray func(t *testing.T, path string)
		says  string
	}{
		"removed": {func(t *testing.T, path string) { t.Helper(); must(t, os.Remove(path)) }, "its file was removed: as long as this process runs"},
		"moved":   {func(t *testing.T, path string) { t.Helper(); must(t, os.Rename(path, path+".old")) }, "its file was moved away"},
		"replaced by a copy": {func(t *testing.T, path string) {
			t.Helper()
			copyFile(t, path, path+".copy")
			must(t, os.Rename(path+".copy", path))
		}, "another file was put in its place"},
		"its directory is moved": {func(t *testing.T, path string) {
			t.Helper()
			must(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+".old"))
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path) + ".old") })
		}, "its file was moved away"},
		"cut off": {func(t *testing.T, path string) { t.Helper(); must(t, os.Truncate(path, 8192)) }, "its file was cut off from"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := working(t)
			test.stray(t, path)
			for what, err := range map[string]error{"in place": s.InPlace(), "probe": s.Probe(t.Context()), "append": s.appends(t, 100)} {
				if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: got %v, want %q", what, err, test.says)
				}
			}
			if err := s.Close(); err == nil {
				t.Error("its end says nothing")
			}
		})
	}
}

// Without the check before the file is opened, the writer goes on in whatever is at the path.
func TestAnotherFileAtThePathIsNeitherReadNorWritten(t *testing.T) {
	s, path, secret := working(t)
	other := filepath.Join(t.TempDir(), "other.db")
	o := openFile(t, other, secret)
	must(t, o.Close())
	must(t, os.Rename(path, path+".old"))
	copyFile(t, other, path)
	before := mustRead(t, path)
	// As after a failed write: all connections are new.
	s.read.SetMaxIdleConns(0)
	s.read.SetMaxIdleConns(readers)
	if err := s.appends(t, 100); err == nil {
		t.Error("a decision is stored in a file that is not at the path")
	}
	_ = s.writer.close()
	s.writer = nil
	for range 3 {
		if err := s.appends(t, 100); err == nil || !strings.Contains(err.Error(), "another file") {
			t.Errorf("append: %v", err)
		}
		if records, err := s.Claim(t.Context(), audittest.Record(1).ClaimID); err == nil {
			t.Errorf("%d records were read out of another file", len(records))
		}
	}
	_ = s.Close()
	if mustRead(t, path) != before {
		t.Error("the other file was written to")
	}
	must(t, os.Remove(path), os.Rename(path+".old", path))
	if n := holds(t, path, secret); n < 100 {
		t.Errorf("the store has %d records, want the 100 that it had acknowledged", n)
	}
}

func TestAFileThatIsMovedBackIsWrittenToAgain(t *testing.T) {
	s, path, secret := working(t)
	must(t, os.Rename(path, path+".old"))
	if err := s.appends(t, 100); err == nil {
		t.Error("a decision is stored in a file that is not at the path")
	}
	must(t, os.Rename(path+".old", path))
	must(t, s.Probe(t.Context()))
	mustFill(t, s, 100, 110)
	must(t, s.Close())
	if n := holds(t, path, secret); n != 110 {
		t.Errorf("%d records, want 110", n)
	}
}

// What only the log had is brought into the file that is moved, so that it is whole without the log.
func TestAFileThatWasMovedIsWholeByItself(t *testing.T) {
	s, path, secret := working(t)
	moved := filepath.Join(t.TempDir(), "moved.db")
	must(t, os.Rename(path, moved))
	if err := s.Probe(t.Context()); err == nil {
		t.Fatal("nothing is noticed")
	}
	_ = s.Close()
	if n := holds(t, moved, secret); n != 100 {
		t.Errorf("%d records, want 100", n)
	}
}

func TestALogThatIsTakenAwayCostsNoRecord(t *testing.T) {
	remove := func(t *testing.T, path string, suffixes ...string) {
		t.Helper()
		for _, suffix := range suffixes {
			must(t, os.Remove(path+suffix))
		}
	}
	for name, stray := range map[string]func(t *testing.T, path string){
		"log":   func(t *testing.T, path string) { t.Helper(); remove(t, path, "-wal") },
		"index": func(t *testing.T, path string) { t.Helper(); remove(t, path, "-shm") },
		"both":  func(t *testing.T, path string) { t.Helper(); remove(t, path, "-wal", "-shm") },
		"new empty": func(t *testing.T, path string) {
			t.Helper()
			remove(t, path, "-wal")
			must(t, os.WriteFile(path+"-wal", nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, secret := working(t)
			stray(t, path)
			if err := s.InPlace(); err == nil || !strings.Contains(err.Error(), "write-ahead log") {
				t.Errorf("in place: %v", err)
			}
			if err := s.appends(t, 100); err == nil {
				t.Error("a decision is stored in a log that is not at the path")
			}
			// What the next process opens, if this one is killed now.
			left := filepath.Join(t.TempDir(), "left.db")
			copyFile(t, path, left)
			if n := holds(t, left, secret); n < 100 {
				t.Errorf("the file has %d records, want the 100 that were acknowledged", n)
			}
			must(t, s.Probe(t.Context()))
			must(t, s.appends(t, 100))
			mustFill(t, s, 101, 120)
			must(t, s.Close())
			if n := holds(t, path, secret); n != 120 {
				t.Errorf("%d records, want 120", n)
			}
		})
	}
}

func TestALogIsMadeAnewOnlyWhenNobodyReadsTheOldOne(t *testing.T) {
	s, path, _ := working(t)
	reader, err := s.read.Conn(t.Context())
	must(t, err)
	must(t, os.Remove(path+"-wal"))
	for range 3 {
		if err := s.Probe(t.Context()); err == nil {
			t.Error("a new log is used beside the old one")
		}
	}
	must(t, reader.Close(), s.Probe(t.Context()))
}

func TestALogOfSomebodyElseIsLeftAlone(t *testing.T) {
	s, path, secret := working(t)
	log := mustRead(t, path+"-wal")
	must(t, os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte(log), 0o600))
	for range 3 {
		if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "move that one away") {
			t.Errorf("got %v", err)
		}
	}
	if mustRead(t, path+"-wal") != log {
		t.Error("it was changed")
	}
	must(t, os.Rename(path+"-wal", path+"-wal.old"), s.Probe(t.Context()))
	mustFill(t, s, 100, 110)
	must(t, s.Close())
	if n := holds(t, path, secret); n != 110 {
		t.Errorf("%d records, want 110", n)
	}
}

// Without the comparison after the log was made anew, the chain goes on where the log was cut off.
func TestALogThatWasCutOffIsNotGoneOnWith(t *testing.T) {
	for name, part := range map[string]int{"emptied": 0, "halved": 2} {
		t.Run(name, func(t *testing.T) {
			s, path, secret := working(t)
			size := 0
			if part > 0 {
				size = len(mustRead(t, path+"-wal")) / part
			}
			must(t, os.Truncate(path+"-wal", int64(size)))
			if err := s.InPlace(); err == nil || !strings.Contains(err.Error(), "(-wal) was cut off from") {
				t.Errorf("in place: %v", err)
			}
			for range 3 {
				if err := s.appends(t, 100); err == nil {
					t.Error("a decision is stored behind records that are gone")
				}
			}
			if _, is := errors.AsType[*audit.MissingError](s.Probe(t.Context())); !is {
				t.Errorf("probe: %v, want what is missing", s.Probe(t.Context()))
			}
			_ = s.Close()
			_, err := Open(t.Context(), path, secret, Options{})
			if _, is := errors.AsType[*audit.MissingError](err); !is {
				t.Errorf("the next process opens it with %v", err)
			}
		})
	}
}

// A log that its owner, SQLite itself, has emptied from another process is cut off too, and nothing is missing.
func TestALogThatWasEmptiedInOrderIsGoneOnWith(t *testing.T) {
	s, path, secret := working(t)
	must(t, file{path}.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)"))
	if err := s.appends(t, 100); err != nil {
		t.Logf("the first time: %v", err)
		must(t, s.appends(t, 100))
	}
	must(t, s.Close())
	if n := holds(t, path, secret); n != 101 {
		t.Errorf("%d records, want 101", n)
	}
}

// What other processes do beside a worker moves nothing.
func TestQuestionsBackupsAndCheckpointsLeaveTheFileInItsPlace(t *testing.T) {
	s, path, secret := working(t)
	for n := 100; n < 3000; n += 500 { // the log is checkpointed every thousand pages
		mustFill(t, s, n, n+500)
		reader, err := OpenReadOnly(t.Context(), path)
		must(t, err)
		_, err = reader.Heads(t.Context())
		must(t, err, reader.Close(), s.InPlace(), file{path}.exec(t, "PRAGMA wal_checkpoint(PASSIVE)"), s.Probe(t.Context()))
	}
	must(t, Backup(t.Context(), path, path+".backup"), s.Probe(t.Context()))
	if _, err := s.write2(t); err != nil {
		t.Error(err)
	}
	must(t, s.Probe(t.Context()), s.Close())
	if n := holds(t, path, secret); n != 3100 {
		t.Errorf("%d records, want 3100", n)
	}
}

// write2 has a write fail, after which the writer is opened anew.
func (s *Store) write2(t *testing.T) (audit.Head, error) {
	t.Helper()
	if err := s.Purge(t.Context(), s.secret.SignTombstone(audit.Tombstone{Chain: 1, From: 99, Through: 100})); err == nil {
		t.Error("a tombstone was stored that stands for nothing")
	}
	return s.acknowledged, s.Probe(t.Context())
}

// The look before the transaction does not see it.
func TestAFileThatIsMovedDuringACommitIsNoticedAfterIt(t *testing.T) {
	s, path, _ := working(t)
	err := s.write(t.Context(), func(ctx context.Context, w *writer) error {
		must(t, os.Rename(path, path+".old"))
		return w.exec(ctx, setMeta, metaProbe, "")
	})
	if err == nil || !strings.Contains(err.Error(), "was moved away") {
		t.Errorf("got %v", err)
	}
}

// Without keepLog, SQLite removes by name what is not its own.
func TestALogOfSomebodyElseIsNotRemovedByTheLastConnection(t *testing.T) {
	s, path, _ := working(t)
	must(t, os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte("another log"), 0o600))
	s.read.SetMaxIdleConns(0) // the writer is the last connection
	if err := s.Probe(t.Context()); err == nil {
		t.Error("nothing is noticed")
	}
	if text := mustRead(t, path+"-wal"); text != "another log" {
		t.Errorf("the other log is now %q", text)
	}
}
