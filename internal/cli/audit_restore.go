package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/term"
)

func newAuditRestore() *cobra.Command {
	command := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Put a checked backup in the place of a SQLite store",
		Long: `Copies a backup, checks the copy's audit trail with the key, and puts it in the
place of the SQLite store at RETRY_DATABASE_URL. The store that is there is
moved aside and kept. The worker must be stopped. A backup that is broken, or
that another key has signed, changes nothing.

It says where the restored trail ends, and how many records the key has signed
beyond that: those are missing, and docs/operations.md says what their decisions
become. The file with what the key has signed (the key's name and .state) keeps
that it was restored. PostgreSQL is restored by its own means.`,
		Example: `  worker audit restore /backup/analyze-retry-2026-11-21.db
  worker audit restore --json /backup/analyze-retry-2026-11-21.db`,
		Args: oneArg("the backup", "/backup/today.db"),
	}
	asJSON := command.Flags().Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, args []string) error {
		cfg, err := loadConfig(command.Context())
		if err != nil {
			return err
		}
		done, err := app.Restore(command.Context(), cfg, args[0])
		if err != nil {
			return err
		}
		r := restoredOf(cfg, args[0], done)
		return printAnswer(command, *asJSON, r, r.text())
	}
	return command
}

// restored is what restore answers. Its JSON form is stable.
type restored struct {
	Store  string `json:"store"`
	Backup string `json:"backup"`
	// Aside is where the store is now that was there, absent where there was none.
	Aside   string     `json:"aside,omitempty"`
	Key     string     `json:"key"`
	Records int64      `json:"records"`
	Removed int64      `json:"removed"`
	Heads   []headLine `json:"heads"`
	// Missing is what the key is known to have signed and the backup does not have.
	Missing []missingRecords `json:"missing"`
}

type missingRecords struct {
	Chain int       `json:"chain"`
	Has   int64     `json:"has"`
	Seq   int64     `json:"signed"`
	At    time.Time `json:"signedAt"`
}

func restoredOf(cfg config.Config, backup string, done app.Restored) restored {
	r := restored{
		Store: cfg.DatabaseURL.String(), Backup: backup, Aside: done.Aside, Key: done.Key, Records: done.Records, Removed: done.Removed,
		Heads: []headLine{}, Missing: []missingRecords{},
	}
	for _, h := range done.Heads {
		r.Heads = append(r.Heads, lineOf(h))
	}
	for _, c := range done.Missing {
		r.Missing = append(r.Missing, missingRecords{c.Signed.Chain, c.Has.Seq, c.Signed.Seq, c.Signed.At})
	}
	return r
}

func (r restored) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Restored %s from %s.\n", r.Store, r.Backup)
	fmt.Fprintf(&b, "Its audit trail is in order: %s checked with the key %s.\n", term.Count(r.Records, "record"), r.Key)
	for _, h := range r.Heads {
		fmt.Fprintf(&b, "Chain %d ends with record %d, signed %s.\n", h.Chain, h.Seq, term.Time(h.At))
	}
	if r.Aside != "" {
		fmt.Fprintf(&b, "The store that was there is kept as %s.\n", r.Aside)
	}
	for _, m := range r.Missing {
		if beyond := m.Seq - m.Has; beyond > 0 {
			fmt.Fprintf(&b, "%s of chain %d missing: the key signed %d until %s.\n", term.Count(beyond, "record"), m.Chain, m.Seq, term.Time(m.At))
		} else {
			fmt.Fprintf(&b, "Chain %d is another one than the key signed until %s.\n", m.Chain, term.Time(m.At))
		}
	}
	if len(r.Missing) == 0 {
		b.WriteString("The key is not known to have signed more than that.\n")
	} else {
		b.WriteString("What their decisions become is in docs/operations.md.\n")
	}
	return b.String()
}
