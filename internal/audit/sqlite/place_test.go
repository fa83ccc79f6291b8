package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// working is a store with a hundred records, all of them in its log.
func working(t *testing.T) (s *store, path string, secret *audit.Secret) {
	t.Helper()
	path, secret = newFile(t).path, audittest.Secret(t)
	opened, err := Open(t.Context(), path, audittest.Key(secret))
	check.Must(t, err)
	s = opened.(*store)
	t.Cleanup(func() { _ = s.Close() }) // a store that is not in its place says so
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 100)))
	return s, path, secret
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
		"removed": {os.Remove, "audit.db was moved away or removed"},
		"moved":   {func(path string) error { return os.Rename(path, path+".old") }, "audit.db was moved away or removed"},
		"replaced": {func(path string) error {
			return errors.Join(os.WriteFile(path+".copy", nil, 0o600), os.Rename(path+".copy", path))
		}, "another file was put in the place of"},
		"its directory is moved": {func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Join(t.TempDir(), "old"))
		}, "was moved away or removed"},
		"a second name":      {func(path string) error { return os.Link(path, path+".other") }, "has 2 names (hard links)"},
		"its log is removed": {func(path string) error { return os.Remove(path + "-wal") }, "audit.db-wal was moved away or removed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := working(t)
			check.Must(t, test.stray(path))
			for what, err := range map[string]error{"probe": audittest.Probe(t.Context(), s), "append": audittest.Fill(t.Context(), s, audittest.Records(100, 101)), "the end": s.Close()} {
				check.Fails(t, err, test.says, path)
				if t.Failed() {
					t.Fatal(what)
				}
			}
		})
	}
}

// Without the check before the writer is opened again, it goes on in any file at the path.
func TestAnotherFileAtThePathIsNotWritten(t *testing.T) {
	s, path, secret := working(t)
	other := filepath.Join(t.TempDir(), "other.db")
	check.Must(t, openFile(t, other, secret).Close(), os.Rename(path, path+".old"), copyFile(other, path))
	before := mustRead(t, path)
	_ = s.writer.close() // as after a failed write
	s.writer = nil
	for range 3 {
		check.Fails(t, audittest.Fill(t.Context(), s, audittest.Records(100, 101)), "another file")
	}
	_ = s.Close()
	if mustRead(t, path) != before {
		t.Error("the other file was written to")
	}
}

// The orderly end copies what the log had into the file, and leaves what lies at the log's name.
func TestALogThatIsTakenAwayCostsNoRecordAtAnOrderlyEnd(t *testing.T) {
	for name, foreign := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			s, path, secret := working(t)
			check.Must(t, os.Remove(path+"-wal"))
			if foreign {
				check.Must(t, os.WriteFile(path+"-wal", []byte("another log"), 0o600))
			}
			check.Fails(t, audittest.Probe(t.Context(), s), "-wal")
			check.Fails(t, s.Close(), "-wal")
			if foreign {
				if text := mustRead(t, path+"-wal"); text != "another log" {
					t.Errorf("the other log is now %q", text)
				}
				check.Must(t, os.Remove(path+"-wal"))
			}
			holds(t, path, secret, 100)
		})
	}
}

// Without the comparison the chain goes on where the records end that are left.
func TestAFileThatHasLostRecordsIsNotContinued(t *testing.T) {
	s, _, _ := working(t)
	_ = s.writer.close()
	s.writer = nil
	s.stored++ // one that was reported done
	check.Fails(t, audittest.Probe(t.Context(), s), "it had 101 records and has 100", "restore a backup")
}

func TestQuestionsBackupsAndCheckpointsLeaveTheFileInItsPlace(t *testing.T) {
	s, path, secret := working(t)
	for n := 100; n < 3000; n += 500 { // the log is checkpointed every four thousand pages
		check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(n, n+500)))
		reader, err := OpenReadOnly(t.Context(), path, nil)
		check.Must(t, err)
		_, _, err = reader.Heads(t.Context())
		check.Must(t, err, reader.Close(), file{path}.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)"), audittest.Probe(t.Context(), s))
	}
	check.Must(t, Backup(t.Context(), path, path+".backup"), audittest.Probe(t.Context(), s))
	// A write that fails, after which the writer is opened anew.
	err := s.write(t.Context(), func(ctx context.Context, w *writer) error { return w.exec(ctx, "INSERT INTO nowhere VALUES (1)") })
	check.Fails(t, err, "nowhere")
	check.Must(t, audittest.Probe(t.Context(), s), audittest.Probe(t.Context(), s), s.Close())
	holds(t, path, secret, 3100)
}

func TestAFileWithASecondNameIsRefused(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	check.Must(t, openFile(t, f.path, secret).Close())
	other := filepath.Join(t.TempDir(), "other.db")
	check.Must(t, os.Link(f.path, other))
	for _, path := range []string{f.path, other} {
		_, err := Open(t.Context(), path, audittest.Key(secret))
		check.Fails(t, err, "has 2 names (hard links)")
	}
	check.Must(t, os.Remove(other))
	openFile(t, f.path, secret)
}

func TestALogWithoutItsStoreIsNotThrownAway(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	check.Must(t, os.WriteFile(f.path+"-wal", []byte("log"), 0o600))
	_, err := Open(t.Context(), f.path, audittest.Key(secret))
	check.Fails(t, err, "but no store")
	if mustRead(t, f.path+"-wal") != "log" {
		t.Error("it was changed")
	}
}

// Where the lock is on another file, such as one named after the path, both have the file open, and the chain gets two ends.
func TestAHeldFileIsHeldByAllItsNames(t *testing.T) {
	s, path, secret := working(t)
	other := t.TempDir()
	dir, link, hard := filepath.Join(other, "dir"), filepath.Join(other, "file.db"), filepath.Join(other, "hard.db")
	check.Must(t, os.Symlink(filepath.Dir(path), dir), os.Symlink(path, link), os.Link(path, hard))
	for _, second := range []string{path, filepath.Join(dir, "audit.db"), link, hard} {
		_, err := Open(t.Context(), second, audittest.Key(secret))
		check.Fails(t, err, audit.ErrHeld.Error(), second)
	}
	check.Must(t, os.Remove(hard), s.Close())
	holds(t, path, secret, 100)
}
