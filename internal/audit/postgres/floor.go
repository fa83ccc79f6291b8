package postgres

import (
	"context"
	"fmt"
	"time"
)

// selectFloor reads the floor in months. Of days that an owner wrote, 28 count as a month, so that it is never too short.
const selectFloor = `SELECT coalesce(max(extract(year FROM least) * 12 + extract(month FROM least) + ceil(extract(day FROM least) / 28)
	+ CASE WHEN least > date_trunc('day', least) THEN 1 ELSE 0 END), 0)::integer FROM retention`

// Keep implements [audit.Maintenance] by a function of the database that runs with its owner's rights, because the application
// role may not lower the floor.
func (s *store) Keep(ctx context.Context, months int) (floor int, err error) {
	if s.secret == nil {
		return 0, s.wrap("note the retention", errReadOnly)
	}
	if _, err := s.pool.Exec(ctx, "SELECT keep_records($1)", months); err != nil {
		return 0, s.wrap("note the retention", err)
	}
	return s.Floor(ctx)
}

func (s *store) Floor(ctx context.Context) (months int, err error) {
	err = s.pool.QueryRow(ctx, selectFloor).Scan(&months)
	return months, s.wrap("read the floor of the retention", err)
}

// Shorten implements [audit.Maintenance]. Only the owner of the tables may do it.
func (s *store) Shorten(ctx context.Context, months int) error {
	_, err := s.pool.Exec(ctx, "UPDATE retention SET least = make_interval(months => $1) WHERE least > make_interval(months => $1)", months)
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may lower it, by this command with the owner in RETRY_DATABASE_URL, or by: "+
			"UPDATE analyze_retry.retention SET least = '%d months'", err, months)
	}
	return s.wrap("lower the floor of the retention", err)
}

// Note implements [audit.Maintenance]. The time is the server's. Some rows of older workers hold none.
func (s *store) Note(ctx context.Context, name string) (ago time.Duration, err error) {
	var seconds float64
	// The statement does not see its own row, so that no row is one of this moment.
	err = s.pool.QueryRow(ctx, `WITH noted AS (
			INSERT INTO meta (name, value) VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) ON CONFLICT DO NOTHING
		) SELECT coalesce((SELECT extract(epoch FROM now() - nullif(value, '')::timestamptz) FROM meta WHERE name = $1), 0)::float8`, name).Scan(&seconds)
	return time.Duration(seconds * float64(time.Second)), s.wrap("note "+name, err)
}

func (s *store) Noted(ctx context.Context, prefix string) (name string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT coalesce(max(name COLLATE "C"), '') FROM meta WHERE starts_with(name, $1)`, prefix).Scan(&name)
	return name, s.wrap("read what was noted", err)
}
