package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// The table meta holds what the store knows about itself, by name. noteMeta keeps a value that is there, setMeta does not.
const (
	noteMeta = "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)"
	setMeta  = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"
)

// The names in meta that the store itself uses.
const (
	metaKey    = "key"     // the ID of the store's key
	metaTenant = "tenant"  // the tenant that the store was made for
	metaProbe  = "probe"   // when the store was probed last
	metaChain  = "chain 1" // since when the chain has records; a check misses them by it if all are gone, head and all
	metaQueue  = "queue"   // since when the events are published
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

// Probe reports whether the store takes writes, by making one.
func (s *store) Probe(ctx context.Context) error {
	return s.execMeta(ctx, setMeta, metaProbe, time.Now().UTC().Format(time.RFC3339Nano))
}
