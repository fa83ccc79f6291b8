package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/term"
)

// shortened is what purge --shorten answers. Its JSON form is stable.
type shortened struct {
	// Before is how long the store kept its records at least, Retention how long it does now.
	Before    string `json:"before"`
	Retention string `json:"retention"`
	Lowered   bool   `json:"lowered"`
}

// shortenRetention lets the store keep records for RETRY_AUDIT_RETENTION only, if a person says so. It removes nothing.
func shortenRetention(command *cobra.Command, yes, asJSON bool) (err error) {
	if !yes && !term.IsTerminal(command.InOrStdin()) {
		return usageError{errors.New("there is no terminal to ask at: give --yes if the store is to keep records for a shorter time")}
	}
	cfg, err := loadConfig(command.Context())
	if err != nil {
		return err
	}
	ctx := command.Context()
	store, _, err := app.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	floor, err := store.Floor(ctx)
	switch {
	case errors.Is(err, audit.ErrNoFloor): // which a person may mend so
		complain(command.ErrOrStderr(), "worker: %v", err)
		floor = audit.DefaultFloor
	case err != nil:
		return err
	case floor == 0:
		floor = audit.DefaultFloor
	}
	s := shortened{Before: config.Months(floor).String(), Retention: cfg.AuditRetention.String(), Lowered: floor > int(cfg.AuditRetention) || err != nil}
	if s.Lowered {
		question := fmt.Sprintf("%s keeps records for %s at least. Let it keep them for %s only?", cfg.DatabaseURL, s.Before, s.Retention)
		if !yes && !term.Confirm(ctx, command.InOrStdin(), command.ErrOrStderr(), question) {
			return errors.New("nothing was changed")
		}
		if err := store.Shorten(ctx, int(cfg.AuditRetention)); err != nil {
			return err
		}
	} else {
		s.Retention = s.Before
	}
	return printAnswer(command, asJSON, s, s.text(cfg))
}

func (s shortened) text(cfg config.Config) string {
	if !s.Lowered {
		return fmt.Sprintf("Nothing to lower: the store keeps records for %s at least, and RETRY_AUDIT_RETENTION is %s.\n", s.Before, cfg.AuditRetention)
	}
	return fmt.Sprintf("Lowered: the store kept records for %s at least, and keeps them for %s from now on.\n", s.Before, s.Retention) +
		"Nothing is removed yet. worker audit purge --dry-run says what will be.\n"
}
