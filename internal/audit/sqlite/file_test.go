package sqlite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTheFilesAreForTheirOwnerOnly(t *testing.T) {
	f, secret := noFile(t), audittest.Secret(t)
	private := func() {
		t.Helper()
		for _, name := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(f.path + name)
			check.Must(t, err)
			if mode := info.Mode().Perm(); mode != 0o600 {
				t.Errorf("audit.db%s has mode %o", name, mode)
			}
		}
	}
	s := openFile(t, f.path, secret)
	private()
	check.Must(t, s.Close())
	if err := os.Chmod(f.path, 0o644); err != nil { // restored from a backup, say
		t.Fatal(err)
	}
	openFile(t, f.path, secret)
	private()
}

func TestAPathWithOddLettersIsThatPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c=d%20#é&mode=memory.db")
	s := openFile(t, path, audittest.Secret(t))
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 1)))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestReadingWhatAKilledProcessLeftChangesNothing fails where the readers open the file for writing: then the last one
// of them to close it tidies up.
func TestReadingWhatAKilledProcessLeftChangesNothing(t *testing.T) {
	f, secret, left := newFile(t), audittest.Secret(t), newFile(t)
	s := openFile(t, f.path, secret)
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 100)))
	check.Must(t, copyFile(f.path, left.path), copyFile(f.path+"-wal", left.path+"-wal"))
	file, log := mustRead(t, left.path), mustRead(t, left.path+"-wal")
	reader, err := OpenReadOnly(t.Context(), left.path, nil)
	check.Must(t, err)
	audittest.Verify(t, reader, secret, 100)
	_, err = reader.Append(t.Context(), audittest.Entries(audittest.Record(0)))
	_, purgeErr := reader.Purge(t.Context(), audittest.Start, false)
	for name, err := range map[string]error{"append": err, "purge": purgeErr, "probe": audittest.Probe(t.Context(), reader)} {
		if err == nil {
			t.Errorf("%s: done", name)
		}
	}
	check.Must(t, reader.Close())
	if mustRead(t, left.path) != file || mustRead(t, left.path+"-wal") != log {
		t.Error("the files are other ones")
	}
}

func TestAFileThatIsNoStoreIsRefused(t *testing.T) {
	f := newFile(t)
	check.Must(t, os.WriteFile(f.path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	if s, err := Open(t.Context(), f.path, audittest.Key(audittest.Secret(t))); err == nil {
		t.Error("opened", s)
	}
	if s, err := OpenReadOnly(t.Context(), f.path, nil); err == nil {
		t.Error("opened for reading", s)
	}
	if _, err := OpenReadOnly(t.Context(), noFile(t).path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestAnEndThatItsHeadDoesNotNameIsRefused fails where Open takes the last record for the end of the
// chain: the next head, well signed, would hide that records were cut off.
func TestAnEndThatItsHeadDoesNotNameIsRefused(t *testing.T) {
	s, f, secret := newStore(t)
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 10)))
	check.Must(t, s.Close())
	for _, meddle := range []string{"DELETE FROM records WHERE seq > 8", "UPDATE heads SET seq = 8, hash = (SELECT hash FROM records WHERE seq = 8)"} {
		f.Tamper(t, meddle)
		_, err := Open(t.Context(), f.path, audittest.Key(secret))
		if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 8 {
			t.Errorf("%s: opened with %v", meddle, err)
		}
	}
	if reader, err := OpenReadOnly(t.Context(), f.path, nil); err != nil {
		t.Errorf("it cannot be looked into: %v", err)
	} else if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

func TestAStoreWithRecordsThatNamesNoKeyIsRefused(t *testing.T) {
	s, f, secret := newStore(t)
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 10)), s.Close())
	f.Tamper(t, "DELETE FROM meta WHERE name = 'key'")
	_, err := Open(t.Context(), f.path, audittest.Key(secret))
	check.Fails(t, err, "was made with the key")
}

func TestASecondRowOfAClaimIsFound(t *testing.T) {
	s, f, secret := newStore(t)
	audittest.Append(t, s, audittest.Records(0, 3)...)
	f.Tamper(t, "INSERT INTO claims (claim_id, state) SELECT claim_id, state FROM claims LIMIT 1")
	_, err := audit.Verify(t.Context(), s, secret.Public(), nil)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.ClaimID == "" {
		t.Errorf("verified with %v", err)
	}
}

