package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestABackupDuringWritesIsAWholeTrail(t *testing.T) {
	s, f, secret := newStore(t)
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 1000)))
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	begun := make(chan struct{})
	writing.Go(func() {
		for n := 1000; ctx.Err() == nil; n += 10 {
			if _, err := s.Append(t.Context(), audittest.Entries(audittest.Records(n, n+10)...)); err != nil {
				t.Error(err)
				return
			}
			if n == 1000 {
				close(begun)
			}
		}
	})
	<-begun
	target := filepath.Join(t.TempDir(), "copy of today.db")
	err := Backup(t.Context(), f.path, target)
	stop()
	writing.Wait()
	check.Must(t, err)
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v; want it for its owner only", info.Mode(), err)
	}
	if r, err := OpenReadOnly(t.Context(), target, nil); err != nil || r.Close() != nil {
		t.Error(err)
	}
	if beside, err := filepath.Glob(target + "-*"); err != nil || len(beside) > 0 {
		t.Errorf("reading the copy leaves %v, %v", beside, err)
	}
	c := openFile(t, target, secret)
	before, err := audit.Verify(t.Context(), c, secret.Public(), nil)
	if err != nil || before.Records < 1010 {
		t.Fatalf("the copy has %d records in order, %v", before.Records, err)
	}
	audittest.Append(t, c, audittest.Records(100_000, 100_001)...)
	if after, err := audit.Verify(t.Context(), c, secret.Public(), before.Heads); err != nil || after.Records != before.Records+1 {
		t.Errorf("continued, it has %d records in order, %v", after.Records, err)
	}
}

func TestABackupOverwritesNothingAndLeavesNoHalfCopy(t *testing.T) {
	_, f, _ := newStore(t)
	there := filepath.Join(t.TempDir(), "there.db")
	check.Must(t, os.WriteFile(there, []byte("precious"), 0o600))
	if err := Backup(t.Context(), f.path, there); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "precious" {
		t.Errorf("the file that was there holds %q, %v", text, err)
	}

	none := filepath.Join(t.TempDir(), "none.db")
	if err := Backup(t.Context(), there, none); err == nil || !strings.Contains(err.Error(), there) {
		t.Errorf("a copy of what is no store: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Backup(cancelled, f.path, none); err == nil {
		t.Error("copied although it was cancelled")
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a copy is left: %v", err)
	}
}

func TestWhatLiesInThePlaceIsKeptByEachRestore(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	check.Must(t, openFile(t, f.path, secret).Close(), Backup(t.Context(), f.path, backup))
	logs := []string{"the first log", "the second log"}
	for _, log := range logs { // each without its store
		check.Must(t, os.Remove(f.path), os.WriteFile(f.path+"-wal", []byte(log), 0o600))
		done, err := Restore(t.Context(), f.path, backup, secret.Public())
		check.Must(t, err)
		if done.Aside != "" {
			t.Errorf("there was no store, and it is kept as %s", done.Aside)
		}
	}
	kept, err := filepath.Glob(f.path + ".before-restore-*-wal")
	check.Must(t, err)
	if len(kept) != len(logs) {
		t.Fatalf("of %d logs are kept %v", len(logs), kept)
	}
	for i, file := range kept {
		if content, err := os.ReadFile(file); err != nil || string(content) != logs[i] {
			t.Errorf("%s: %q, %v", file, content, err)
		}
	}
}

// A restore that ends in between must not leave a store without what only its log has.
func TestAnInterruptedRestoreLeavesNoStoreWithoutItsLog(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	check.Must(t, openFile(t, f.path, secret).Close(), os.WriteFile(f.path+"-wal", []byte("log"), 0o600))
	aside := f.path + ".aside"
	check.Must(t, os.MkdirAll(filepath.Join(aside+"-wal", "in the way"), 0o700))
	if err := swap(f.path, f.path+".fresh", aside); err == nil {
		t.Fatal("the log was moved over a directory")
	}
	if _, err := Open(t.Context(), f.path, audittest.Key(secret)); err == nil || !strings.Contains(err.Error(), "there is a write-ahead log") {
		t.Errorf("opened with %v", err)
	}
}
