package sqlite

import (
	"context"
	"errors"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

func (s *store) Purge(ctx context.Context, before time.Time, dry bool) (removed []audit.Purged, err error) {
	if dry {
		removed, err = s.Expired(ctx, s.DB, before)
		return removed, s.failed(err)
	}
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if removed, err = s.Expired(ctx, database{w}, before); err != nil || removed == nil {
			return err
		}
		through := removed[0].Through
		return errors.Join(
			w.setMark(ctx, "cuts", w.secret.Cut(removed[0], time.Now())),
			// What is removed will never be published.
			w.exec(ctx, setPublished, through),
			w.exec(ctx, "DELETE FROM records WHERE id <= $1", through))
	})
	return removed, err
}
