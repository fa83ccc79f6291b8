package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	sqlite "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/audit"
)

// chainNumber is that of the only chain.
const chainNumber = 1

// writer is the connection that writes, its prepared statements and the end of the chain.
type writer struct {
	secret *audit.Secret
	db     *sql.DB
	conn   *sql.Conn
	stmts  map[string]driver.Stmt

	seq  int64
	last audit.Hash
	// published and answered are the places up to which records have lost these marks; see marks.
	published, answered int64
	// args are what the next statement is given, named what the driver is; both are reused.
	args  []any
	named []driver.NamedValue
}

func openWriter(ctx context.Context, path string, secret *audit.Secret) (*writer, error) {
	// secure_delete: what a purge removes is to be gone from the file too, and not only from its tables. It must be
	// on all the time, for rows that move within the file leave copies of themselves behind.
	db, err := sql.Open("sqlite", source(path, "rw", "synchronous(FULL)", "cache_size(-8192)", "secure_delete(ON)"))
	if err != nil {
		return nil, err
	}
	w := &writer{secret: secret, db: db, stmts: map[string]driver.Stmt{}}
	if w.conn, err = db.Conn(ctx); err == nil {
		err = w.load(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// keepLog has SQLite remove no log when the writer is closed: at its name may be another file's.
func (w *writer) keepLog() {
	_ = w.conn.Raw(func(c any) error {
		_, err := c.(sqlite.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}

// load reads where the chain ends. Signing a new head over an end that the last one does not name would hide that
// records were cut off or added.
func (w *writer) load(ctx context.Context) error {
	if err := w.settle(ctx, metaKey, w.secret.Public().ID(), audit.WrongKey); err != nil {
		return err
	}
	err := w.conn.QueryRowContext(ctx, "SELECT published, answered FROM heads").Scan(&w.published, &w.answered)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var hash []byte
	err = w.conn.QueryRowContext(ctx, `SELECT seq, hash FROM records UNION ALL SELECT through, hash FROM cuts ORDER BY 1 DESC LIMIT 1`).Scan(&w.seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		w.last = audit.NewChain(chainNumber).Last()
	} else if err != nil {
		return err
	} else {
		copy(w.last[:], hash)
	}
	heads, err := collect(ctx, w.conn, scanHead, selectHeads)
	if err != nil || len(heads) == 0 {
		return err
	}
	if h := heads[0]; h.Seq != w.seq || h.Hash != w.last || !w.secret.Public().CheckHead(h) {
		return &audit.BrokenError{Chain: chainNumber, Seq: w.seq, ID: w.seq, Why: "it is the last one, but not the one that the signed head names; see what worker audit verify says, and restore a backup"}
	}
	return nil
}

// settle notes what a new store is made with, by its name in meta, and compares that of an old one.
func (w *writer) settle(ctx context.Context, name, given string, wrong func(store, given string) error) error {
	stored, there, err := readMeta(ctx, w.conn, name)
	switch {
	case err != nil:
		return err
	case !there:
		return w.exec(ctx, noteMeta, name, given)
	case stored != given:
		return wrong(stored, given)
	}
	return nil
}

func (w *writer) transact(ctx context.Context, do func(context.Context, *writer) error) error {
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := do(ctx, w); err != nil {
		return errors.Join(err, w.exec(ctx, "ROLLBACK"))
	}
	return w.exec(ctx, "COMMIT")
}

// exec runs a statement that is prepared when it is first used. It asks the driver itself, as query does: the arguments
// are int64, string, []byte or nil already, and database/sql would look at each of them and copy all.
func (w *writer) exec(ctx context.Context, query string, args ...any) error {
	return w.conn.Raw(func(c any) error {
		stmt, err := w.stmt(ctx, c, query)
		if err != nil {
			return err
		}
		w.named = named(w.named, args)
		_, err = stmt.(driver.StmtExecContext).ExecContext(ctx, w.named)
		clear(args) // not to keep a batch's texts until the next one
		clear(w.named)
		return err
	})
}

// query likewise calls visit with each row of the answer.
func (w *writer) query(ctx context.Context, query string, visit func(*reader) error, args ...any) error {
	return w.conn.Raw(func(c any) error {
		stmt, err := w.stmt(ctx, c, query)
		if err != nil {
			return err
		}
		w.named = named(w.named, args)
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, w.named)
		if err != nil {
			return err
		}
		return eachRow(rows, visit)
	})
}

func (w *writer) stmt(ctx context.Context, c any, query string) (driver.Stmt, error) {
	stmt := w.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = c.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
			return nil, fmt.Errorf("%.40s: %w", query, err)
		}
		w.stmts[query] = stmt
	}
	return stmt, nil
}

// maxChunk is the most records that one statement inserts. Statements are prepared for its powers of two only.
const maxChunk = 64

// chunk returns how many of the next n records are inserted at once.
func chunk(n int) int {
	size := maxChunk
	for size > n {
		size /= 2
	}
	return size
}

// repeated returns a statement for each power of two of rows that there may be.
func repeated(head, row, tail string) map[int]string {
	texts := map[int]string{}
	for n := 1; n <= maxChunk; n *= 2 {
		texts[n] = head + strings.Repeat(", "+row, n)[2:] + tail
	}
	return texts
}

var (
	insertRecords = repeated("INSERT INTO records ("+columns+") VALUES ", "(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "")
	// A join with a table of values, because SQLite would build an index of an IN list each time, and parse a JSON array.
	selectKeys = repeated("SELECT "+keyColumns+" FROM (VALUES ", "(?)", ") AS asked CROSS JOIN records ON job_key = asked.column1")
)

// keyColumns are those of a storedKey.
const keyColumns = "seq, cluster, job_key, process_instance_key, input_hash"
