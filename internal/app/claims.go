package app

import (
	"context"
	"errors"
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
		census, err := claims.Count(ctx, a.store, began)
		if err == nil {
			a.numbers.ClaimsCounted(census)
		} else {
			a.numbers.ClaimsUnknown()
		}
		rates, ratesErr := a.successRates(ctx, began)
		a.numbers.SuccessMeasured(rates)
		if err = errors.Join(err, ratesErr); err != nil && ctx.Err() == nil {
			a.log.Warn("claims_not_counted", zap.Error(err))
		}
		outage.Sleep(ctx, max(countEvery, countShare*time.Since(began)))
	}
}

func (a *App) successRates(ctx context.Context, now time.Time) (map[string]float64, error) {
	var tally kpi.Tally
	if err := a.store.Between(ctx, now.Add(-successWindow), now, tally.Add); err != nil {
		return nil, err
	}
	return tally.SuccessRates(now), nil
}
