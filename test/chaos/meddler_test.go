package chaos

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// meddler is somebody with all rights on the database, and how that database writes things.
type meddler struct {
	rig  *rig
	exec func(statement string) error
	// postgres says that it is PostgreSQL. later and bytes are a time's column a little later, and bytes.
	postgres bool
	later    func(column string) string
	bytes    func([]byte) string
	// chain is the condition for the chain of a record, added the values of the columns that a new record needs.
	chain func(*audit.Record) string
}

func (r *rig) meddles() *meddler {
	r.Helper()
	if path, is := strings.CutPrefix(r.store.url, "sqlite://"); is {
		db, err := sql.Open("sqlite", "file:"+path)
		r.must(err)
		db.SetMaxOpenConns(1)
		r.Cleanup(func() { r.check(db.Close()) })
		return &meddler{
			rig: r, exec: func(s string) error { _, err := db.ExecContext(context.Background(), s); return err },
			later: func(column string) string { return column + " + 1" },
			bytes: func(b []byte) string { return "x'" + hex.EncodeToString(b) + "'" },
			chain: func(*audit.Record) string { return "true" },
		}
	}
	conn, err := pgx.Connect(r.Context(), r.store.url)
	r.must(err)
	r.Cleanup(func() { r.check(conn.Close(context.Background())) })
	_, err = conn.Exec(r.Context(), "SET search_path = analyze_retry")
	r.must(err)
	return &meddler{
		rig: r, postgres: true,
		exec:  func(s string) error { _, err := conn.Exec(context.Background(), s); return err },
		later: func(column string) string { return "coalesce(" + column + ", now()) + interval '1 second'" },
		bytes: func(b []byte) string { return `'\x` + hex.EncodeToString(b) + "'" },
		chain: func(record *audit.Record) string { return fmt.Sprint("chain = ", record.Chain) },
	}
}

func (m *meddler) does(format string, args ...any) {
	m.rig.Helper()
	if s := fmt.Sprintf(format, args...); s != "" {
		if err := m.exec(s); err != nil {
			m.rig.Fatalf("%s: %v", s, err)
		}
	}
}

// disarms takes the triggers away that refuse changes, as only the owner of the tables can.
func (m *meddler) disarms() {
	m.rig.Helper()
	if m.postgres {
		m.does("ALTER TABLE records DISABLE TRIGGER USER; ALTER TABLE heads DISABLE TRIGGER USER")
		return
	}
	for _, trigger := range []string{"records_are_never_changed", "records_are_removed_behind_a_cut_only"} {
		m.does("DROP TRIGGER %s", trigger)
	}
}

// trailTables are the tables that make a trail: meta says which chains there were. The open claims come last, because triggers of
// PostgreSQL write them with the records.
var trailTables = []string{"records", "heads", "meta", "open_claims"}

// keeps copies records, heads and notes to where no check looks, and restores is the statement that returns to them.
func (m *meddler) keeps(name string) {
	m.rig.Helper()
	if m.postgres {
		m.does("CREATE SCHEMA %s", name)
	} else {
		m.does("ATTACH '%s' AS %s", filepath.Join(m.rig.dir, name+".db"), name)
	}
	for _, table := range trailTables {
		m.does("CREATE TABLE %[1]s.%[2]s AS SELECT * FROM %[2]s", name, table)
	}
}

func restores(name string) (statement string) {
	for _, table := range trailTables {
		statement += strings.NewReplacer("TABLE", table, "NAME", name).Replace("DELETE FROM TABLE; INSERT INTO TABLE SELECT * FROM NAME.TABLE; ")
	}
	return statement
}

// at is the condition for one record.
func (m *meddler) at(record *audit.Record) string {
	return fmt.Sprintf("%s AND seq = %d", m.chain(record), record.Seq)
}

// forges changes a record, and chains it and all that follow anew, as somebody can who knows all but the key. The head
// stays, or is signed with another key.
func (m *meddler) forges(chain []audit.Record, from *audit.Record, key *audit.Secret) {
	m.rig.Helper()
	i := int(from.Seq - 1)
	anew := audit.NewChain(from.Chain)
	if i > 0 {
		anew = audit.ChainAt(from.Chain, chain[i-1].Seq, chain[i-1].Hash)
	}
	for _, record := range chain[i:] {
		if record.Seq == from.Seq {
			record.ClaimID = "CLM-forged-1"
			m.does("UPDATE records SET claim_id = 'CLM-forged-1' WHERE %s", m.at(&record))
		}
		anew.Link(&record)
		m.does("UPDATE records SET hash = %s WHERE %s", m.bytes(record.Hash[:]), m.at(&record))
	}
	if key != nil {
		head := key.Head(anew, from.At)
		m.does("UPDATE heads SET hash = %s, signature = %s WHERE chain = %d", m.bytes(head.Hash[:]), m.bytes(head.Signature), from.Chain)
	}
}

// adds adds a record after the model of another one.
func (m *meddler) adds(model *audit.Record, seq int64) {
	m.rig.Helper()
	columns := "at, kind, cluster, job_key, process_instance_key, input_hash, retry_count, next_retry, message, variables, detail, hash"
	place, values := "seq, claim_id", fmt.Sprintf("%d, 'CLM-added-1'", seq)
	if m.postgres {
		place, values = place+", chain, id", values+fmt.Sprintf(", %d, nextval('record_ids')", model.Chain)
	}
	m.does("INSERT INTO records (%s, %s) SELECT %s, %s FROM records WHERE %s",
		place, columns, values, strings.Replace(columns, "job_key", "job_key + 1000000", 1), m.at(model))
}
