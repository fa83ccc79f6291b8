package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

const (
	// retainEvery is how often records whose retention is over are removed.
	retainEvery = 24 * time.Hour
	// retainAgain is the wait after a run that failed or did not trust the clock, and the longest wait of a new worker for the
	// broker's time.
	retainAgain = time.Hour
)

// openRetention notes in the store how long records are kept. It runs before the first job, because a new store keeps the first
// setting, and the newest head shows when the store was last written to.
func openRetention(ctx context.Context, store audit.Store, key audit.Public, cfg config.Config, log *zap.Logger) error {
	if err := audit.ConfirmByHead(ctx, store, key); err != nil { // somebody holds a lock: no reason not to start
		log.Warn("audit_clock_not_confirmed", zap.Error(err))
	}
	floor, err := store.Keep(ctx, cfg.AuditRetention.Floor())
	if err != nil {
		return err
	}
	if floor > int(cfg.AuditRetention) {
		log.Warn("audit_retention_shorter_than_before", zap.Stringer("setting", cfg.AuditRetention), zap.Stringer("kept", config.Months(floor)),
			zap.String("detail", "the store was set to keep records for longer, and does so still; if RETRY_AUDIT_RETENTION is meant: worker audit purge --shorten"))
	}
	return nil
}

// retain announces and removes records once. It returns how long to wait until the next run. It never trusts the host's
// clock alone.
func (a *App) retain(ctx context.Context) time.Duration {
	now := time.Now()
	err := audit.TrustClock(ctx, a.store, a.secret.Public(), now, a.clock.Broker())
	held, is := errors.AsType[*audit.ClockError](err)
	if err == nil || is {
		a.holdRetention(held)
	}
	if err == nil {
		err = a.removeExpired(ctx, now)
	}
	if err == nil {
		return retainEvery
	}
	if !is && ctx.Err() == nil {
		a.log.Error("audit_retention_failed", zap.Error(err))
	}
	return retainAgain
}

// holdRetention shows why no record is removed, or with nil that records are removed. It logs each change once.
func (a *App) holdRetention(by *audit.ClockError) {
	switch {
	case by != nil && !a.retentionHeld:
		a.log.Warn("audit_retention_held", zap.Time("hostTime", by.Host.UTC()), zap.Time("referenceTime", by.Reference), zap.String("reference", by.By),
			zap.String("detail", "the clock is too far ahead of that for a record to be removed; docs/runbooks.md#what-to-look-at says what to do"))
	case by == nil && a.retentionHeld:
		a.log.Info("audit_retention_resumed")
	}
	a.retentionHeld = by != nil
}

// removeExpired removes what was announced by an earlier run, and announces what is to go by a later one.
func (a *App) removeExpired(ctx context.Context, now time.Time) error {
	floor, err := a.store.Floor(ctx) // another replica may have raised it
	if err != nil {
		return err
	}
	due := audit.RetentionAt(now, max(int(a.cfg.AuditRetention), floor), a.cfg.EventsURL != "")
	coming, wait, err := audit.Announce(ctx, a.store, due)
	if err != nil {
		return err
	}
	for _, s := range coming {
		a.log.Info("audit_records_to_be_removed", zap.Int("chain", s.Chain), zap.Int64("from", s.From), zap.Int64("through", s.Through),
			zap.Int64("records", s.Through-s.From+1), zap.Time("newest", s.Newest), zap.Time("cutoff", due.Cutoff), zap.Time("notBefore", due.Now.Add(wait)))
	}
	if len(coming) > 0 {
		return nil
	}
	stubs, err := audit.Retain(ctx, a.store, a.secret, due)
	for _, s := range stubs {
		a.log.Info("audit_records_removed", zap.Int("chain", s.Chain), zap.Int64("from", s.From), zap.Int64("through", s.Through),
			zap.Time("newest", s.Newest))
	}
	return err
}
