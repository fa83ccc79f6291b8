package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// The table meta holds what the store knows about itself, by name. noteMeta keeps a value that is there, setMeta does not.
const (
	noteMeta = "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)"
	setMeta  = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"
)

// The names in meta that the store itself uses.
const (
	metaKey    = "key"       // the ID of the store's key
	metaTenant = "tenant"    // the tenant that the store was made for
	metaProbe  = "probe"     // when the store was probed last
	metaChain  = "chain 1"   // since when the chain has records; a check misses them by it if all are gone, head and all
	metaFloor  = "retention" // the most months for which a worker was set to keep records
)

// readMeta reads a value and reports whether there is one.
func readMeta(ctx context.Context, from querier, name string) (value string, there bool, err error) {
	err = from.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

// execMeta writes a value in a transaction of its own.
func (s *store) execMeta(ctx context.Context, statement, name, value string) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.exec(ctx, statement, name, value) })
}

// now returns what a row of meta holds as the time of its making.
func now() string { return time.Now().UTC().Format(time.DateTime) }

func (s *store) Keep(ctx context.Context, months int) (floor int, err error) {
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if floor, err = readFloor(readMeta(ctx, w.conn, metaFloor)); err != nil || floor >= months {
			return err
		}
		floor = months
		return w.exec(ctx, setMeta, metaFloor, strconv.Itoa(months))
	})
	return floor, err
}

func (s *store) Floor(ctx context.Context) (int, error) {
	months, err := readFloor(readMeta(ctx, s.read, metaFloor))
	return months, s.failed(err)
}

func (s *store) Shorten(ctx context.Context, months int) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		// One that cannot be read is set as well.
		if floor, err := readFloor(readMeta(ctx, w.conn, metaFloor)); err == nil && floor > 0 && floor <= months {
			return nil
		}
		return w.exec(ctx, setMeta, metaFloor, strconv.Itoa(months))
	})
}

// readFloor returns the months of a floor, 0 if there is none.
func readFloor(value string, there bool, err error) (months int, _ error) {
	if err != nil || !there {
		return 0, err
	}
	if months, err = strconv.Atoi(value); err != nil || months < 1 {
		return 0, fmt.Errorf("%w: it is %.20q; set it by: worker audit purge --shorten", audit.ErrNoFloor, value)
	}
	return months, nil
}

// checkFloor refuses a tombstone that stands for a record younger than the floor. A store without a floor has that of the rule.
func (w *writer) checkFloor(ctx context.Context, t audit.Tombstone) error {
	floor, err := readFloor(readMeta(ctx, w.conn, metaFloor))
	if err != nil {
		return err
	}
	if floor == 0 {
		floor = audit.DefaultFloor
	}
	var newest int64
	err = w.conn.QueryRowContext(ctx, "SELECT coalesce(max(at), 0) FROM records WHERE seq BETWEEN ? AND ?", t.From, t.Through).Scan(&newest)
	if err != nil {
		return err
	}
	if at := utc(newest); !at.Before(audit.Cutoff(t.At, floor)) {
		return fmt.Errorf("purge: the store keeps records for at least %d months, the newest of these is from %s: set RETRY_AUDIT_RETENTION to "+
			"at least that, or lower the floor where the law lets you: worker audit purge --shorten", floor, at.Format(time.RFC3339))
	}
	return nil
}

// Note notes a name; see [audit.Maintenance]. Some rows of older workers hold no time.
func (s *store) Note(ctx context.Context, name string) (ago time.Duration, err error) {
	now := time.Now().UTC()
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if err := w.exec(ctx, noteMeta, name, now.Format(time.RFC3339)); err != nil {
			return err
		}
		value, _, err := readMeta(ctx, w.conn, name)
		if err != nil || value == "" {
			return err
		}
		first, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return fmt.Errorf("the row %q of meta is no time: %.30q", name, value)
		}
		ago = now.Truncate(time.Second).Sub(first)
		return nil
	})
	return ago, err
}

func (s *store) Noted(ctx context.Context, prefix string) (name string, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT coalesce(max(name), '') FROM meta WHERE substr(name, 1, length(?1)) = ?1", prefix).Scan(&name)
	return name, s.failed(err)
}

// Probe reports whether the store takes writes, by making one.
func (s *store) Probe(ctx context.Context) error {
	return s.execMeta(ctx, setMeta, metaProbe, time.Now().UTC().Format(time.RFC3339Nano))
}