func TestClaimsAreFoundWhileMoreAreOpened(t *testing.T) {
	s, f, secret := newStore(t)
	reader, err := OpenReadOnly(t.Context(), f.path, secret)
	check.Must(t, err)
	defer reader.Close()
	for n := range 3 {
		audittest.Append(t, s, audittest.Record(n))
		for claim := range n + 1 {
			state, records, err := reader.Claim(t.Context(), audittest.Record(claim).ClaimID)
			if err != nil || state.IsZero() || len(records) != 1 {
				t.Errorf("of %d claims, number %d: %+v, %v", n+1, claim, state, err)
			}
		}
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check.Must(t, err)
	return string(text)
}

// Without secure_delete the bytes of a removed record stay in free pages until something else is written there.
func TestWhatWasPurgedIsGoneFromTheFile(t *testing.T) {
	s, f, _ := newStore(t)
	old, young := audittest.Ended(0, 300), audittest.Ended(300, 310)
	for i := range old {
		old[i].Message = "kept until it was too old"
	}
	for i := range young {
		young[i].Message = "kept for some years more"
	}
	audittest.Append(t, s, append(old, young...)...)
	audittest.Purge(t, s, young[0].At)
	check.Must(t, s.Close()) // the log goes into the file
	content, err := os.ReadFile(f.path)
	check.Must(t, err)
	if n := bytes.Count(content, []byte(old[0].Message)); n > 0 {
		t.Errorf("the file has the text of removed records in %d places", n)
	}
	if n := bytes.Count(content, []byte(young[0].Message)); n < len(young) {
		t.Errorf("the file has the text of records that were kept in %d places, want %d or more: this test sees nothing", n, len(young))
	}
}

// What fails last takes all with it: the head is written last.
func TestABatchIsStoredAsAWholeOrNotAtAll(t *testing.T) {
	s, f, secret := newStore(t)
	audittest.Append(t, s, audittest.Records(0, 3)...)
	f.Tamper(t, "CREATE TRIGGER full BEFORE INSERT ON heads BEGIN SELECT RAISE(ABORT, 'full'); END")
	if err := audittest.Fill(t.Context(), s, audittest.Records(3, 30)); err == nil {
		t.Error("appended without a head")
	}
	f.Tamper(t, "DROP TRIGGER full")
	audittest.Verify(t, s, secret, 3)
	audittest.Append(t, s, audittest.Records(3, 30)...)
	audittest.Verify(t, s, secret, 30)
}

const readOnlyPath = "AUDIT_TEST_READ_ONLY" // names the store to the test's own child

// An auditor's copy lies on a medium that nobody writes to, or belongs to another user.
func TestOfAStoreThatMayOnlyBeReadItIsSaidWhatToDo(t *testing.T) {
	if path := os.Getenv(readOnlyPath); path != "" {
		r, err := OpenReadOnly(t.Context(), path, nil)
		check.Must(t, err)
		check.Must(t, r.Close())
		return
	}
	s, f, _ := newStore(t)
	audittest.Append(t, s, audittest.Records(0, 10)...)
	check.Must(t, s.Close())
	dir := filepath.Dir(f.path)
	program := filepath.Join(dir, "test")
	check.Must(t, copyFile(os.Args[0], program), os.Chmod(program, 0o555), os.Chmod(f.path, 0o444), os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755))
	t.Cleanup(func() { check.Must(t, os.Chmod(dir, 0o700)) })
	read := func() ([]byte, error) {
		child := exec.CommandContext(t.Context(), program, "-test.run=^TestOfAStoreThatMayOnlyBeReadItIsSaidWhatToDo$")
		child.Env = append(os.Environ(), readOnlyPath+"="+f.path)
		if os.Getuid() == 0 { // who may write everywhere
			child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return child.CombinedOutput()
	}
	if said, err := read(); err == nil || !bytes.Contains(said, []byte("copy it, with its -wal")) {
		t.Errorf("%v\n%s", err, said)
	}
}

// The triggers keep mistakes away. The owner of the file can drop them,
// and then Verify finds what was done.
func TestNobodyChangesOrRemovesARecordBySQL(t *testing.T) {
	s, f, secret := newStore(t)
	audittest.Append(t, s, audittest.Ended(0, 10)...)
	audittest.Purge(t, s, audittest.Record(3).At)
	for _, statement := range []string{
		"UPDATE records SET message = 'x' WHERE seq = 5", "UPDATE records SET seq = seq + 100", "DELETE FROM records WHERE seq = 4", "DELETE FROM records",
	} {
		if err := f.exec(t, statement); err == nil || !strings.Contains(err.Error(), "records are") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	audittest.Verify(t, s, secret, 7)
	// SQLite asks no trigger about what a REPLACE removes, and a trigger on every insert would cost a sixth of an append.
	check.Must(t, f.exec(t, "REPLACE INTO records ("+reading.Names+") SELECT "+strings.Replace(reading.Names, "message", "'x'", 1)+" FROM records WHERE seq = 5"))
	_, err := audit.Verify(t.Context(), s, secret.Public(), nil)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 5 {
		t.Errorf("after a REPLACE: %v", err)
	}
}
