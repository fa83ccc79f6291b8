package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/outage"
	"hospital.example/analyze-retry/internal/transport"
)

// tenancyEvery is how often the cluster is asked about its tenants, tenancyAgain how soon after a failure.
const tenancyEvery, tenancyAgain = 10 * time.Minute, time.Minute

// watchTenancy notes, until ctx ends, whether the cluster has tenants whose jobs nothing here asks for. It logs each change.
func (a *App) watchTenancy(ctx context.Context) {
	for ctx.Err() == nil {
		if a.pollsErr() != nil { // which shows in the log and in /readyz
			outage.Sleep(ctx, time.Second)
			continue
		}
		ask, cancel := context.WithTimeout(ctx, deployTimeout)
		tenancy, err := transport.ProbeTenancy(ask, a.client)
		cancel()
		note, pause := unaskedTenants(a.cfg, tenancy), tenancyEvery
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if code := transport.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded { // which the polls log
				a.log.Warn("tenants_not_checked", zap.Error(err))
			}
			pause = tenancyAgain
		case note != a.note():
			a.tenancy.Store(&note)
			if note == "" {
				a.log.Info("tenants_asked_for")
			} else {
				a.log.Warn("tenants_not_asked_for", zap.String("detail", note))
			}
		}
		outage.Sleep(ctx, pause)
	}
}

// note returns what an operator is to know about a worker that is ready, empty for nothing.
func (a *App) note() string {
	if note := a.tenancy.Load(); note != nil {
		return *note
	}
	return ""
}

// unaskedTenants returns which tenants' jobs are not asked for and what to do about that, empty where none is known.
func unaskedTenants(cfg config.Config, t transport.Tenancy) string {
	if !t.On || cfg.Tenants.Assigned() {
		return ""
	}
	asked := cfg.Tenants.IDs()
	if unasked := t.Unasked(asked); len(unasked) > 0 {
		return fmt.Sprintf("the cluster has assigned tenants to this worker whose jobs it does not ask for: %s; add them to RETRY_TENANTS, which is %s",
			strings.Join(unasked, ", "), cfg.Tenants)
	}
	if t.Assigned == nil && len(asked) == 1 && asked[0] == config.DefaultTenant {
		return "multi-tenancy is on and only the jobs of the tenant <default> are asked for; name the tenants in RETRY_TENANTS"
	}
	return ""
}
