package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/outage"
)

// headEvery is how often the signed heads of the audit trail are logged. They show a trail that was put back to an earlier
// state.
const headEvery = time.Hour

// keep logs the heads of the audit trail, saves its state and removes records whose retention is over, until ctx ends.
func (a *App) keep(ctx context.Context) {
	heads, state := time.NewTicker(headEvery), time.NewTicker(time.Second)
	// Not at once: a start with a wrong clock must not remove anything. The first job shows the broker's time.
	next, known := time.NewTimer(retainAgain), a.clock.Known()
	a.logHeads(ctx)
	for {
		select {
		case <-heads.C:
			a.logHeads(ctx)
		case <-state.C:
			a.trail.save(ctx, a.store)
			if len(a.trail.Heads) > 0 { // until there is a first one, it is looked for every second
				state.Reset(stateEvery)
			}
		case <-known:
			known = nil // it stays closed
			next.Reset(a.retain(ctx))
		case <-next.C:
			next.Reset(a.retain(ctx))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
			defer cancel()
			a.logHeads(last)
			a.trail.save(last, a.store)
			return
		}
	}
}

// watchPlace checks every second that the file of the store is still the one at its path, so that the loss of a store shows
// before the next write.
func (a *App) watchPlace(ctx context.Context) {
	store, is := a.store.(interface{ InPlace() error })
	if !is {
		return
	}
	for outage.Sleep(ctx, time.Second); ctx.Err() == nil; outage.Sleep(ctx, time.Second) {
		if a.recorder.Err() != nil {
			continue // each attempt to write checks it then
		}
		if err := store.InPlace(); err != nil {
			a.recorder.Lost(err)
		}
	}
}

func (a *App) logHeads(ctx context.Context) {
	heads, err := a.store.Heads(ctx)
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

// checkTrail checks the audit trail, and that it still has the known heads of the check before and those of the key's state
// file. It returns the heads for the next check, and reports whether this one finished.
func (a *App) checkTrail(ctx context.Context, known []audit.Head) (heads []audit.Head, checked bool) {
	verified, err := audit.Verify(ctx, a.store, a.secret.Public(), slices.Concat(known, a.stateHeads()), nil)
	broken, is := errors.AsType[*audit.BrokenError](err)
	found := verified.Inspection.Findings
	switch {
	case is:
		a.log.Error("audit_trail_broken", zap.Int("chain", broken.Chain), zap.Int64("seq", broken.Seq), zap.String("why", broken.Why),
			zap.String("detail", "a record was changed, removed or added past the worker; docs/runbooks.md#auditchainbroken says what to do"))
	case err != nil && ctx.Err() == nil:
		a.log.Warn("audit_trail_not_checked", zap.Error(err))
	}
	for _, finding := range found {
		a.log.Error("audit_store_changed", zap.String("finding", finding),
			zap.String("detail", "the store is not as the worker makes it; docs/runbooks.md#auditchainbroken says what to do"))
	}
	switch {
	case is || len(found) > 0:
		a.numbers.AuditChecked(false)
		return known, err == nil || is
	case err != nil:
		return known, false
	}
	a.numbers.AuditChecked(true)
	a.log.Info("audit_trail_intact", zap.Int64("records", verified.Records))
	return verified.Heads, true
}

// stateHeads returns the heads of the key's state file, none where there is no such file.
func (a *App) stateHeads() []audit.Head {
	_, state, err := audit.LastState(a.cfg.AuditStates(), a.secret.Public())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Warn("audit_state_not_read", zap.Error(err))
	}
	return state.Heads
}
