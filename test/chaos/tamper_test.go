package chaos

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The guards are the hash over every column (audit.Chain) and the signed head in the worker's log. audittest tries all ways
// to change a store; this is the way of an auditor: the command, its exit code, and heads that were kept elsewhere. Seen to
// fail without: a column that is not hashed can be changed; a trail put back to an earlier state is in order.
func TestChangedTrailIsFoundByTheCommand(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := newRig(t, store, false, "")
		w := r.warm()
		w.stops()
		meddle := r.meddler()
		meddle("CREATE TABLE PREFIX_records AS SELECT * FROM records", "CREATE TABLE PREFIX_heads AS SELECT * FROM heads")
		w = r.warm()
		w.stops()
		invariants(r)
		r.keyFile = filepath.Join(t.TempDir(), "audit.key") // an auditor has it elsewhere
		r.must(r.secret.Save(r.keyFile))
		r.verify("", 0)
		meddle("UPDATE records SET claim_id = 'CLM-forged-1' WHERE seq = 17")
		r.verify("record 17 changed", 17)
		meddle("DELETE FROM records WHERE seq = 17")
		r.verify("record 17 removed", 17)
		meddle("DELETE FROM records", "INSERT INTO records SELECT * FROM PREFIX_records",
			"DELETE FROM heads", "INSERT INTO heads SELECT * FROM PREFIX_heads")
		r.verify("", 0) // by itself an earlier state is in order
		r.verify("put back to an earlier state", chunk+1, "--heads", w.log)
	})
}

// verify runs the check, which must find the place of a change; seq 0 is a trail in order.
func (r *rig) verify(change string, seq int, args ...string) {
	r.Helper()
	code, said := r.command(append([]string{"audit", "verify", "--json"}, args...)...)
	var found struct {
		OK     bool
		Broken struct{ Seq int }
	}
	r.must(json.Unmarshal([]byte(said), &found))
	if found.Broken.Seq != seq || seq > 0 && (found.OK || code != 1) {
		r.Errorf("%s: exit code %d, found at %d, want %d: %s", change, code, found.Broken.Seq, seq, said)
	}
}

// meddler returns what runs statements as somebody with all rights on the database, who has taken the triggers away.
func (r *rig) meddler() (meddle func(statements ...string)) {
	r.Helper()
	var run func(string) error
	var prefix string
	if path, is := strings.CutPrefix(r.url, "sqlite://"); is {
		db, err := sql.Open("sqlite", "file:"+path)
		r.must(err)
		db.SetMaxOpenConns(1)
		r.Cleanup(func() { r.check(db.Close()) })
		run, prefix = func(s string) error { _, err := db.ExecContext(r.Context(), s); return err }, "kept"
		var drop string
		r.must(db.QueryRowContext(r.Context(),
			"SELECT coalesce(group_concat('DROP TRIGGER ' || name, ';'), '') FROM sqlite_schema WHERE type = 'trigger'").Scan(&drop))
		r.must(run(drop))
	} else {
		conn, err := pgx.Connect(r.Context(), r.url)
		r.must(err)
		r.Cleanup(func() { r.check(conn.Close(context.Background())) })
		run, prefix = func(s string) error { _, err := conn.Exec(r.Context(), s); return err }, "public.kept"
		r.must(run("SET search_path = analyze_retry"))
		r.must(run("SET session_replication_role = replica"))
	}
	return func(statements ...string) {
		r.Helper()
		for _, s := range statements {
			if err := run(strings.ReplaceAll(s, "PREFIX", prefix)); err != nil {
				r.Fatal(fmt.Errorf("%s: %w", s, err))
			}
		}
	}
}
