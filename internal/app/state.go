package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

// stateEvery is how often the state of the audit trail is saved, if it has changed.
const stateEvery = time.Minute

// trailState is what the key has signed last, and the file in which that is kept.
type trailState struct {
	audit.State

	secret *audit.Secret
	log    *zap.Logger
	files  []string // candidates, the best first
	// saved are the heads that the file has.
	saved []audit.Head
	// missing is whether the last look at the store found records missing, unsaved whether the last save failed. Each is
	// logged once.
	missing, unsaved bool
}

// loadState reads the newest of the files that the configuration names. A file that cannot be read is an error, because it may
// be what shows that records are missing.
func loadState(cfg config.Config, secret *audit.Secret, log *zap.Logger) (*trailState, error) {
	s := &trailState{secret: secret, log: log, files: cfg.AuditStates()}
	_, last, err := audit.LastState(s.files, secret.Public())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.State, s.saved = last, last.Heads
	return s, nil
}

// save saves the present heads of a store. It never replaces a state by one with fewer records, so that a loss of records is
// not forgotten.
func (s *trailState) save(ctx context.Context, store audit.Maintenance) {
	heads, err := store.Heads(ctx)
	if err != nil {
		return // the hourly log of the heads, or the next write, reports it
	}
	heads = s.signed(heads)
	if err := s.Missing(heads); err != nil {
		if !s.missing {
			s.log.Error("audit_records_missing", zap.Error(err),
				zap.String("detail", "the store was put back to an earlier state while the worker ran; the next start is refused: run worker audit verify, then restore a backup"))
		}
		s.missing = true
		return
	}
	s.missing = false
	s.Heads = heads
	if !s.At.IsZero() && slices.EqualFunc(heads, s.saved, func(a, b audit.Head) bool { return a.Chain == b.Chain && a.Seq == b.Seq }) {
		return
	}
	if err := s.write(); err != nil {
		if !s.unsaved && !s.unkept(err) {
			s.log.Warn("audit_state_not_saved", zap.Error(err), zap.String("detail", "a store that loses records is noticed by its own files only"))
		}
		s.unsaved = true
		return
	}
	s.unsaved = false
}

// signed returns the heads that the key has signed. A chain that is gone, head included, has one without a signature.
func (s *trailState) signed(heads []audit.Head) []audit.Head {
	return slices.DeleteFunc(heads, func(h audit.Head) bool { return !s.secret.Public().CheckHead(h) })
}

// write saves the state in the first file that can be written.
func (s *trailState) write() error {
	now := s.State
	now.At = time.Now()
	for i, file := range s.files {
		err := s.secret.SaveState(file, now)
		if err == nil {
			s.State, s.saved = now, now.Heads
			s.files = s.files[i : i+1] // the others would be older
			return nil
		}
		if i == len(s.files)-1 || !mayNotWrite(err) {
			return err
		}
	}
	return nil
}

// unkept reports whether a save failed because no directory takes the file, and logs that. A database server keeps
// its own files, and the key of its workers is often mounted read-only.
func (s *trailState) unkept(err error) bool {
	if !mayNotWrite(err) {
		return false
	}
	s.log.Info("audit_state_not_kept", zap.Strings("files", s.files),
		zap.String("detail", "the key's directory takes no files: records that go missing are not noticed at the start; keep the heads in the log (audit_head)"))
	return true
}

// mayNotWrite reports whether a directory takes no files from this process.
func mayNotWrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly)
}

// giveUp notes that a person accepts the loss of these records and continues from what the store has.
func (s *trailState) giveUp(why string, missing []audit.Head, from []audit.Head) {
	s.GivenUp = append(s.GivenUp, audit.GivenUp{At: time.Now().UTC().Truncate(time.Microsecond), Why: why, Heads: missing, From: from})
	s.Heads = from
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

// incomplete returns the error about a trail of which records are missing, with what to do about it.
func incomplete(cfg config.Config, err error) error {
	restore := "restore a backup (pg_restore, docs/operations.md)"
	if cfg.SQLitePath() != "" {
		restore = "restore a backup (worker audit restore BACKUP)"
	}
	return fmt.Errorf("%w. Records of the audit trail are missing in %s: see that it is the right store (a volume that is not mounted?), or %s; "+
		"if they are gone and that is accepted, begin anew with: worker run --new-trail", err, cfg.DatabaseURL, restore)
}

// secretFor reads the key of the store. It makes only that of a new SQLite store, where no setting names a key and there is
// neither store nor key yet: a store whose key is lost cannot be continued. orphan reports a key in the default place whose
// store does not exist.
func secretFor(cfg config.Config, log *zap.Logger) (secret *audit.Secret, orphan bool, err error) {
	path, inDefaultPlace := cfg.SQLitePath(), cfg.AuditKeyFile == ""
	if path == "" && inDefaultPlace {
		return nil, false, config.FaultsError{"RETRY_AUDIT_KEY_FILE is missing; with postgres:// all replicas need the same key, made once with: " +
			"openssl genpkey -algorithm ed25519 -out audit.key"}
	}
	none := path != "" && empty(path)
	secret, err = audit.LoadSecret(cfg.AuditKey())
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return secret, none && inDefaultPlace, ofKeySetting(cfg, err)
	case none && inDefaultPlace:
		secret, err = makeSecret(cfg, log)
		return secret, false, err
	case none || path == "":
		err = fmt.Errorf("%w. If %s has never had records, make the key: openssl genpkey -algorithm ed25519 -out %s. "+
			"If it had, restore the key that they were signed with: another one cannot go on with them", err, cfg.DatabaseURL, cfg.AuditKey())
	default:
		err = fmt.Errorf("%w: the audit store %s needs the key that it was made with; restore it from the backup", err, cfg.DatabaseURL)
	}
	return nil, false, ofKeySetting(cfg, err)
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

// ofKeySetting names the setting of the key in an error about it, where the path is in that setting.
func ofKeySetting(cfg config.Config, err error) error {
	if err == nil || cfg.AuditKeyFile == "" {
		return err
	}
	return fmt.Errorf("RETRY_AUDIT_KEY_FILE: %w", err)
}

// empty reports whether there is no store at the path, or nothing in the file.
func empty(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}
