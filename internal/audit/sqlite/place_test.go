package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// working is a store with a hundred records, all of them in its log.
func working(t *testing.T) (s *store, path string, secret *audit.Secret) {
	t.Helper()
	path, secret = newFile(t).path, audittest.Secret(t)
	opened, err := Open(t.Context(), path, secret, Options{Worker: "test"})
	check.Must(t, err)
	s = opened.(*store)
	t.Cleanup(func() { _ = s.Close() }) // a store that is not in its place says so
	fill(t, s, 0, 100)
	return s, path, secret
}

func fill(t *testing.T, s *store, from, to int) {
	t.Helper()
	check.Must(t, audittest.Fill(t.Context(), s, from, to))
}

func (s *store) appends(t *testing.T, n int) error {
	t.Helper()
	return audittest.Fill(t.Context(), s, n, n+1)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, content, 0o600))
}

// holds opens the file as the next process does, which must find so many records.
func holds(t *testing.T, path string, secret *audit.Secret, records int64) {
	t.Helper()
	s := openFile(t, path, secret)
	audittest.Verify(t, s, secret, records)
	check.Must(t, s.Close())
}

func TestACommitIntoAMisplacedFileFails(t *testing.T) {
	for name, test := range map[string]struct {
		stray func(path string) error
		says  string
	}{
		"removed": {os.Remove, "its file was removed: as long as this process runs"},
		"moved":   {func(path string) error { return os.Rename(path, path+".old") }, "its file was moved away"},
		"replaced by a copy": {func(path string) error {
			return errors.Join(copyFile(path, path+".copy"), os.Rename(path+".copy", path))
		}, "another file was put in its place"},
		"its directory is moved": {func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Join(t.TempDir(), "old"))
		}, "its file was moved away"},
		"cut off": {func(path string) error { return os.Truncate(path, 8192) }, "its file was cut off from"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := working(t)
			check.Must(t, test.stray(path))
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

// Without the check before the file is opened, the writer goes on in any file at the path.
func TestAnotherFileAtThePathIsNeitherReadNorWritten(t *testing.T) {
	s, path, secret := working(t)
	other := filepath.Join(t.TempDir(), "other.db")
	check.Must(t, openFile(t, other, secret).Close())
	check.Must(t, os.Rename(path, path+".old"), copyFile(other, path))
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
	check.Must(t, os.Remove(path), os.Rename(path+".old", path))
	holds(t, path, secret, 100)
}

// What only the log had is brought into the file that is moved, so that it is whole without the log.
func TestAFileThatIsMovedBackIsWrittenToAgain(t *testing.T) {
	s, path, secret := working(t)
	moved := filepath.Join(t.TempDir(), "moved.db")
	check.Must(t, os.Rename(path, path+".old"))
	if err := s.appends(t, 100); err == nil {
		t.Error("a decision is stored in a file that is not at the path")
	}
	check.Must(t, copyFile(path+".old", moved), os.Rename(path+".old", path))
	holds(t, moved, secret, 100)
	check.Must(t, s.Probe(t.Context()))
	fill(t, s, 100, 110)
	check.Must(t, s.Close())
	holds(t, path, secret, 110)
}

func TestALogThatIsTakenAwayCostsNoRecord(t *testing.T) {
	for name, stray := range map[string]func(path string) error{
		"log":   func(path string) error { return os.Remove(path + "-wal") },
		"index": func(path string) error { return os.Remove(path + "-shm") },
		"both":  func(path string) error { return errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")) },
		"new empty": func(path string) error {
			return errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, secret := working(t)
			check.Must(t, stray(path))
			if err := s.InPlace(); err == nil || !strings.Contains(err.Error(), "write-ahead log") {
				t.Errorf("in place: %v", err)
			}
			if err := s.appends(t, 100); err == nil {
				t.Error("a decision is stored in a log that is not at the path")
			}
			// What the next process opens, if this one is killed now.
			left := filepath.Join(t.TempDir(), "left.db")
			check.Must(t, copyFile(path, left))
			holds(t, left, secret, 100)
			check.Must(t, s.Probe(t.Context()))
			check.Must(t, s.appends(t, 100))
			fill(t, s, 101, 120)
			check.Must(t, s.Close())
			holds(t, path, secret, 120)
		})
	}
}

func TestALogIsNotReplacedWhileTheOldOneIsRead(t *testing.T) {
	s, path, _ := working(t)
	reader, err := s.read.Conn(t.Context())
	check.Must(t, err)
	check.Must(t, os.Remove(path+"-wal"))
	for range 3 {
		if err := s.Probe(t.Context()); err == nil {
			t.Error("a new log is used next to the old one")
		}
	}
	check.Must(t, reader.Close(), s.Probe(t.Context()))
}

func TestALogOfSomebodyElseIsLeftAlone(t *testing.T) {
	s, path, secret := working(t)
	log := mustRead(t, path+"-wal")
	check.Must(t, os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte(log), 0o600))
	for range 3 {
		if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "move that one away") {
			t.Errorf("got %v", err)
		}
	}
	if mustRead(t, path+"-wal") != log {
		t.Error("it was changed")
	}
	check.Must(t, os.Rename(path+"-wal", path+"-wal.old"), s.Probe(t.Context()))
	fill(t, s, 100, 110)
	check.Must(t, s.Close())
	holds(t, path, secret, 110)
}

