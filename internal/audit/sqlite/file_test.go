package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

func TestTheFilesAreForTheirOwnerOnly(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	check := func() {
		t.Helper()
		for _, name := range []string{"", "-wal", "-shm", ".lock"} {
			info, err := os.Stat(f.path + name)
			must(t, err)
			if mode := info.Mode().Perm(); mode != 0o600 {
				t.Errorf("audit.db%s has mode %o", name, mode)
			}
		}
	}
	s := openFile(t, f.path, secret)
	check()
	must(t, s.Close())
	if err := os.Chmod(f.path, 0o644); err != nil { // restored from a backup, say
		t.Fatal(err)
	}
	openFile(t, f.path, secret)
	check()
}

func TestAPathWithOddLettersIsThatPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c=d%20#é&mode=memory.db")
	s := openFile(t, path, audittest.Secret(t))
	must(t, audittest.Fill(t.Context(), s, 0, 1))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestNobodyChangesOrRemovesARecordBySQL is row 28 of the faults, as far as SQLite has it: whoever has the file can drop
// the triggers, and then Verify finds what was done.
func TestNobodyChangesOrRemovesARecordBySQL(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	s := openFile(t, f.path, secret)
	results, err := s.Append(t.Context(), audittest.Records(0, 10), nil)
	must(t, err)
	var ids []int64
	for _, r := range results {
		ids = append(ids, r.Record.ID)
	}
	if _, err := s.Append(t.Context(), nil, ids); err != nil {
		t.Fatal(err)
	}
	tombstones, err := s.Purgeable(t.Context(), audittest.Record(3).At, false)
	if err != nil || len(tombstones) != 1 {
		t.Fatal(tombstones, err)
	}
	tombstones[0].At = time.Now()
	must(t, s.Purge(t.Context(), secret.SignTombstone(tombstones[0])))
	for _, statement := range []string{
		"UPDATE records SET message = 'x' WHERE seq = 5", "UPDATE records SET seq = seq + 100", "DELETE FROM records WHERE seq = 4", "DELETE FROM records",
		"UPDATE tombstones SET through = 9", "DELETE FROM tombstones",
	} {
		if err := f.exec(t, statement); err == nil || !strings.Contains(err.Error(), "records are") && !strings.Contains(err.Error(), "tombstones are") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if v, err := audit.Verify(t.Context(), s, secret.Public(), nil, nil); err != nil || v.Records != 7 {
		t.Errorf("%d records, %v", v.Records, err)
	}
	// SQLite asks no trigger about what a REPLACE removes, and a trigger on every insert would cost a sixth of an append.
	must(t, f.exec(t, "REPLACE INTO records ("+columns+") SELECT "+strings.Replace(columns, "message", "'x'", 1)+" FROM records WHERE seq = 5"))
	_, err = audit.Verify(t.Context(), s, secret.Public(), nil, nil)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 5 {
		t.Errorf("after a REPLACE: %v", err)
	}
}

func TestReadingAStoreThatNobodyWritesToChangesNothing(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	if _, err := OpenReadOnly(t.Context(), f.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	s := openFile(t, f.path, secret)
	must(t, audittest.Fill(t.Context(), s, 0, 100))
	must(t, s.Close())
	before := mustRead(t, f.path)
	reader, err := OpenReadOnly(t.Context(), f.path)
	must(t, err)
	if v, err := audit.Verify(t.Context(), reader, secret.Public(), nil, nil); err != nil || v.Records != 100 {
		t.Errorf("%d records, %v", v.Records, err)
	}
	for name, err := range map[string]error{
		"append": func() error { _, err := reader.Append(t.Context(), audittest.Records(0, 1), nil); return err }(),
		"purge":  reader.Purge(t.Context(), audit.Tombstone{}), "probe": reader.Probe(t.Context()),
	} {
		if err == nil {
			t.Errorf("%s: done", name)
		}
	}
	must(t, reader.Close())
	if mustRead(t, f.path) != before {
		t.Error("the file is another one")
	}
}

// TestReadingWhatAKilledProcessLeftChangesNothing fails where the readers open the file for writing: then the last one
// of them to close it tidies up.
func TestReadingWhatAKilledProcessLeftChangesNothing(t *testing.T) {
	f, secret, left := newFile(t), audittest.Secret(t), newFile(t)
	s := openFile(t, f.path, secret)
	must(t, audittest.Fill(t.Context(), s, 0, 100))
	for _, name := range []string{"", "-wal"} {
		must(t, os.WriteFile(left.path+name, []byte(mustRead(t, f.path+name)), 0o600))
	}
	file, log := mustRead(t, left.path), mustRead(t, left.path+"-wal")
	reader, err := OpenReadOnly(t.Context(), left.path)
	must(t, err)
	if v, err := audit.Verify(t.Context(), reader, secret.Public(), nil, nil); err != nil || v.Records != 100 {
		t.Errorf("%d records, %v", v.Records, err)
	}
	must(t, reader.Close())
	if mustRead(t, left.path) != file || mustRead(t, left.path+"-wal") != log {
		t.Error("the files are other ones")
	}
}

func TestAFileThatIsNoStoreIsRefused(t *testing.T) {
	f := newFile(t)
	must(t, os.WriteFile(f.path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	if s, err := Open(t.Context(), f.path, audittest.Secret(t), Options{}); err == nil {
		t.Error("opened", s)
	}
	if s, err := OpenReadOnly(t.Context(), f.path); err == nil {
		t.Error("opened for reading", s)
	}
}

// TestTheStoreIsNotWrittenToOverAnEndThatItsHeadDoesNotName fails where Open takes the last record for the end of the
// chain: the next head, well signed, would hide that records were cut off.
func TestTheStoreIsNotWrittenToOverAnEndThatItsHeadDoesNotName(t *testing.T) {
	f, secret := newFile(t), audittest.Secret(t)
	s := openFile(t, f.path, secret)
	must(t, audittest.Fill(t.Context(), s, 0, 10))
	f.Tamper(t, "DELETE FROM records WHERE seq > 8")
	must(t, s.Close())
	_, err := Open(t.Context(), f.path, secret, Options{})
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 8 {
		t.Errorf("opened with %v", err)
	}
	if reader, err := OpenReadOnly(t.Context(), f.path); err != nil {
		t.Errorf("it cannot be looked into: %v", err)
	} else if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
