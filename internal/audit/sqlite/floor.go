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

// The floor is a row of meta: the most months for which the store was told to keep records.
const (
	selectFloor = "SELECT value FROM meta WHERE name = 'retention'"
	writeFloor  = "INSERT OR REPLACE INTO meta (name, value) VALUES ('retention', ?)"
)

// Keep raises the floor; see [audit.Maintenance].
func (s *Store) Keep(ctx context.Context, months int) (floor int, err error) {
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if floor, err = readFloor(w.conn.QueryRowContext(ctx, selectFloor)); err != nil || floor >= months {
			return err
		}
		floor = months
		return w.exec(ctx, writeFloor, strconv.Itoa(months))
	})
	return floor, err
}

// Floor returns the floor; see [audit.Maintenance].
func (s *Store) Floor(ctx context.Context) (months int, err error) {
	if months, err = readFloor(s.read.QueryRowContext(ctx, selectFloor)); err != nil {
		return 0, s.failed(err)
	}
	return months, nil
}

// Shorten lowers the floor; see [audit.Maintenance].
func (s *Store) Shorten(ctx context.Context, months int) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		// One that cannot be read is set as well.
		if floor, err := readFloor(w.conn.QueryRowContext(ctx, selectFloor)); err == nil && floor > 0 && floor <= months {
			return nil
		}
		return w.exec(ctx, writeFloor, strconv.Itoa(months))
	})
}

// readFloor reads the row, 0 where there is none.
func readFloor(row *sql.Row) (months int, err error) {
	var value string
	if err := row.Scan(&value); errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	if months, err = strconv.Atoi(value); err != nil || months < 1 {
		return 0, fmt.Errorf("%w: it is %.20q; set it by: worker audit purge --shorten", audit.ErrNoFloor, value)
	}
	return months, nil
}

// checkFloor refuses a tombstone that stands for a record that is younger than the floor when it is removed. A store that was
// told none has that of the rule.
func (w *writer) checkFloor(ctx context.Context, tombstone audit.Tombstone) error {
	floor, err := readFloor(w.conn.QueryRowContext(ctx, selectFloor))
	if err != nil {
		return err
	}
	if floor == 0 {
		floor = audit.DefaultFloor
	}
	var newest int64
	err = w.conn.QueryRowContext(ctx, "SELECT coalesce(max(at), 0) FROM records WHERE seq BETWEEN ? AND ?", tombstone.From, tombstone.Through).Scan(&newest)
	if err != nil {
		return err
	}
	if at := time.UnixMicro(newest).UTC(); !at.Before(audit.Cutoff(tombstone.At, floor)) {
		return fmt.Errorf("purge: the store keeps records for at least %d months, the newest of these is from %s: set RETRY_AUDIT_RETENTION to "+
			"at least that, or lower the floor where the law lets you: worker audit purge --shorten", floor, at.Format(time.RFC3339))
	}
	return nil
}

// Announce notes a cutoff; see [audit.Maintenance]. The rows are left: they are twelve a year, and tell later when it was said.
func (s *Store) Announce(ctx context.Context, cutoff time.Time) (ago time.Duration, err error) {
	now, name := time.Now().UTC(), "announced "+cutoff.UTC().Format(time.DateOnly)
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if err := w.exec(ctx, "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)", name, now.Format(time.RFC3339)); err != nil {
			return err
		}
		var value string
		if err := w.conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", name).Scan(&value); err != nil {
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

// Confirm notes a month; see [audit.Maintenance]. The rows are twelve a year, as those of Announce.
func (s *Store) Confirm(ctx context.Context, at time.Time) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		return w.exec(ctx, "INSERT OR IGNORE INTO meta (name, value) VALUES (?, '')", audit.ConfirmedRow(at))
	})
}

// Confirmed returns the latest month that was noted; see [audit.Maintenance].
func (s *Store) Confirmed(ctx context.Context) (month time.Time, err error) {
	var name string
	err = s.ask(ctx, "SELECT coalesce(max(name), '') FROM meta WHERE name LIKE 'confirmed %'", nil, &name)
	if err != nil {
		return time.Time{}, err
	}
	month, err = audit.ConfirmedMonth(name)
	if err != nil {
		err = s.failed(err)
	}
	return month, err
}
