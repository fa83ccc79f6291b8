package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/text"
)

func newAudit(now clock) *cobra.Command {
	command := group("audit", "Check, export and clear the audit trail")
	command.AddCommand(newAuditVerify(), newAuditBackup(), newAuditRestore(), newAuditExport(), newAuditPurge(now))
	return command
}

// group is a command that only holds others.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
}

func newAuditExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export CLAIM",
		Short: "Print everything that is stored about a claim, as JSON lines",
		Long: `Prints everything that is stored about a claim, one JSON object for each record,
oldest first, with its place in the audit trail and its hash: for a data subject
who asks what is kept (LGPD, article 18), or for an auditor.`,
		Example: `  worker audit export CLM-ENC-001-1234567890 > claim.jsonl`,
		Args:    oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return withClaim(command, args[0], func(_ *audit.State, records []audit.Record) error {
				for i := range records {
					if err := printLine(command, report.RecordOf(&records[i])); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func newAuditBackup() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy a SQLite store into a new file, and check the copy",
		Long: `Copies the SQLite store at RETRY_DATABASE_URL, as it is at one moment, into a
new file, also while a worker writes to it, and then checks the copy's audit
trail. The key is not copied: keep it apart from the store. PostgreSQL is backed
up by its own means.`,
		Example: `  worker audit backup /backup/analyze-retry-2026-11-21.db`,
		Args:    oneArg("the new file", "/backup/today.db"),
		RunE: func(command *cobra.Command, args []string) error {
			cfg, err := loadConfig(command)
			if err != nil {
				return err
			}
			return backUp(command, cfg, args[0])
		},
	}, "print one JSON object")
}

func backUp(command *cobra.Command, cfg config.Config, file string) error {
	ctx := command.Context()
	public, err := audit.LoadPublic(cfg.AuditKey())
	if err != nil && cfg.SQLitePath() != "" {
		return fmt.Errorf("the copy could not be checked without the key: %w", err)
	}
	if err := app.Backup(ctx, cfg, file); err != nil {
		return err
	}
	cfg.DatabaseURL = config.URL("sqlite://" + file)
	store, err := app.OpenHistory(ctx, cfg)
	if err != nil {
		return err
	}
	c, err := check(command, cfg, store, public, nil)
	if closeErr := store.Close(); c == nil || closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return c.print(command, err)
}

func newAuditRestore() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "restore BACKUP",
		Short: "Put a checked backup in the place of a SQLite store",
		Long: `Copies a backup, checks the copy's audit trail with the key, and puts it in the
place of the SQLite store at RETRY_DATABASE_URL. The store that is there is
moved aside and kept. The worker must be stopped. A backup that is broken, or
that another key has signed, changes nothing.

What was decided since the backup is missing: worker audit verify --heads names
it. PostgreSQL is restored by its own means.`,
		Example: `  worker audit restore /backup/analyze-retry-2026-11-21.db`,
		Args:    oneArg("the backup", "/backup/today.db"),
		RunE: func(command *cobra.Command, args []string) error {
			cfg, err := loadConfig(command)
			if err != nil {
				return err
			}
			done, key, err := app.Restore(command.Context(), cfg, args[0])
			if err != nil {
				return err
			}
			r := restored{Store: cfg.DatabaseURL.String(), Backup: args[0], Aside: done.Aside, Key: key, Verified: done.Verified}
			return printAnswer(command, r, r.text())
		},
	}, "print one JSON object")
}

// restored is what restore answers. Its JSON form is stable.
type restored struct {
	Store  string `json:"store"`
	Backup string `json:"backup"`
	// Aside is where the store is now that was there, absent where there was none.
	Aside string `json:"aside,omitempty"`
	Key   string `json:"key"`
	audit.Verified
}

func (r restored) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Restored %s from %s.\n", r.Store, r.Backup)
	fmt.Fprintf(&b, "Its audit trail is in order: %s checked with the key %s.\n", text.Count(r.Records, "record"), r.Key)
	for _, h := range r.Heads {
		fmt.Fprintf(&b, "Chain %d ends with record %d, signed %s.\n", h.Chain, h.Seq, text.Time(h.At))
	}
	if r.Aside != "" {
		fmt.Fprintf(&b, "The store that was there is kept as %s.\n", r.Aside)
	}
	b.WriteString("What became of decisions since then is in docs/operations.md.\n")
	return b.String()
}
