package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABackupIsACopyThatWasChecked(t *testing.T) {
	a := archived(t, week())
	copied := filepath.Join(t.TempDir(), "copy.db")
	code, stdout, stderr := a.run(t, "audit", "backup", copied)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "The audit trail is in order: sqlite://"+copied+".\n") || !strings.Contains(stdout, "audit_head") {
		t.Errorf("exit code %d, complaint %q, output %q", code, stderr, stdout)
	}
	a.settings = []string{"RETRY_DATABASE_URL=sqlite://" + copied, "RETRY_AUDIT_KEY_FILE=" + a.path + ".key"}
	if code, stdout, stderr := a.run(t, "audit", "verify", "--json"); code != 0 {
		t.Errorf("the copy is not what a worker writes: exit code %d, %q, %q", code, stdout, stderr)
	}
}

func TestBrokenBackupFailsAndIsKept(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")
	copied := filepath.Join(t.TempDir(), "copy.db")
	code, stdout, _ := a.run(t, "audit", "backup", "--json", copied)
	var got struct{ OK bool }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || got.OK {
		t.Errorf("exit code %d, %v, output %q", code, err, stdout)
	}
	if _, err := os.Stat(copied); err != nil {
		t.Errorf("the copy, which may be all that there is, was not kept: %v", err)
	}
}

func TestBackupNamesWhatItLacks(t *testing.T) {
	a := archived(t, week())
	for name, test := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":            {[]string{"audit", "backup"}, 2, "wants the new file, such as /backup/today.db"},
		"a file that exists": {[]string{"audit", "backup", a.path}, 1, "file exists"},
	} {
		if code, stdout, stderr := a.run(t, test.args...); code != test.code || stdout != "" || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: exit code %d, output %q, complaint %q", name, code, stdout, stderr)
		}
	}
	remove(t, a.path+".key")
	a.fails(t, 1, "could not be checked without the key", "audit", "backup", a.path+".copy")
	a.settings = []string{"RETRY_DATABASE_URL=postgres://app@127.0.0.1:1/retry"}
	a.fails(t, 1, "pg_dump", "audit", "backup", a.path+".copy")
}
