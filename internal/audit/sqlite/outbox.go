package sqlite

import (
	"context"
	"slices"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// Lead implements [audit.Store]. There is no other process on the file.
func (s *store) Lead(ctx context.Context) (audit.Lead, error) {
	return s, s.write(ctx, func(ctx context.Context, w *writer) error {
		return w.exec(ctx, "INSERT OR IGNORE INTO meta VALUES ('queue', datetime())")
	})
}

func (s *store) Release() {}

// Unpublished implements [audit.Lead]. Records are committed in the order of their IDs, so one place tells
// them apart.
func (s *store) Unpublished(ctx context.Context, limit int) (waiting []audit.Record, err error) {
	waiting, err = s.Records(ctx, s.DB, reading.Select+
		" FROM records WHERE id > (SELECT published FROM outbox) ORDER BY id LIMIT $1", limit)
	return waiting, s.failed(err)
}

const setPublished = "UPDATE outbox SET published = max(published, $1)"

func (s *store) Published(ctx context.Context, ids []int64) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		return w.exec(ctx, setPublished, slices.Max(ids))
	})
}
