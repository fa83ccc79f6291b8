package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
)

// openStore opens the store that the configuration names, for writing, and the key of its audit trail.
func openStore(ctx context.Context, cfg config.Config, log *zap.Logger) (audit.Store, *audit.Secret, error) {
	if path := cfg.SQLitePath(); path != "" {
		secret, made, err := secretFor(cfg)
		if err != nil {
			return nil, nil, ofKeySetting(cfg, err)
		}
		if made {
			log.Warn("audit_key_made", zap.String("file", cfg.AuditKey()), zap.String("key", secret.Public().ID()),
				zap.String("detail", "back it up apart from the store: without it the audit trail can neither be checked nor continued"))
		}
		store, err := sqlite.Open(ctx, path, secret, sqlite.Options{Worker: cfg.WorkerName})
		if err != nil {
			return nil, nil, err
		}
		return store, secret, nil
	}
	if cfg.AuditKeyFile == "" {
		return nil, nil, config.FaultsError{"RETRY_AUDIT_KEY_FILE is missing; with postgres:// all replicas need the same key, made once with: " +
			"openssl genpkey -algorithm ed25519 -out audit.key"}
	}
	secret, err := audit.LoadSecret(cfg.AuditKey())
	if err != nil {
		return nil, nil, ofKeySetting(cfg, err)
	}
	store, err := postgres.Open(ctx, string(cfg.DatabaseURL), secret, postgres.Options{Worker: cfg.WorkerName})
	if err != nil {
		return nil, nil, err
	}
	return store, secret, nil
}

// ofKeySetting names the setting of the key in an error about it, where the path stands in that setting.
func ofKeySetting(cfg config.Config, err error) error {
	if cfg.AuditKeyFile == "" {
		return err
	}
	return fmt.Errorf("RETRY_AUDIT_KEY_FILE: %w", err)
}

// secretFor reads the key of a SQLite store. It is made where nobody named one and there is no store yet: a store whose
// key is lost cannot be gone on with.
func secretFor(cfg config.Config) (secret *audit.Secret, made bool, err error) {
	_, err = os.Stat(cfg.SQLitePath())
	if cfg.AuditKeyFile == "" && errors.Is(err, fs.ErrNotExist) {
		return audit.LoadOrMakeSecret(cfg.AuditKey())
	}
	secret, err = audit.LoadSecret(cfg.AuditKey())
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the audit store %s needs the key that it was made with; restore it from the backup", err, cfg.DatabaseURL)
	}
	return secret, false, err
}

const (
	// askTimeout bounds what a scrape asks of the store.
	askTimeout = time.Second
	// successWindow is how far back retry_success_rate looks (RN-BIL-005 section 13.4).
	successWindow = 24 * time.Hour
)

// state is what /metrics asks at every scrape.
func (a *App) state(version string) metrics.State {
	flag := func(up bool) float64 {
		if up {
			return 1
		}
		return 0
	}
	inHand := map[string]func() float64{}
	for jobType, loop := range a.loops {
		inHand[jobType] = func() float64 { return float64(loop.InHand()) }
	}
	return metrics.State{
		Version:       version,
		InHand:        inHand,
		MaxJobsActive: a.cfg.MaxJobsActive,
		GatewayUp:     func() float64 { return flag(a.connected()) },
		BrokerUp: func() float64 {
			// Also while the worker stops, which can take minutes: the broker is not down for that.
			ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
			defer cancel()
			topology, err := a.client.Topology(ctx)
			return flag(err == nil && topology.Healthy())
		},
		StoreUp: func() float64 { return flag(a.recorder.Err() == nil) },
		SuccessRate: func() float64 {
			ctx, cancel := context.WithTimeout(a.stopping, askTimeout)
			defer cancel()
			accepted, retried, err := a.store.Success(ctx, time.Now().Add(-successWindow))
			if err != nil || retried == 0 {
				return metrics.Unknown()
			}
			return float64(accepted) / float64(retried)
		},
	}
}

const (
	// headEvery is how often the signed heads of the audit trail go into the log, which is what shows a trail that was
	// put back to an earlier state.
	headEvery = time.Hour
	// retainEvery is how often records whose retention is over are removed.
	retainEvery = 24 * time.Hour
)

// keep looks after the audit trail until ctx ends.
func (a *App) keep(ctx context.Context) {
	heads, retention := time.NewTicker(headEvery), time.NewTicker(retainEvery)
	defer heads.Stop()
	defer retention.Stop()
	a.logHeads(ctx)
	a.retain(ctx)
	for {
		select {
		case <-heads.C:
			a.logHeads(ctx)
		case <-retention.C:
			a.retain(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
			defer cancel()
			a.logHeads(last)
			return
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
			continue // it is gone, for the check of the trail to name
		}
		a.log.Info("audit_head", zap.Int("chain", h.Chain), zap.Int64("seq", h.Seq), zap.Stringer("hash", h.Hash),
			zap.String("at", h.At.Format(time.RFC3339Nano)), zap.Binary("signature", h.Signature))
	}
}

func (a *App) retain(ctx context.Context) {
	cutoff := audit.Cutoff(time.Now(), int(a.cfg.AuditRetention))
	stubs, err := audit.Retain(ctx, a.store, a.secret, cutoff, a.cfg.EventsURL != "")
	if err != nil {
		a.log.Error("audit_retention_failed", zap.Error(err))
	}
	for _, s := range stubs {
		a.log.Info("audit_records_removed", zap.Int("chain", s.Chain), zap.Int64("from", s.From), zap.Int64("through", s.Through),
			zap.Time("newest", s.Newest))
	}
}
