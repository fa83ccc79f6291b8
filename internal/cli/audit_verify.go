package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/text"
)

func newAuditVerify() *cobra.Command {
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was changed, removed, swapped or cut off",
		Long: `Checks the hash chains from the first record to the signed head, and that each
open claim stands as its records show. It names the first place where something
was changed, added, removed, swapped or cut off, and exits with 1 if it finds
anything. The public half of the key is enough.

Only heads that were kept elsewhere show that a store was put back as a whole:
--heads takes the worker's log, what this command printed before, or events of
the type retry.audit_head.v1, one a line.`,
		Example: `  worker audit verify --key audit.pub --heads kept-heads.jsonl`,
		Args:    noArgs,
	}
	flags := command.Flags()
	keyFile := flags.String("key", "", "public or private key file (default the worker's own)")
	headsFile := flags.String("heads", "", "file of kept heads; - is standard input")
	empty := flags.Bool("expect-empty", false, "accept a store without records")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return withStore(command, func(_ context.Context, cfg config.Config, store audit.Store) error {
			if *keyFile == "" {
				*keyFile = cfg.AuditKey()
			}
			public, err := audit.LoadPublic(*keyFile)
			if err != nil {
				return err
			}
			var known []audit.Head
			if *headsFile != "" {
				if known, err = knownHeads(*headsFile, command.InOrStdin(), public); err != nil {
					return err
				}
			}
			c, err := check(command, cfg, store, public, known)
			if c == nil {
				return err
			}
			if err == nil && c.Records == 0 && c.Removed == 0 && !*empty {
				err = errors.New("there are no records, and no cut stands for removed ones: RETRY_DATABASE_URL names another store than the worker's, or the store was emptied; " +
					"check the address, and restore a backup if it is the right one; a store that is new is checked with --expect-empty")
			}
			return c.print(command, err)
		})
	}
	return withJSON(command, "print one JSON object")
}

// check checks a store. It returns nil where the store could not be checked. Otherwise the error is that the trail is broken.
func check(command *cobra.Command, cfg config.Config, store audit.Store, public audit.Public, known []audit.Head) (*checked, error) {
	verified, err := audit.Verify(command.Context(), counted{store, command.ErrOrStderr()}, public, known)
	progress(command.ErrOrStderr(), "", 0)
	c := &checked{Store: cfg.DatabaseURL.String(), Key: public.ID(), Verified: verified, KnownHeads: len(known)}
	if broken, is := errors.AsType[*audit.BrokenError](err); is {
		c.Broken = broken
		return c, fmt.Errorf("the audit trail at %s is broken: %w", c.Store, broken)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// counted shows how many records of a store were checked.
type counted struct {
	audit.Store

	out io.Writer
}

// Walk implements [audit.Store].
func (c counted) Walk(ctx context.Context, w audit.Walker) error {
	return c.Store.Walk(ctx, &counter{Walker: w, out: c.out})
}

type counter struct {
	audit.Walker

	out     io.Writer
	records int64
}

// Record implements [audit.Walker].
func (c *counter) Record(r *audit.Record) error {
	if c.records++; c.records%10_000 == 0 {
		progress(c.out, "records checked", c.records)
	}
	return c.Walker.Record(r)
}

// checked is what a check found. Its JSON form is stable.
type checked struct {
	Store string `json:"store"`
	// Key is the short name of the key, as in the worker's log.
	Key string `json:"key"`
	OK  bool   `json:"ok"`
	// Broken is the first place where something does not fit, absent where all is in order.
	Broken *audit.BrokenError `json:"broken,omitempty"`
	audit.Verified

	// KnownHeads were given. The places of those that did not agree are removed.
	KnownHeads int `json:"knownHeads"`
}

// print prints the result; err is why the trail is not in order, or nil.
func (c *checked) print(command *cobra.Command, err error) error {
	if c.OK = err == nil; !c.OK {
		c.Heads = nil // heads of a broken trail are not to be kept
	}
	switch {
	case asJSON(command):
		return cmp.Or(printJSON(command, c), err)
	case err != nil:
		return err
	}
	if err := printText(command, c.text()); err != nil {
		return err
	}
	for _, h := range c.Heads {
		if err := printLine(command, headLine{headEvent, h}); err != nil {
			return err
		}
	}
	return nil
}

// text reports that the trail is in order. The heads follow it.
func (c *checked) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The audit trail is in order: %s.\n", c.Store)
	fmt.Fprintf(&b, "%s in %s checked with the key %s.\n", text.Count(c.Records, "record"), text.Count(len(c.Heads), "chain"), c.Key)
	fmt.Fprintf(&b, "%s checked against their records.\n", text.Count(c.Claims, "open claim"))
	if c.Removed > 0 {
		fmt.Fprintf(&b, "%s removed by a purge; a signed cut stands for them.\n", text.Count(c.Removed, "record"))
	}
	if c.Agreed > 0 {
		fmt.Fprintf(&b, "%s agreed with it.\n", text.Count(c.Agreed, "known head"))
	}
	if gone := c.KnownHeads - c.Agreed; gone > 0 {
		fmt.Fprintf(&b, "%s not compared: the record of that place is removed.\n", text.Count(gone, "known head"))
	}
	if len(c.Heads) > 0 {
		b.WriteString("\nThe heads now. Keep them apart from the store, for --heads at the next check:\n")
	}
	return b.String()
}

// headEvent is the event under which the worker logs the heads, and under which they are printed here.
const headEvent = "audit_head"

// headLine is a signed head as it stands in the worker's log.
type headLine struct {
	Event string `json:"event"`
	audit.Head
}

// knownHeads reads the heads of a key among the lines of a file.
func knownHeads(path string, stdin io.Reader, key audit.Public) (known []audit.Head, err error) {
	from := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("known heads: %w", err)
		}
		defer f.Close()
		from = f
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		heads, err := headsInLine(lines.Bytes(), key)
		if err != nil {
			return nil, fmt.Errorf("known heads: %s, line %d: %w", path, n, err)
		}
		known = append(known, heads...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("known heads: %s: %w", path, err)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("known heads: there is no line with the event %s in %s, and no event %s of the key %s", headEvent, path, events.TypeAuditHead, key.ID())
	}
	return known, nil
}

// headsInLine returns the heads of a line of the worker's log, or of an event: those of the key, because many stores may
// share a queue.
func headsInLine(line []byte, key audit.Public) ([]audit.Head, error) {
	var named struct {
		Event string `json:"event"`
	}
	if !json.Valid(line) {
		return nil, nil
	}
	if err := json.Unmarshal(line, &named); err != nil || named.Event != headEvent {
		return events.Heads(line, key.ID())
	}
	var logged headLine
	if err := json.Unmarshal(line, &logged); err != nil {
		return nil, err
	}
	return []audit.Head{logged.Head}, nil
}
