package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/outage"
)

// headEvery is how often the signed heads of the audit trail are logged. They show a trail that was put back to an earlier
// state.
const headEvery = time.Hour

// keep logs the heads of the audit trail: at the start, every headEvery, and when ctx ends.
func (a *App) keep(ctx context.Context) {
	a.logHeads(ctx)
	for outage.Sleep(ctx, headEvery); ctx.Err() == nil; outage.Sleep(ctx, headEvery) {
		a.logHeads(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	a.logHeads(last)
}

func (a *App) logHeads(ctx context.Context) {
	heads, _, err := a.store.Heads(ctx)
	if err != nil {
		a.log.Warn("audit_heads_unknown", zap.Error(err))
		return
	}
	for _, h := range heads {
		if len(h.Signature) == 0 {
			continue // it is gone, which the check of the trail reports
		}
		a.log.Info("audit_head", headFields(h)...)
	}
}

// headFields are a head's fields in the log, by the names of its JSON form.
func headFields(h audit.Head) []zap.Field {
	return []zap.Field{
		zap.Int("chain", h.Chain), zap.Int64("seq", h.Seq), zap.Stringer("hash", h.Hash),
		zap.String("at", h.At.Format(time.RFC3339Nano)), zap.Binary("signature", h.Signature),
	}
}

const (
	// checkAfter is the time from a worker's start to its first check of the audit trail, when the jobs that waited for the
	// worker are done; checkEvery is the time between checks. A million records take some seconds of one core.
	checkAfter = 5 * time.Minute
	checkEvery = 24 * time.Hour
)

// watchTrail checks the audit trail until ctx ends: after checkAfter, then every checkEvery. A check that did not finish is
// repeated after checkAfter.
func (a *App) watchTrail(ctx context.Context) {
	var known []audit.Head
	var checked bool
	wait := checkAfter
	for outage.Sleep(ctx, wait); ctx.Err() == nil; outage.Sleep(ctx, wait) {
		wait = checkEvery
		if known, checked = a.checkTrail(ctx, known); !checked {
			wait = checkAfter
		}
	}
}

// checkTrail checks the audit trail, and that it still has the known heads of the check before. It returns the heads for the next
// check, and reports whether this one finished.
func (a *App) checkTrail(ctx context.Context, known []audit.Head) (heads []audit.Head, checked bool) {
	verified, err := audit.Verify(ctx, a.store, a.secret.Public(), known)
	if broken, is := errors.AsType[*audit.BrokenError](err); is {
		a.numbers.AuditChecked(false)
		a.log.Error("audit_trail_broken", zap.Int("chain", broken.Chain), zap.Int64("seq", broken.Seq), zap.String("why", broken.Error()),
			zap.String("detail", "a record was changed, removed or added past the worker; docs/runbooks.md#auditchainbroken says what to do"))
		return known, true
	}
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn("audit_trail_not_checked", zap.Error(err))
		}
		return known, false
	}
	a.numbers.AuditChecked(true)
	a.log.Info("audit_trail_intact", zap.Int64("records", verified.Records))
	return verified.Heads, true
}
