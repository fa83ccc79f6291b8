package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// TestRecordsLostWithTheLogAreMissedAtTheStart fails where the head of the last commit is not noted: killed before
// the worker notices, the file is in order and has none of them.
func TestRecordsLostWithTheLogAreMissedAtTheStart(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"log and index": func(path string) error { return errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")) },
		"cut off":       func(path string) error { return os.Truncate(path+"-wal", 0) },
		"the file":      os.Remove,
		"all three": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"moved": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			f, secret := newFile(t), audittest.Secret(t)
			w := start(t, f.path, secret, 0)
			for w.stored < 100 {
				w.appends()
			}
			check.Must(t, w.Process.Signal(syscall.SIGSTOP)) // it notices nothing
			check.Must(t, take(f.path))
			w.kill()
			for range 2 { // a refusal changes nothing
				s, err := Open(t.Context(), f.path, secret, Options{})
				if err == nil {
					v, err := audit.Verify(t.Context(), s, secret.Public(), nil, nil)
					check.Must(t, err, s.Close())
					if v.Records < int64(w.stored) {
						t.Fatalf("%d records were acknowledged, and a file with %d is opened", w.stored, v.Records)
					}
					continue
				}
				if missing, is := errors.AsType[*audit.MissingError](err); !is || missing.Chains[0].Signed.Seq < int64(w.stored) {
					t.Errorf("%v; %d were acknowledged", err, w.stored)
				}
			}
			if _, err := os.Stat(f.path); name == "moved" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a start that was refused has made a file: %v", err)
			}
			s, err := Open(t.Context(), f.path, secret, Options{NewTrail: true})
			check.Must(t, err, s.Close())
			openFile(t, f.path, secret) // from here on without
		})
	}
}

func TestAFileWithASecondNameIsRefused(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	check.Must(t, openFile(t, f.path, secret).Close())
	other := filepath.Join(t.TempDir(), "other.db")
	check.Must(t, os.Link(f.path, other))
	for _, path := range []string{f.path, other} {
		if _, err := Open(t.Context(), path, secret, Options{}); err == nil || !strings.Contains(err.Error(), "has 2 names (hard links)") {
			t.Errorf("%s: opened with %v", path, err)
		}
	}
	check.Must(t, os.Remove(other))
	openFile(t, f.path, secret)
}

// Without the lock on the file itself, a name that was made after the start goes past the lock file of the first.
func TestTheHolderOfAFileHoldsItBySecondNames(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	w := start(t, f.path, secret, 0)
	w.pause() // it would end when its next batch finds the file gone
	other := filepath.Join(t.TempDir(), "other.db")
	check.Must(t, os.Link(f.path, other))
	file, err := os.OpenFile(other, os.O_RDWR, 0)
	check.Must(t, err)
	if held, err := lockOpen(file); err != nil || !held {
		t.Errorf("held: %v, %v", held, err)
	}
	check.Must(t, file.Close(), os.Remove(f.path)) // one name again, which has another lock file
	_, err = Open(t.Context(), other, secret, Options{})
	if held, is := errors.AsType[*audit.HeldError](err); !is || !strings.Contains(held.Holder, "by another name") {
		t.Errorf("opened with %v", err)
	}
	w.kill()
}

func TestALogWithoutItsStoreIsNotThrownAway(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	check.Must(t, os.WriteFile(f.path+"-wal", []byte("log"), 0o600))
	if _, err := Open(t.Context(), f.path, secret, Options{}); err == nil || !strings.Contains(err.Error(), "but no store") {
		t.Errorf("opened with %v", err)
	}
	if mustRead(t, f.path+"-wal") != "log" {
		t.Error("it was changed")
	}
}

func TestAStoreWithoutWhatWasSignedIsNotOpened(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	signed := []audit.Head{secret.Head(audit.ChainAt(1, 5, audit.Hash{1}), time.Now())}
	refused := func(what string) {
		t.Helper()
		_, err := Open(t.Context(), f.path, secret, Options{Signed: signed})
		if missing, is := errors.AsType[*audit.MissingError](err); !is || len(missing.Chains) != 1 {
			t.Errorf("%s: opened with %v", what, err)
		}
	}
	refused("none")
	if _, err := os.Stat(f.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a start that was refused has made a file: %v", err)
	}
	check.Must(t, os.WriteFile(f.path, nil, 0o600))
	refused("empty")
	if info, err := os.Stat(f.path); err != nil || info.Size() > 0 {
		t.Errorf("a start that was refused has filled a file: %v", err)
	}
	s := openFile(t, f.path, secret)
	check.Must(t, audittest.Fill(t.Context(), s, 0, 4), s.Close())
	refused("fewer")
	s = openFile(t, f.path, secret)
	check.Must(t, audittest.Fill(t.Context(), s, 4, 5), s.Close())
	refused("another of this place")
	s = openFile(t, f.path, secret)
	check.Must(t, audittest.Fill(t.Context(), s, 5, 9), s.Close())
	refused("another of this place, and more")
	anew, err := Open(t.Context(), f.path, secret, Options{Signed: signed, NewTrail: true})
	check.Must(t, err, anew.Close())
}
