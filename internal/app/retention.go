package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/failpoint"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/zeebe"
)

const (
	// retainEvery is how often records whose retention is over are removed.
	retainEvery = 24 * time.Hour
	// retainAgain is the wait after a run that failed or did not trust the clock, and the longest wait of a new worker for the
	// broker's time.
	retainAgain = time.Hour
)

// retention removes the records whose retention is over. It never trusts the host's clock alone.
type retention struct {
	store   audit.Store
	secret  *audit.Secret
	setting config.Months
	publish bool
	clock   *zeebe.Clock
	numbers *metrics.Metrics
	log     *zap.Logger

	held bool // and logged as held
}

// openRetention notes in the store how long records are kept. It runs before the first job, because a new store keeps the first
// setting, and the newest head shows when the store was last written to.
func openRetention(ctx context.Context, store audit.Store, key audit.Public, cfg config.Config, log *zap.Logger) error {
	if err := audit.ConfirmByHead(ctx, store, key); err != nil { // somebody holds a lock: no reason not to start
		log.Warn("audit_clock_not_confirmed", zap.Error(err))
	}
	floor, err := store.Keep(ctx, int(cfg.AuditRetention))
	if err != nil {
		return err
	}
	if floor > int(cfg.AuditRetention) {
		log.Warn("audit_retention_shorter_than_before", zap.Stringer("setting", cfg.AuditRetention), zap.Stringer("kept", config.Months(floor)),
			zap.String("detail", "the store was set to keep records for longer, and does so still; if RETRY_AUDIT_RETENTION is meant: worker audit purge --shorten"))
	}
	return nil
}

// run announces and removes records once. It returns how long to wait until the next run.
func (r *retention) run(ctx context.Context) time.Duration {
	now := failpoint.Now()
	err := audit.TrustClock(ctx, r.store, r.secret.Public(), now, r.clock.Broker())
	if held, is := errors.AsType[*audit.ClockError](err); is {
		r.hold(held)
		return retainAgain
	}
	if err == nil {
		r.release()
		err = r.remove(ctx, now)
	}
	if err == nil {
		return retainEvery
	}
	if ctx.Err() == nil {
		r.log.Error("audit_retention_failed", zap.Error(err))
	}
	return retainAgain
}

func (r *retention) hold(e *audit.ClockError) {
	r.numbers.RetentionHeld(true)
	if r.held {
		return
	}
	r.held = true
	r.log.Warn("audit_retention_held", zap.Time("hostTime", e.Host.UTC()), zap.Time("referenceTime", e.Reference), zap.String("reference", e.By),
		zap.String("detail", "no record is removed by a clock that is so far ahead of that; docs/runbooks/RetryRetentionHeld.md says what to do"))
}

func (r *retention) release() {
	r.numbers.RetentionHeld(false)
	if r.held {
		r.held = false
		r.log.Info("audit_retention_resumed")
	}
}

// remove removes what was announced by an earlier run, and announces what is to go by a later one.
func (r *retention) remove(ctx context.Context, now time.Time) error {
	floor, err := r.store.Floor(ctx) // another replica may have raised it
	if err != nil {
		return err
	}
	due := audit.RetentionAt(now, max(int(r.setting), floor), r.publish)
	coming, wait, err := audit.Announce(ctx, r.store, due)
	if err != nil {
		return err
	}
	for _, s := range coming {
		r.log.Info("audit_records_to_be_removed", zap.Int("chain", s.Chain), zap.Int64("from", s.From), zap.Int64("through", s.Through),
			zap.Int64("records", s.Through-s.From+1), zap.Time("newest", s.Newest), zap.Time("cutoff", due.Cutoff), zap.Time("notBefore", due.Now.Add(wait)))
	}
	if len(coming) > 0 {
		return nil
	}
	stubs, err := audit.Retain(ctx, r.store, r.secret, due)
	for _, s := range stubs {
		r.log.Info("audit_records_removed", zap.Int("chain", s.Chain), zap.Int64("from", s.From), zap.Int64("through", s.Through),
			zap.Time("newest", s.Newest))
	}
	return err
}
