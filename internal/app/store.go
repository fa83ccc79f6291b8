package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
)

// openStore opens the store that the configuration names, for writing, and the key of its audit trail. Where the key has
// signed records that the store does not have, it is refused, unless a person begins a new trail.
func openStore(ctx context.Context, cfg config.Config, log *zap.Logger) (audit.Store, *trailState, error) {
	secret, orphan, err := secretFor(cfg, log)
	if err != nil {
		return nil, nil, ofKeySetting(cfg, err)
	}
	st, err := loadState(cfg, secret, log)
	if err != nil {
		return nil, nil, err
	}
	orphan = orphan && st.At.IsZero()
	if orphan && !cfg.NewTrail() {
		return nil, nil, incomplete(cfg, fmt.Errorf("the key %s was made with a store, and there is none", cfg.AuditKey()))
	}
	open := openPostgres
	if cfg.SQLitePath() != "" {
		open = openSQLite
	}
	store, err := open(ctx, cfg, st, false)
	missing, is := errors.AsType[*audit.MissingError](err)
	switch {
	case is && !cfg.NewTrail():
		return nil, nil, incomplete(cfg, err)
	case is:
		if store, err = open(ctx, cfg, st, true); err == nil {
			err = st.beginAnew(ctx, store, missing)
		}
	case err == nil && orphan:
		err = st.beginAnew(ctx, store, &audit.MissingError{})
	case err == nil && cfg.NewTrail():
		log.Warn("new_trail_without_effect", zap.String("detail", "the store has all that its key is known to have signed; start without --new-trail"))
	}
	if err != nil {
		if store != nil {
			err = errors.Join(err, store.Close())
		}
		return nil, nil, err
	}
	return store, st, nil
}

// beginAnew gives up what is missing, for good.
func (s *trailState) beginAnew(ctx context.Context, store audit.Store, missing *audit.MissingError) error {
	from, err := store.Heads(ctx)
	if err != nil {
		return err
	}
	gone := []audit.Head{}
	if len(missing.Chains) == 0 {
		s.log.Warn("audit_trail_begun_anew", zap.String("detail", "what the key had signed before is not known"))
	}
	for _, c := range missing.Chains {
		gone = append(gone, c.Signed)
		s.log.Warn("audit_trail_begun_anew", append(headFields(c.Signed), zap.Int64("goesOnFrom", c.Has.Seq))...)
	}
	s.giveUp(audit.NewTrail, gone, s.signed(from))
	if err := s.write(); err != nil && !s.unkept(err) {
		return err
	}
	return nil
}

func openSQLite(ctx context.Context, cfg config.Config, st *trailState, newTrail bool) (audit.Store, error) {
	store, err := sqlite.Open(ctx, cfg.SQLitePath(), st.secret, sqlite.Options{Worker: cfg.WorkerName, Signed: st.Heads, NewTrail: newTrail})
	if err != nil {
		return nil, err // and not a nil of a type
	}
	return store, nil
}

func openPostgres(ctx context.Context, cfg config.Config, st *trailState, newTrail bool) (audit.Store, error) {
	store, err := postgres.Open(ctx, string(cfg.DatabaseURL), st.secret, postgres.Options{Worker: cfg.WorkerName})
	if err != nil {
		return nil, err
	}
	if newTrail {
		return store, nil
	}
	err = audit.Compare(ctx, store, st.Heads)
	if _, is := errors.AsType[*audit.MissingError](err); is {
		return nil, errors.Join(err, store.Close())
	}
	if err != nil { // somebody holds a lock; the store takes no jobs meanwhile, and each save of the state compares it
		st.log.Warn("audit_state_not_compared", zap.Error(err))
	}
	return store, nil
}

// ofKeySetting names the setting of the key in an error about it, where the path stands in that setting.
func ofKeySetting(cfg config.Config, err error) error {
	if cfg.AuditKeyFile == "" {
		return err
	}
	return fmt.Errorf("RETRY_AUDIT_KEY_FILE: %w", err)
}

