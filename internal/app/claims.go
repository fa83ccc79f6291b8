package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/outage"
)

const (
	// successWindow is how far back retry_success_rate looks (RN-BIL-005 section 13.4).
	successWindow = 24 * time.Hour
	// countEvery is how often the claims are counted for the metrics, and countShare the least share of the time in which they
	// are not: however many there are, counting takes a twentieth of a core at most.
	countEvery, countShare = time.Minute, 19
)

// watchClaims counts the claims for the metrics until ctx ends. Every replica counts all of them.
func (a *App) watchClaims(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		if err := a.countClaims(ctx, began); err != nil && ctx.Err() == nil {
			a.numbers.ClaimsUnknown()
			a.log.Warn("claims_not_counted", zap.Error(err))
		}
		outage.Sleep(ctx, max(countEvery, countShare*time.Since(began)))
	}
}

func (a *App) countClaims(ctx context.Context, now time.Time) error {
	census, err := claims.Count(ctx, a.store, now)
	if err != nil {
		return err
	}
	var tally kpi.Tally
	if err := a.store.Between(ctx, now.Add(-successWindow), now, tally.Add); err != nil {
		return err
	}
	a.numbers.ClaimsCounted(census, tally.SuccessRates(now))
	return nil
}
