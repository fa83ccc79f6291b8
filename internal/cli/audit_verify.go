package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/term"
)

func newAuditVerify() *cobra.Command {
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was changed, removed, swapped or cut off",
		Long: `Checks the hash chains of the audit store from the first record to the signed
head, and names the first place where something does not fit: a record that was
changed, added, removed or swapped, or a trail whose end was cut off. Then it
compares the store with the one that the worker makes, and lists what differs:
triggers, indexes, tables, and on PostgreSQL rights and row-level security. It
changes nothing and may run while a worker runs. It exits with 1 if it finds
anything.

A store that was put back to an earlier state as a whole is in order by itself.
Heads that were kept elsewhere show that. They are read from the state file next
to the key, and from the queue of RETRY_EVENTS_URL (NATS and Kafka) or, with
--heads, from a file: the worker's log (its lines with the event audit_head),
what this command printed at an earlier check, or events of the type
retry.audit_head.v1, one a line; other lines are passed over.

A store without any record is a finding too: it may be the wrong one. A store
that is new is checked with --expect-empty.

The key is the store's own (RETRY_AUDIT_KEY_FILE). To check, its public half is
enough: openssl pkey -in audit.key -pubout -out audit.pub`,
		Example: `  worker audit verify
  worker audit verify --key audit.pub --heads kept-heads.jsonl
  worker audit verify | grep audit_head >> kept-heads.jsonl`,
		Args: noArgs,
	}
	flags := command.Flags()
	keyFile := flags.String("key", "", "public or private key file (default the worker's own)")
	headsFile := flags.String("heads", "", "file of kept heads; - is standard input")
	empty := flags.Bool("expect-empty", false, "accept a store without records")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return withStore(command, func(_ context.Context, cfg config.Config, store audit.Store) error {
			if *keyFile == "" {
				*keyFile = cfg.AuditKey()
			}
			public, err := audit.LoadPublic(*keyFile)
			if err != nil {
				return err
			}
			known, err := gatherHeads(command, cfg, public, headsFrom{key: *keyFile, file: *headsFile})
			if err != nil {
				return err
			}
			c, err := check(command, cfg, store, public, known)
			if c == nil {
				return err
			}
			if c.Records == 0 && c.Removed == 0 {
				c.noRecords(*empty)
			}
			return c.print(command, *asJSON, err)
		})
	}
	return command
}

// check checks a store. It returns nil where the store could not be checked. Otherwise the error is that the trail is broken,
// or could not be read because of what is in the findings.
func check(command *cobra.Command, cfg config.Config, store audit.Store, public audit.Public, known gathered) (*checked, error) {
	progress := term.NewProgress(command.ErrOrStderr())
	verified, err := audit.Verify(command.Context(), store, public, known.heads, func(n int64) { progress.Show("%d records checked", n) })
	progress.Clear()
	c := &checked{
		Store: cfg.DatabaseURL.String(), Key: public.ID(), Records: verified.Records, Removed: verified.Removed,
		Findings: verified.Inspection.Findings, Notes: verified.Inspection.Notes,
		KnownHeads: len(known.heads), AgreedHeads: verified.Agreed, gathered: known, lastID: verified.Inspection.LastID,
	}
	broken, isBroken := errors.AsType[*audit.BrokenError](err)
	if err != nil && !isBroken && len(c.Findings) == 0 {
		return nil, err
	}
	if isBroken {
		c.Broken = &brokenPlace{broken.Chain, broken.Seq, broken.ID, broken.Why}
	}
	for _, h := range verified.Heads {
		c.Heads = append(c.Heads, lineOf(h))
	}
	return c, err
}

// checked is what a check found. Its JSON form is stable.
type checked struct {
	Store string `json:"store"`
	// Key is the short name of the key, as in the worker's log.
	Key string `json:"key"`
	OK  bool   `json:"ok"`
	// Broken is the first place where something does not fit, absent where all is in order.
	Broken *brokenPlace `json:"broken,omitempty"`
	// Findings are what is wrong with the store apart from its chains, each a sentence. Notes are no fault.
	Findings []string `json:"findings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Records  int64    `json:"records"`
	Removed  int64    `json:"removed"`
	gathered
	lastID int64
	// KnownHeads were given, and AgreedHeads of them could be compared. The places of the others are removed.
	KnownHeads  int        `json:"knownHeads"`
	AgreedHeads int        `json:"agreedHeads"`
	Heads       []headLine `json:"heads"`
}

type brokenPlace struct {
	Chain int    `json:"chain"`
	Seq   int64  `json:"seq,omitempty"`
	ID    int64  `json:"id,omitempty"`
	Why   string `json:"why"`
}

// noRecords adds the finding about a store that has no records and no stubs.
func (c *checked) noRecords(expected bool) {
	switch {
	case c.lastID > 0:
		c.Findings = append(c.Findings, fmt.Sprintf("there are no records, but the store has given out record IDs through %d: all records were removed past the worker, "+
			"or no transaction ever came through; restore a backup, or find out which", c.lastID))
	case !expected:
		c.Findings = append(c.Findings, "there are no records, and no stubs for removed ones: RETRY_DATABASE_URL names another store than the worker's, or the store was emptied; "+
			"check the address, and restore a backup if it is the right one; a store that is new is checked with --expect-empty")
	}
}

// fault returns what is wrong as an error, nil where nothing is. err is what the check of the chains has found.
func (c *checked) fault(err error) error {
	if c.Broken != nil {
		err = fmt.Errorf("the audit trail at %s is broken: %w", c.Store, err)
	}
	if len(c.Findings) == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("the audit store at %s has %s:\n  %s", c.Store, term.Count(len(c.Findings), "finding"), strings.Join(c.Findings, "\n  ")))
}

// print prints the result; err is why the trail is not in order, or nil.
func (c *checked) print(command *cobra.Command, asJSON bool, err error) error {
	for _, warning := range c.Warnings {
		complain(command.ErrOrStderr(), "worker: %s", warning)
	}
	err = c.fault(err)
	if c.OK = err == nil; !c.OK {
		c.Heads = nil // heads of a broken trail are not to be kept
	}
	if asJSON {
		if err := printJSON(command, c); err != nil {
			return err
		}
	}
	if err != nil || asJSON {
		return err
	}
	if err := printAnswer(command, false, nil, c.text()); err != nil {
		return err
	}
	for _, h := range c.Heads {
		if err := printLine(command, h); err != nil {
			return err
		}
	}
	return nil
}

// text reports that the trail is in order. The heads follow it.
func (c *checked) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The audit trail is in order: %s.\n", c.Store)
	fmt.Fprintf(&b, "%s in %s checked with the key %s.\n", term.Count(c.Records, "record"), term.Count(len(c.Heads), "chain"), c.Key)
	if c.Removed > 0 {
		fmt.Fprintf(&b, "%s removed when the retention was over; signed stubs stand for them.\n", term.Count(c.Removed, "record"))
	}
	if c.AgreedHeads > 0 {
		fmt.Fprintf(&b, "%s agreed with it.\n", term.Count(c.AgreedHeads, "known head"))
	}
	if gone := c.KnownHeads - c.AgreedHeads; gone > 0 {
		fmt.Fprintf(&b, "%s not compared: the record of that place is removed.\n", term.Count(gone, "known head"))
	}
	c.writeText(&b)
	for _, note := range c.Notes {
		fmt.Fprintf(&b, "Note: %s.\n", note)
	}
	if len(c.Heads) > 0 {
		b.WriteString("\nThe heads now. Keep them apart from the store, for --heads at the next check:\n")
	}
	return b.String()
}
