package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
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

func (p *program) auditVerify() *cobra.Command {
	command := &cobra.Command{Use: "verify"}
	keyFile := command.Flags().String("key", "", "public or private key file (default the worker's own)")
	headsFile := command.Flags().String("heads", "", "file of kept heads; lines without are skipped")
	return p.answers(command, aStore, func(c *call) (any, error) {
		public, err := audit.LoadPublic(cmp.Or(*keyFile, c.cfg.AuditKey()))
		if err != nil {
			return nil, err
		}
		var known []audit.Head
		if *headsFile != "" {
			if known, err = knownHeads(*headsFile, public); err != nil {
				return nil, err
			}
		}
		return verify(c, public, known)
	})
}

// checked is what a check found. Its JSON form is stable.
type checked struct {
	Store string `json:"store"`
	// Key is the short name of the key, as in the worker's log.
	Key string `json:"key"`
	OK  bool   `json:"ok"`
	// Broken is the first place where something does not fit, absent where all is in order.
	Broken *audit.BrokenError `json:"broken,omitempty"`
	// Aside is where the store is now that was there before a restore, absent where there was none.
	Aside string `json:"aside,omitempty"`
	audit.Verified

	// KnownHeads were given. The places of those that did not agree are removed.
	KnownHeads int `json:"knownHeads"`
}

// verify checks the store, and answers with what it found.
func verify(c *call, public audit.Public, known []audit.Head) (any, error) {
	found := checked{Store: c.cfg.DatabaseURL.String(), Key: public.ID(), KnownHeads: len(known)}
	var err error
	found.Verified, err = audit.Verify(c.Context(), c.store, public, known)
	broken, is := errors.AsType[*audit.BrokenError](err)
	switch {
	case is:
		found.Broken = broken
		err = text.Messagef("the audit trail at %s is broken: %s", found.Store, broken.Message())
	case err != nil:
		return nil, err
	case found.Records == 0 && found.Removed == 0:
		err = text.Messagef("there are no records in %s, and no cut stands for removed ones: "+
			"nothing was decided yet, it is another store than the worker's, or it was emptied", found.Store)
	}
	if err != nil {
		found.Heads = nil // heads of a broken trail are not to be kept
		return found, err
	}
	found.OK = true
	return found, found.say(c.w)
}

// say reports that the trail is in order, with its heads.
func (c *checked) say(w *wording) error {
	if c.Aside != "" {
		w.linef("The store that was there is kept as %s.", c.Aside)
	}
	w.linef("The audit trail is in order: %s.", c.Store)
	rows := [][]string{{w.Sprintf("key"), c.Key}}
	count := func(what string, n int64) {
		if n > 0 {
			rows = append(rows, []string{what, w.Sprintf("%d", n)})
		}
	}
	count(w.Sprintf("records checked"), c.Records)
	count(w.Sprintf("open claims checked"), c.Claims)
	count(w.Sprintf("records removed by a purge"), c.Removed)
	count(w.Sprintf("known heads that agree"), int64(c.Agreed))
	count(w.Sprintf("known heads of removed records"), int64(c.KnownHeads-c.Agreed))
	w.table("", rows)
	w.WriteString("\n")
	w.sayf("The heads now. Keep them apart from the store, for --heads at the next check:")
	for _, h := range c.Heads {
		if err := w.json(headLine{headEvent, h}, ""); err != nil {
			return err
		}
	}
	return nil
}

// headEvent is the event under which the worker logs the heads, and under which they are printed here.
const headEvent = "audit_head"

// headLine is a signed head as it stands in the worker's log.
type headLine struct {
	Event string `json:"event"`
	audit.Head
}

// knownHeads reads the heads among the lines of a file: those of the worker's log, and of events those of the
// key, because many stores may share a queue.
func knownHeads(path string, key audit.Public) (known []audit.Head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		heads, err := events.Heads(line, key.ID())
		if bytes.Contains(line, []byte(`"`+headEvent+`"`)) {
			line = line[max(bytes.IndexByte(line, '{'), 0):] // behind what kubectl and compose write
			var logged headLine
			err = json.Unmarshal(line, &logged)
			heads = []audit.Head{logged.Head}
		}
		if err != nil {
			return nil, text.Messagef("%s, line %d: %s", path, n, err)
		}
		known = append(known, heads...)
	}
	if len(known) == 0 && lines.Err() == nil {
		return nil, text.Messagef("there is no line with the event %s in %s, and no event %s of the key %s",
			headEvent, path, events.TypeAuditHead, key.ID())
	}
	return known, lines.Err()
}

func (p *program) auditPurge() *cobra.Command {
	command := &cobra.Command{Use: "purge"}
	flags := command.Flags()
	day := flags.String("before", "", "first `DAY` that stays, as 2021-11-01")
	_ = command.MarkFlagRequired("before") // it is there
	yes := flags.Bool("yes", false, "remove the records")
	return p.answers(command, settings, func(c *call) (any, error) {
		before := c.day("before", time.DateOnly, *day, "")
		if c.wrong != nil {
			return nil, c.wrong
		}
		if limit := audit.Cutoff(p.now(), 12*c.cfg.AuditRetentionYears); before.After(limit) {
			return nil, text.Messagef("RETRY_AUDIT_RETENTION_YEARS=%d keeps what was decided from %s "+
				"on: give an earlier day for --before",
				c.cfg.AuditRetentionYears, limit.Format(time.DateOnly))
		}
		open := app.OpenHistory
		if *yes {
			open = app.OpenStore
		}
		store, err := open(c.Context(), c.cfg)
		if err != nil {
			return nil, err
		}
		done := purged{Before: before, RetentionYears: c.cfg.AuditRetentionYears, DryRun: !*yes}
		chains, held, err := audit.Purge(c.Context(), store, before, done.DryRun)
		if err = errors.Join(err, store.Close()); err != nil {
			return nil, err
		}
		done.Chains = append([]audit.Purged{}, chains...) // in JSON a list, even where it is empty
		done.Held = held
		done.say(c.w)
		return done, nil
	})
}

// purged is what purge answers. Its JSON form is stable.
type purged struct {
	Before         time.Time `json:"before"`
	RetentionYears int       `json:"retentionYears"`
	DryRun         bool      `json:"dryRun"`
	// Chains are what would go or went of each that has such records, and Held is what keeps others.
	Chains []audit.Purged `json:"chains"`
	Held   audit.Hold     `json:"held,omitzero"`
}

func (d *purged) say(w *wording) {
	for _, c := range d.Chains {
		chain, place := strconv.Itoa(c.Chain), strconv.FormatInt(c.Through, 10)
		if d.DryRun {
			w.sayf("Would remove %d records of chain %s, up to place %s.", c.Records, chain, place)
		} else {
			w.sayf("Removed %d records of chain %s, up to place %s.", c.Records, chain, place)
		}
	}
	if len(d.Chains) == 0 {
		w.sayf("There is nothing to remove that was decided before %s.", d.Before.Format(time.DateOnly))
	}
	from := d.Held.From.Format(time.RFC3339) // its days are those of UTC, whatever the zone
	switch {
	case d.Held.ClaimID != "":
		w.sayf("What was decided from %s on stays: claim %s is open.", from, d.Held.ClaimID)
	case !d.Held.From.IsZero():
		w.sayf("What was decided from %s on stays until its events are published.", from)
	}
	if d.DryRun && len(d.Chains) > 0 {
		w.sayf("Nothing is removed yet: give --yes to remove them.")
	}
}
