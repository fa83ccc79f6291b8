package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/outage"
)

const (
	// successWindow is how far back retry_success_rate looks (RN-BIL-005 section 13.4).
	successWindow = 24 * time.Hour
	// countEvery is how often the claims are counted for the metrics, and countShare the least share of the
	// time in which they are not: however many there are, counting takes a twentieth of a core at most.
	countEvery, countShare = time.Minute, 19
)

// watchClaims counts the claims for the metrics until ctx ends. Every replica counts all of them.
func (a *App) watchClaims(ctx context.Context) {
	ended := kpi.Window{}
	for ctx.Err() == nil {
		began := time.Now()
		if err := a.countClaims(ctx, ended, began); err != nil && ctx.Err() == nil {
			a.log.Warn("claims_not_counted", zap.Error(err))
		}
		outage.Sleep(ctx, max(countEvery, countShare*time.Since(began)))
	}
}

// countClaims counts the claims that are open, and those that have ended since it was called before. What it cannot
// count is not known any more.
func (a *App) countClaims(ctx context.Context, ended kpi.Window, now time.Time) error {
	census, open := claims.Census{}, kpi.Tally{From: now.Add(-successWindow), To: now}
	err := a.store.Open(ctx, func(id string, s *audit.State) error {
		census.Add(claims.Open(id, s, now))
		return open.AddOpen(id, s)
	})
	if err != nil && !errors.Is(err, audit.ErrRow) {
		a.numbers.ClaimsCounted(nil, nil)
		return err
	}
	rates, ratesErr := ended.Rates(ctx, a.store, &open)
	a.numbers.ClaimsCounted(census, rates)
	return errors.Join(err, ratesErr)
}
