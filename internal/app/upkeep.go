package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/ops/outage"
)

// keep logs the signed heads of the audit trail, which show a trail that was put back to an earlier state: at
// the start, every hour, and when ctx ends. It checks the trail once a day, first when the jobs that waited
// for the worker are done, and an hour after a check that could not be finished. A million records take some
// seconds of one core.
func (a *App) keep(ctx context.Context) {
	var known []audit.Head
	var due time.Time
	for pause := 5 * time.Minute; ctx.Err() == nil; pause = time.Hour {
		a.logHeads(ctx)
		outage.Sleep(ctx, pause)
		if ctx.Err() != nil || time.Now().Before(due) {
			continue
		}
		var checked bool
		if known, checked = a.checkTrail(ctx, known); checked {
			due = time.Now().Add(24 * time.Hour)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	a.logHeads(last)
}

func (a *App) logHeads(ctx context.Context) {
	heads, _, _ := a.store.Heads(ctx) // a store that is lost says so itself
	for _, h := range heads {
		if len(h.Signature) == 0 {
			continue // it is gone, which the check of the trail reports
		}
		if time.Until(h.At) > a.cfg.MaxClockSkew {
			a.log.Warn("clock_behind_trail", zap.Int("chain", h.Chain), zap.Time("newest", h.At))
		}
		a.log.Info("audit_head", // by the names of its JSON form
			zap.Int("chain", h.Chain),
			zap.Int64("seq", h.Seq),
			zap.Stringer("hash", h.Hash),
			zap.String("at", h.At.Format(time.RFC3339Nano)),
			zap.Binary("signature", h.Signature))
	}
}

// checkTrail checks the audit trail, and that it still has the known heads of the check before. It returns
// the heads for the next check, and whether this one was finished.
func (a *App) checkTrail(ctx context.Context, known []audit.Head) (heads []audit.Head, checked bool) {
	verified, err := audit.Verify(ctx, a.store, a.secret.Public(), known)
	broken, is := errors.AsType[*audit.BrokenError](err)
	switch {
	case is:
		a.numbers.AuditChecked(false)
		a.log.Error("audit_trail_broken",
			zap.Int("chain", broken.Chain),
			zap.Int64("seq", broken.Seq),
			zap.String("why", broken.Error()),
			zap.String("detail", "somebody changed it past the worker: docs/runbooks.md#auditchainbroken"))
		return known, true
	case err != nil:
		if ctx.Err() == nil {
			a.log.Warn("audit_trail_not_checked", zap.Error(err))
		}
		return known, false
	}
	a.numbers.AuditChecked(true)
	a.log.Info("audit_trail_intact", zap.Int64("records", verified.Records))
	return verified.Heads, true
}

// successWindow is how far back retry_success_rate looks (RN-BIL-005 section 13.4).
const successWindow = 24 * time.Hour

// count counts the claims, and the events that wait, for the metrics until ctx ends. Every replica counts all
// of them.
func (a *App) count(ctx context.Context) {
	outage.Sleep(ctx, time.Second) // the jobs that waited for the worker go first
	for ctx.Err() == nil {
		began := time.Now()
		lost := a.recorder.Err() != nil // which says so itself, once
		if err := a.countClaims(ctx, began); err != nil && ctx.Err() == nil && !lost {
			a.log.Warn("claims_not_counted", zap.Error(err))
		}
		if a.relay != nil {
			waiting, oldest, err := a.store.Backlog(ctx)
			if err == nil {
				a.numbers.Backlog(waiting, oldest)
			}
		}
		// However many there are, counting takes a twentieth of a core at most.
		outage.Sleep(ctx, max(time.Minute, 19*time.Since(began)))
	}
}

// countClaims counts the claims that are open, and those that ended of late. What it cannot count is not
// known any more.
func (a *App) countClaims(ctx context.Context, now time.Time) error {
	census, tally := claims.Census{}, kpi.Tally{From: now.Add(-successWindow), To: now}
	err := a.store.Open(ctx, func(id string, s *audit.State) error {
		census.Add(claims.Open(id, s, now))
		tally.AddOpen(s)
		return nil
	})
	if err != nil && !errors.Is(err, audit.ErrRow) {
		a.numbers.ClaimsCounted(nil, nil)
		return err
	}
	var rates map[string]float64
	ends := []audit.Kind{audit.KindSubmitted, audit.KindAbandoned}
	totalsErr := a.store.Totals(ctx, tally.From, now, ends, tally.Add)
	if totalsErr == nil {
		rates = tally.Rates("successAfterRetry")
	}
	a.numbers.ClaimsCounted(census, rates)
	return errors.Join(err, totalsErr)
}