// Without the comparison after the log was made anew, the chain goes on where the log was cut off.
func TestATruncatedLogIsNotUsed(t *testing.T) {
	for name, part := range map[string]int{"emptied": 0, "halved": 2} {
		t.Run(name, func(t *testing.T) {
			s, path, secret := working(t)
			size := 0
			if part > 0 {
				size = len(mustRead(t, path+"-wal")) / part
			}
			check.Must(t, os.Truncate(path+"-wal", int64(size)))
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
func TestALogEmptiedByACheckpointIsUsed(t *testing.T) {
	s, path, secret := working(t)
	check.Must(t, file{path}.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)"))
	if err := s.appends(t, 100); err != nil {
		t.Logf("the first time: %v", err)
		check.Must(t, s.appends(t, 100))
	}
	check.Must(t, s.Close())
	holds(t, path, secret, 101)
}

// What other processes do next to a worker moves nothing.
func TestQuestionsBackupsAndCheckpointsLeaveTheFileInItsPlace(t *testing.T) {
	s, path, secret := working(t)
	for n := 100; n < 3000; n += 500 { // the log is checkpointed every thousand pages
		fill(t, s, n, n+500)
		reader, err := OpenReadOnly(t.Context(), path, "")
		check.Must(t, err)
		_, err = reader.Heads(t.Context())
		check.Must(t, err, reader.Close(), s.InPlace(), file{path}.exec(t, "PRAGMA wal_checkpoint(PASSIVE)"), s.Probe(t.Context()))
	}
	check.Must(t, Backup(t.Context(), path, path+".backup"), s.Probe(t.Context()))
	// A write that fails, after which the writer is opened anew.
	if err := s.Purge(t.Context(), secret.SignTombstone(audit.Tombstone{Chain: 1, From: 99, Through: 100})); err == nil {
		t.Error("a tombstone was stored that stands for nothing")
	}
	check.Must(t, s.Probe(t.Context()), s.Probe(t.Context()), s.Close())
	holds(t, path, secret, 3100)
}

// The look before the transaction does not see it.
func TestAFileMovedDuringACommitIsNoticed(t *testing.T) {
	s, path, _ := working(t)
	err := s.write(t.Context(), func(ctx context.Context, w *writer) error {
		check.Must(t, os.Rename(path, path+".old"))
		return w.exec(ctx, setMeta, metaProbe, "")
	})
	if err == nil || !strings.Contains(err.Error(), "was moved away") {
		t.Errorf("got %v", err)
	}
}

// Without keepLog, SQLite removes by name what is not its own.
func TestTheLastConnectionRemovesNoForeignLog(t *testing.T) {
	s, path, _ := working(t)
	check.Must(t, os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte("another log"), 0o600))
	s.read.SetMaxIdleConns(0) // the writer is the last connection
	if err := s.Probe(t.Context()); err == nil {
		t.Error("nothing is noticed")
	}
	if text := mustRead(t, path+"-wal"); text != "another log" {
		t.Errorf("the other log is now %q", text)
	}
}
