package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/text"
)

// chainNumber is that of the only chain.
const chainNumber = 1

// writer is the connection that writes, its prepared statements and the end of the chain.
type writer struct {
	secret *audit.Secret
	db     *sql.DB
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	end    audit.Head // of the chain, signed
	rows   *claimRows // of the claims
}

// openWriter opens the connection that writes.
//
// secure_delete: what a purge removes is to be gone from the file too, and not only from its tables. It must
// be on all the time, for rows that move within the file leave copies of themselves behind. temp_store: else
// an insert of many rows journals its pages in a file. cache_size: the usual 2 MB save nothing, and half a MB
// costs a twentieth of a write.
func openWriter(ctx context.Context, path string, secret *audit.Secret) (*writer, error) {
	db, err := sql.Open("sqlite", source(path, "rw", "journal_mode(WAL)", "synchronous(FULL)",
		"secure_delete(ON)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)", "cache_size(-1000)"))
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{secret: secret, db: db, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// makeTables makes the tables of a store in a file that has none.
func (w *writer) makeTables(ctx context.Context) error {
	var mode string
	if err := w.conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not allow SQLite's write-ahead log "+
			"(journal mode %q): use a local disk", mode)
	}
	var defined int
	if err := w.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&defined); err != nil {
		return err
	}
	if defined == 0 {
		if _, err := w.conn.ExecContext(ctx, "BEGIN;"+tables+"COMMIT"); err != nil {
			return err
		}
	}
	// A process that was killed, or whose sync failed, may have left records in the log that are not on the
	// disk. They count as stored from here on, so they go to the disk now.
	_, err := w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.stmts { // while there is one, SQLite does not copy the log into the file
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// keepLog has SQLite remove no log when the writer is closed: at its name may be another file's.
func (w *writer) keepLog() {
	_ = w.conn.Raw(func(c any) error {
		_, err := c.(driver.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}

// load reads where the chain ends, and begins it in a new store. Signing a new head over an end that the last
// one does not name would hide that records were cut off or added.
func (w *writer) load(ctx context.Context) error {
	w.end = audit.Beginning(chainNumber)
	last := reading.Head(func(h audit.Head) { w.end = h })
	err := database{w}.Read(ctx, last, "SELECT * FROM (SELECT chain, seq, hash, at, x'' FROM records "+
		"ORDER BY id DESC LIMIT 1) UNION ALL SELECT * FROM cuts ORDER BY 2")
	if err != nil {
		return err
	}
	if w.rows, err = rowsOf(ctx, database{w}); err != nil {
		return err
	}
	given := w.secret.Public().ID()
	key, err := reading.Meta(ctx, database{w}, "key")
	switch {
	case err != nil:
		return err
	case key == "" && w.end.Seq == 0:
		w.end = w.secret.Head(w.end, time.Now())
		return w.transact(ctx, func(ctx context.Context, w *writer) error {
			return errors.Join(
				w.exec(ctx, "INSERT INTO meta VALUES ('key', ?)", given),
				w.setMark(ctx, "heads", w.end))
		})
	case key != given:
		return audit.WrongKey(key, given)
	}
	heads, _, err := reading.Ends(ctx, database{w}, dialect.Chains)
	if err != nil {
		return err
	}
	if h := heads[0]; h.Seq != w.end.Seq || h.Hash != w.end.Hash || !w.secret.Public().CheckHead(h) {
		return &audit.BrokenError{Chain: chainNumber, Seq: w.end.Seq, Why: text.Messagef(
			"it is the last one, but not the one that the signed head names; " +
				"see what worker audit verify says, and restore a backup")}
	}
	w.end = heads[0]
	return nil
}

// transact calls do inside a transaction. After an error the writer is to be closed, which rolls it back.
func (w *writer) transact(ctx context.Context, do func(context.Context, *writer) error) error {
	err := w.exec(ctx, "BEGIN IMMEDIATE")
	if err == nil {
		err = do(ctx, w)
	}
	if err == nil {
		err = w.exec(ctx, "COMMIT")
	}
	return err
}

// stmt returns a statement that is prepared when it is first used.
func (w *writer) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt := w.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = w.conn.PrepareContext(ctx, query); err != nil {
			return nil, fmt.Errorf("%.40s: %w", query, err)
		}
		w.stmts[query] = stmt
	}
	return stmt, nil
}

func (w *writer) exec(ctx context.Context, query string, args ...any) error {
	stmt, err := w.stmt(ctx, query) //nolint:sqlclosecheck // close closes all
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

func (s *store) Append(ctx context.Context, entries []audit.Entry) ([]audit.Stored, error) {
	b := audit.NewBatch(entries)
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		if err := w.look(ctx, b); err != nil {
			return err
		}
		b.Place(w.secret, w.end, nil)
		w.end = b.Head // if the commit fails, the writer is given up
		return w.insert(ctx, b)
	})
	if err != nil {
		return nil, err
	}
	return b.Results, nil
}

// QueryContext asks by a prepared statement.
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := w.stmt(ctx, query) //nolint:sqlclosecheck // close closes all
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// look reads what is stored of the batch's jobs and claims. Joins with a table of values, because SQLite
// would build an index of an IN list each time.
func (w *writer) look(ctx context.Context, b *audit.Batch) error {
	err := database{w}.Read(ctx, reading.Record(b.HasRecord),
		reading.Select+" FROM (SELECT value FROM json_each(?)) CROSS JOIN records ON job_key = value",
		list(b.Jobs()))
	if err != nil {
		return err
	}
	var open []int64
	for _, claim := range b.Claims() {
		if id := w.rows.of[claim]; id != 0 {
			open = append(open, id)
		}
	}
	return database{w}.Read(ctx, reading.State(w.secret, b.HasRow),
		"SELECT claim_id, state FROM (SELECT value FROM json_each(?)) CROSS JOIN claims ON id = value",
		list(open))
}

// claimRows are where the rows of the open claims are, by claim.
type claimRows struct {
	of   map[string]int64
	last int64 // the greatest
	seen int64 // the last record that there was when a reader read them
}

func rowsOf(ctx context.Context, from reading.Database) (*claimRows, error) {
	r := &claimRows{of: map[string]int64{}}
	var claim string
	row := reading.Row{Into: []any{&r.last, &claim}, Each: func() error { r.of[claim] = r.last; return nil }}
	return r, from.Read(ctx, row, "SELECT id, claim_id FROM claims ORDER BY id")
}

// put returns the row of a claim: a new one, behind all others, where it has none.
func (r *claimRows) put(claim string) int64 {
	if r.of[claim] == 0 {
		r.last++
		r.of[strings.Clone(claim)] = r.last // it is a part of the job's variables
	}
	return r.of[claim]
}

// list is numbers as json_each reads them.
func list(numbers []int64) string {
	array, _ := json.Marshal(numbers) // which all have a form
	return string(array)
}

// insert writes what has changed.
func (w *writer) insert(ctx context.Context, b *audit.Batch) error {
	records := make([]any, 0, len(b.Records)*len(reading.Columns))
	for _, r := range b.Records {
		for _, column := range reading.Columns {
			records = append(records, column.Field(r))
		}
	}
	claims := make([]any, 0, len(b.Open)*3)
	for i, claim := range b.Open {
		claims = append(claims, w.rows.put(claim), claim, b.States[i])
	}
	gone := make([]int64, len(b.Ended))
	for i, claim := range b.Ended {
		gone[i] = w.rows.of[claim]
		delete(w.rows.of, claim)
	}
	err := w.write(ctx, insertRecords, records, len(b.Records))
	if err == nil {
		err = w.write(ctx, insertClaims, claims, len(b.Open))
	}
	if err == nil && len(gone) > 0 {
		err = w.exec(ctx, "DELETE FROM claims WHERE id IN (SELECT value FROM json_each(?))", list(gone))
	}
	if err == nil {
		err = w.setMark(ctx, "heads", b.Head)
	}
	return err
}

// write inserts so many rows of values, many at a time.
func (w *writer) write(ctx context.Context, queries map[int]string, values []any, rows int) error {
	for rows > 0 {
		n := maxRows
		for n > rows {
			n /= 2
		}
		some := len(values) / rows * n
		if err := w.exec(ctx, queries[n], values[:some]...); err != nil {
			return err
		}
		values, rows = values[some:], rows-n
	}
	return nil
}

func (w *writer) setMark(ctx context.Context, table string, h audit.Head) error {
	return w.exec(ctx, "INSERT OR REPLACE INTO "+table+" VALUES (?, ?, ?, ?, ?)",
		h.Chain, h.Seq, h.Hash[:], h.At, h.Signature)
}

// maxRows is the most rows of one statement. Statements are prepared for its powers of two only: many rows at
// a time cost two thirds of one at a time.
const maxRows = 64

// repeated returns an INSERT for each power of two of rows that there may be.
func repeated(table, columns, tail string) map[int]string {
	row := ", (" + strings.Repeat(",?", strings.Count(columns, ",")+1)[1:] + ")"
	texts := map[int]string{}
	for n := 1; n <= maxRows; n *= 2 {
		texts[n] = "INSERT INTO " + table + " (" + columns + ") VALUES " + strings.Repeat(row, n)[2:] + tail
	}
	return texts
}

var (
	insertRecords = repeated("records", reading.Names, "")
	insertClaims  = repeated("claims", "id, claim_id, state",
		" ON CONFLICT DO UPDATE SET state = excluded.state")
)
