package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// backedUp is an archive with a backup that lacks the last three of its records.
func backedUp(t *testing.T) (a *archive, backup string) {
	t.Helper()
	all := week()
	a = archived(t, all[:len(all)-3])
	backup = filepath.Join(t.TempDir(), "backup.db")
	a.must(t, "audit", "backup", backup)
	a.heads(t, all[len(all)-3:]...)
	return a, backup
}

func TestARestoredBackupIsInThePlaceOfTheStore(t *testing.T) {
	for name, lose := range map[string]func(*archive) error{
		"next to what is there": func(*archive) error { return nil },
		"where it was removed":  func(a *archive) error { return os.Remove(a.path) },
		"over what is damaged":  func(a *archive) error { return os.WriteFile(a.path, []byte("no store"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			a, backup := backedUp(t)
			check.Must(t, lose(a))
			_, err := os.Stat(a.path)
			wasThere := err == nil
			var got struct {
				Aside   string
				Records int64
				Heads   []struct{ Seq int64 }
			}
			stdout, _ := a.decodes(t, 0, &got, "audit", "restore", backup)
			n := int64(len(week()))
			if got.Records != n-3 || len(got.Heads) != 1 || got.Heads[0].Seq != n-3 {
				t.Errorf("got %s", stdout)
			}
			if _, err := os.Stat(strings.Replace(got.Aside, "STORE", a.path, 1)); (err == nil) != wasThere {
				t.Errorf("the store that was there is at %q: %v", got.Aside, err)
			}
			a.prints(t, []string{"audit", "verify"}, "11 records in 1 chain checked")
			left, err := filepath.Glob(a.path + ".restoring*")
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestFailedRestoreChangesNothing(t *testing.T) {
	a, backup := backedUp(t)
	broken, none := filepath.Join(t.TempDir(), "broken.db"), filepath.Join(t.TempDir(), "none.db")
	text := read(t, backup)
	write(t, broken, text)
	b := &archive{path: broken}
	b.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")
	other := archived(t, week()[:2])
	before := read(t, a.path)
	for file, want := range map[string]string{
		none:            "no such file",
		broken:          "the backup is not in order, and nothing was changed",
		other.path:      "not signed with this key",
		a.path + ".key": "restore the audit store",
		a.path:          "the backup is the store itself",
	} {
		a.fails(t, 1, want, "audit", "restore", file)
	}
	a.fails(t, 2, "accepts 1 arg(s), received 0", "audit", "restore")
	if read(t, a.path) != before {
		t.Error("the store was changed")
	}
	store := a.open(t)
	a.fails(t, 1, "in use by another process", "audit", "restore", backup)
	closed(t, store)
	files, err := filepath.Glob(a.path + ".*restor*")
	if err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	a.settings = []string{"RETRY_DATABASE_URL=postgres://app@127.0.0.1:1/retry"}
	a.fails(t, 1, "pg_restore", "audit", "restore", backup)
}
