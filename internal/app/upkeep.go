package app

import (
	"context"
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
