package chaos

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// meddling is a way to change the store as a whole. check must find it, and say this.
type meddling struct{ what, do, undo, found string }

// Row 39. The guards are the note of each chain in meta, apart from its head; the comparison with a new store
// (Inspect); that no records are a finding; and the state file next to the key. Seen to fail without: without the note, a
// chain that is gone with its head is not missed; without the comparison, triggers, indexes, rights and row-level security
// are not reported; without the state file, a trail put back as a whole is in order.
func TestWhatIsRemovedWholesaleOrDisarmedIsFound(t *testing.T) {
	onBothStores(t, setup{row: 39, what: "records removed wholesale, triggers dropped, row-level security, rights"}, func(r *rig) {
		r.start().decides(100)
		m := r.meddles()
		m.keeps("earlier")
		m.inAnotherChain(func() { r.start().decides(100) })
		if f, said := r.verify(); !f.OK {
			r.Fatalf("before anybody meddled: %s", said)
		}
		m.keeps("whole")
		ways := postgresMeddlings()
		if !m.postgres {
			ways = sqliteMeddlings(m)
		}
		for _, way := range ways {
			m.does("%s", way.do)
			m.saysOf(way.what, way.found)
			m.does("%s", way.undo)
			if f, said := r.verify(); !f.OK {
				r.Fatalf("%s, and all is put back: %s", way.what, said)
			}
		}
		r.happened(len(ways)+m.looksAtAnother()+m.putsBackWithState(), "ways to meddle, all found")
		invariants(r)
	})
}

// saysOf wants the check to find something and to say what.
func (m *meddler) saysOf(what, want string) {
	m.rig.Helper()
	if f, said := m.rig.verify(); f.OK || !strings.Contains(said, want) {
		m.rig.Errorf("%s: want it found, with %q: %s", what, want, said)
	}
}

// inAnotherChain does something while the first chain is locked, so that PostgreSQL begins another one.
func (m *meddler) inAnotherChain(do func()) {
	m.rig.Helper()
	if m.postgres {
		conn, err := pgx.Connect(m.rig.Context(), m.rig.store.url)
		m.rig.must(err)
		defer func() { m.rig.check(conn.Close(context.Background())) }()
		_, err = conn.Exec(m.rig.Context(), "BEGIN; SELECT FROM analyze_retry.heads FOR UPDATE")
		m.rig.must(err)
	}
	do()
}

func postgresMeddlings() []meddling {
	const unguarded, guarded = "SET session_replication_role = replica; ", "; SET session_replication_role = origin"
	whole := unguarded + restores("whole") + guarded
	return []meddling{
		{"chain 2 removed with its head", unguarded + "DELETE FROM records WHERE chain = 2; DELETE FROM heads WHERE chain = 2" + guarded, whole, "audit chain 2: its signed head is gone"},
		{"all records removed with their heads", unguarded + "DELETE FROM records; DELETE FROM heads" + guarded, whole, "audit chain 1: its signed head is gone"},
		{"everything removed", unguarded + "DELETE FROM records; DELETE FROM heads; DELETE FROM meta" + guarded, whole, "has given out record IDs through 200"},
		{
			"a trigger dropped", "DROP TRIGGER append_only ON records",
			"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()", "trigger append_only on records is missing",
		},
		{"a trigger disabled", "ALTER TABLE tombstones DISABLE TRIGGER append_only", "ALTER TABLE tombstones ENABLE TRIGGER append_only", "trigger append_only on tombstones is not as"},
		{"a trigger added", "CREATE TRIGGER mine AFTER INSERT ON records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()", "DROP TRIGGER mine ON records", "trigger mine on records was added"},
		{"an index dropped", "DROP INDEX records_at", "CREATE INDEX records_at ON records (at, id)", "index records_at on records is missing"},
		{"a rule added", "CREATE RULE keep AS ON UPDATE TO heads DO INSTEAD NOTHING", "DROP RULE keep ON heads", "rule keep on heads was added"},
		{"rights given", "GRANT UPDATE, DELETE ON records TO PUBLIC", "REVOKE UPDATE, DELETE ON records FROM PUBLIC", "PUBLIC to DELETE on records is a right"},
		{
			"row-level security that hides a claim", "ALTER TABLE records ENABLE ROW LEVEL SECURITY; CREATE POLICY hide ON records USING (seq <> 3)",
			"DROP POLICY hide ON records; ALTER TABLE records DISABLE ROW LEVEL SECURITY", "row-level security is switched on for records",
		},
	}
}

func sqliteMeddlings(m *meddler) []meddling {
	const trigger = "records_are_removed_behind_a_tombstone_only"
	guard := m.definition(trigger)
	removed, whole := "DROP TRIGGER "+trigger+"; DELETE FROM records; DELETE FROM heads; ", restores("whole")
	return []meddling{
		{"all records removed with their head", removed + guard, "DROP TRIGGER " + trigger + "; " + whole + guard, "audit chain 1: its signed head is gone"},
		{"everything removed", removed + "DELETE FROM meta; " + guard, "DROP TRIGGER " + trigger + "; " + whole + guard, "there are no records"},
		{"a trigger dropped", "DROP TRIGGER " + trigger, guard, "trigger " + trigger + " on records is missing"},
		{"a trigger added", "CREATE TRIGGER mine BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER mine", "trigger mine on records was added"},
		{"an index dropped", "DROP INDEX records_at", m.definition("records_at"), "index records_at on records is missing"},
		{"a table added", "CREATE TABLE mine (x)", "DROP TABLE mine", "table mine was added"},
	}
}

// looksAtAnother has the check look at a store without records: the wrong one.
func (m *meddler) looksAtAnother() int {
	r := m.rig
	r.Helper()
	right, undo := r.store.url, r.keyApart()
	defer undo()
	if m.postgres {
		r.store.url = devpostgres.Database(r.T)
		if said, err := r.command("migrate").CombinedOutput(); err != nil {
			r.Fatalf("worker migrate: %v: %s", err, said)
		}
	} else {
		r.store.url = "sqlite://" + filepath.Join(r.dir, "another.db")
		r.start() // makes it
		r.stopAll()
	}
	m.saysOf("another store without records", "there are no records")
	if f, said := r.verify("--expect-empty"); !f.OK {
		r.Errorf("a store that is new: %s", said)
	}
	r.store.url = right
	return 1
}

// putsBackWithState puts the trail back as a whole to where it was earlier. By itself that is in order; the state file next
// to the key shows it.
func (m *meddler) putsBackWithState() int {
	r := m.rig
	r.Helper()
	store := r.store.open(r)
	heads, err := store.Heads(r.Context())
	r.must(err)
	r.must(store.Close())
	r.must(r.store.secret.SaveState(r.store.keyFile+".state", audit.State{At: time.Now(), Heads: heads}))
	before, after := "", ""
	if m.postgres {
		before, after = "SET session_replication_role = replica; ", "SET session_replication_role = origin"
	} else {
		const trigger = "records_are_removed_behind_a_tombstone_only"
		before, after = "DROP TRIGGER "+trigger+"; ", m.definition(trigger)
	}
	m.does("%s", before+restores("earlier")+after)
	f, said := r.verify()
	if f.OK || f.Broken == nil {
		r.Errorf("put back to an earlier state, with the state file of the key: %s", said)
	}
	m.does("%s", before+restores("whole")+after)
	if f, said := r.verify(); !f.OK {
		r.Errorf("all is put back: %s", said)
	}
	return 1
}
