package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/retry"
)

// withStore opens the store of the configuration for reading, also while a worker runs, and closes it when do is done.
func withStore(command *cobra.Command, do func(ctx context.Context, cfg config.Config, store audit.Store) error) error {
	cfg, err := loadConfig(command.Context())
	if err != nil {
		return err
	}
	ctx := command.Context()
	store, err := app.OpenHistory(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, cfg, store), store.Close())
}

// withClaim reads the records of a claim, oldest first. Where there are none, the error names possible reasons.
func withClaim(command *cobra.Command, claimID string, do func(records []audit.Record) error) error {
	return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
		records, err := store.Claim(ctx, claimID)
		switch {
		case err != nil:
			return err
		case len(records) > 0:
			return do(records)
		case !retry.ValidID(claimID):
			return fmt.Errorf("nothing is known of claim %q; a claim is %s; where a policy takes any ids, it is %s", claimID, retry.RuleClaimID, retry.RuleAnyID)
		case !retry.ValidClaimID(claimID): // an id of what is no claim, or a claim's number without its prefix
			return fmt.Errorf("nothing is known of %s in %s: no decision was asked for it, or its retention is over; a claim's id is CLM-<any>-<digits>",
				claimID, cfg.DatabaseURL)
		default:
			return fmt.Errorf("nothing is known of claim %s in %s: no decision was asked for it, or its retention is over", claimID, cfg.DatabaseURL)
		}
	})
}
