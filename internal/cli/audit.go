package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) audit() *cobra.Command {
	return p.group("audit",
		p.auditVerify(), p.auditBackup(), p.auditRestore(), p.auditExport(), p.auditPurge(), p.auditMigrate())
}

func (p *program) auditExport() *cobra.Command {
	return p.does(&cobra.Command{Use: "export CLAIM", Args: cobra.ExactArgs(1)}, aStore, func(c *call) error {
		_, records, err := c.claim()
		for i := range records {
			err = errors.Join(err, c.w.json(recordOf(&records[i]), ""))
		}
		return err
	})
}

func (p *program) auditBackup() *cobra.Command {
	command := &cobra.Command{Use: "backup FILE", Args: cobra.ExactArgs(1)}
	return p.answers(command, settings, func(c *call) (any, error) {
		if err := app.Backup(c.Context(), c.cfg, c.args[0]); err != nil {
			return nil, fmt.Errorf("%w: %w", text.Messagef("not copied into %s", c.args[0]), err)
		}
		public, err := audit.LoadPublic(c.cfg.AuditKey())
		if err != nil {
			return nil, text.Messagef("the copy is there, but cannot be checked: %s", err)
		}
		c.cfg.DatabaseURL = config.URL("sqlite://" + c.args[0])
		if err := c.open(); err != nil {
			return nil, err
		}
		return verify(c, public, nil)
	})
}

func (p *program) auditRestore() *cobra.Command {
	command := &cobra.Command{Use: "restore BACKUP", Args: cobra.ExactArgs(1)}
	return p.answers(command, settings, func(c *call) (any, error) {
		done, key, err := app.Restore(c.Context(), c.cfg, c.args[0])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", text.Messagef("not restored from %s", c.args[0]), err)
		}
		is := checked{
			Store:    c.cfg.DatabaseURL.String(),
			Key:      key,
			OK:       true,
			Aside:    done.Aside,
			Verified: done.Verified,
		}
		c.w.linef("Restored from %s.", c.args[0])
		return is, is.say(c.w)
	})
}

func (p *program) auditMigrate() *cobra.Command {
	return p.does(&cobra.Command{Use: "migrate"}, settings, func(c *call) error {
		if c.cfg.SQLitePath() != "" {
			return usageError{text.Messagef("the worker that opens %s makes its tables", c.cfg.DatabaseURL)}
		}
		if err := app.Migrate(c.Context(), c.cfg); err != nil {
			return err
		}
		c.w.linef("The tables at %s are there.", c.cfg.DatabaseURL)
		return nil
	})
}