// secretFor reads the key of the store. Only that of a SQLite store is made, where nobody named one and there is neither
// store nor key yet: a store whose key is lost cannot be gone on with. orphan reports a key in the default place whose
// store does not exist.
func secretFor(cfg config.Config, log *zap.Logger) (secret *audit.Secret, orphan bool, err error) {
	path := cfg.SQLitePath()
	if path == "" && cfg.AuditKeyFile == "" {
		return nil, false, config.FaultsError{"RETRY_AUDIT_KEY_FILE is missing; with postgres:// all replicas need the same key, made once with: " +
			"openssl genpkey -algorithm ed25519 -out audit.key"}
	}
	none := path != "" && empty(path)
	if none && cfg.AuditKeyFile == "" {
		secret, err := audit.LoadSecret(cfg.AuditKey())
		if !errors.Is(err, fs.ErrNotExist) {
			return secret, true, err
		}
		secret, err = makeSecret(cfg, log)
		return secret, false, err
	}
	secret, err = audit.LoadSecret(cfg.AuditKey())
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, false, err
	}
	if none || path == "" {
		return nil, false, fmt.Errorf("%w. If %s has never had records, make the key: openssl genpkey -algorithm ed25519 -out %s. "+
			"If it had, restore the key that they were signed with: another one cannot go on with them", err, cfg.DatabaseURL, cfg.AuditKey())
	}
	return nil, false, fmt.Errorf("%w: the audit store %s needs the key that it was made with; restore it from the backup", err, cfg.DatabaseURL)
}

// makeSecret makes the key of a new SQLite store. The state comes first: where a start ends between the key and the store,
// it shows the next one that the key has signed nothing.
func makeSecret(cfg config.Config, log *zap.Logger) (*audit.Secret, error) {
	secret, err := audit.NewSecret()
	if err != nil {
		return nil, err
	}
	file := cfg.AuditStates()[0]
	if _, err := audit.LoadState(file, secret.Public()); !errors.Is(err, fs.ErrNotExist) {
		return nil, err // another key has signed something
	}
	if err := secret.SaveState(file, audit.State{At: time.Now()}); err != nil {
		return nil, err
	}
	if err := secret.Save(cfg.AuditKey()); err != nil {
		return nil, err
	}
	log.Warn("audit_key_made", zap.String("file", cfg.AuditKey()), zap.String("key", secret.Public().ID()),
		zap.String("detail", "back it up apart from the store: without it the audit trail can neither be checked nor continued"))
	return secret, nil
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
		ClockSkew: func() float64 {
			if skew, known := a.clock.Skew(); known {
				return skew.Seconds()
			}
			return metrics.Unknown()
		},
		ClockTrusted: func() float64 { return flag(a.clock.Err() == nil) },
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

// headEvery is how often the signed heads of the audit trail go into the log, which is what shows a trail that was put
// back to an earlier state.
const headEvery = time.Hour

// keep looks after the audit trail until ctx ends.
func (a *App) keep(ctx context.Context) {
	heads, state := time.NewTicker(headEvery), time.NewTicker(time.Second)
	defer heads.Stop()
	defer state.Stop()
	// Not at once: a start with a wrong clock must not remove anything. The first job shows the broker's time.
	next, known := time.NewTimer(retainAgain), a.clock.Known()
	defer next.Stop()
	r := retention{
		store: a.store, secret: a.secret, setting: a.cfg.AuditRetention, publish: a.cfg.EventsURL != "",
		clock: a.clock, numbers: a.numbers, log: a.log,
	}
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
			next.Reset(r.run(ctx))
		case <-next.C:
			next.Reset(r.run(ctx))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
			defer cancel()
			a.logHeads(last)
			a.trail.save(last, a.store)
			return
		}
	}
}

// watchPlace looks every second whether the file of the store is still the one at its path, so that a store that nobody
// writes to is not taken for granted.
func (a *App) watchPlace(ctx context.Context) {
	store, is := a.store.(interface{ InPlace() error })
	if !is {
		return
	}
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if a.recorder.Err() != nil {
			continue // it is looked at by each try whether the store is back
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
			continue // it is gone, for the check of the trail to name
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
