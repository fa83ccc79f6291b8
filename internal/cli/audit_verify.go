package cli

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

func newAuditVerify() *cobra.Command {
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was changed, removed, swapped or cut off",
		Long: `Checks the hash chains of the audit store from the first record to the signed
head, and names the first place where something does not fit: a record that was
changed, added, removed or swapped, or a trail whose end was cut off. It changes
nothing and works beside a running worker.

A store that was put back to an earlier state as a whole is in order by itself.
Heads that were kept elsewhere show that: --heads reads them from the worker's
log (its lines with the event audit_head) or from what this command printed at
an earlier check; other lines are passed over.

The key is the store's own (RETRY_AUDIT_KEY_FILE). To check, its public half is
enough: openssl pkey -in audit.key -pubout -out audit.pub`,
		Example: `  worker audit verify
  worker audit verify --key audit.pub --heads kept-heads.jsonl
  worker audit verify | grep audit_head >> kept-heads.jsonl`,
		Args: noArgs,
	}
	flags := command.Flags()
	keyFile := flags.String("key", "", "public or private key file (default the worker's own)")
	headsFile := flags.String("heads", "", "file of heads that were kept; - is standard input")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return ask(command, func(_ context.Context, cfg config.Config, store audit.Store) error {
			if *keyFile == "" {
				*keyFile = cfg.AuditKey()
			}
			public, err := audit.LoadPublic(*keyFile)
			if err != nil {
				return err
			}
			known, err := knownHeads(*headsFile, command.InOrStdin())
			if err != nil {
				return err
			}
			c, err := check(command, cfg, store, public, known)
			if c == nil {
				return err
			}
			return c.print(command, *asJSON, err)
		})
	}
	return command
}

// check checks a store. It returns nil where the store could not be checked, and otherwise what was found, and as the
// error that the trail is broken where it is.
func check(command *cobra.Command, cfg config.Config, store audit.Store, public audit.Public, known []audit.Head) (*checked, error) {
	progress, done := progressOn(command.ErrOrStderr())
	verified, err := audit.Verify(command.Context(), store, public, known, progress)
	done()
	c := &checked{
		Store: cfg.DatabaseURL.String(), Key: public.ID(), Records: verified.Records, Removed: verified.Removed,
		KnownHeads: len(known), AgreedHeads: verified.Agreed,
	}
	broken, isBroken := errors.AsType[*audit.BrokenError](err)
	if err != nil && !isBroken {
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
	Broken  *brokenPlace `json:"broken,omitempty"`
	Records int64        `json:"records"`
	Removed int64        `json:"removed"`
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

// print prints the result; err is why the trail is not in order, or nil.
func (c checked) print(command *cobra.Command, asJSON bool, err error) error {
	if c.OK = err == nil; !c.OK {
		c.Heads = nil // heads of a broken trail are not to be kept
	}
	out := command.OutOrStdout()
	if asJSON {
		if err := printJSON(command, c); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("the audit trail at %s is broken: %w", c.Store, err)
	}
	if asJSON {
		return nil
	}
	fmt.Fprintf(out, "The audit trail is in order: %s.\n", c.Store)
	fmt.Fprintf(out, "%s in %s checked with the key %s.\n", count(int(c.Records), "record"), count(len(c.Heads), "chain"), c.Key)
	if c.Removed > 0 {
		fmt.Fprintf(out, "%s removed when the retention was over; signed stubs stand for them.\n", count(int(c.Removed), "record"))
	}
	if c.AgreedHeads > 0 {
		fmt.Fprintf(out, "%s agreed with it.\n", count(c.AgreedHeads, "known head"))
	}
	if gone := c.KnownHeads - c.AgreedHeads; gone > 0 {
		fmt.Fprintf(out, "%s not compared: the record of that place is removed.\n", count(gone, "known head"))
	}
	if len(c.Heads) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nThe heads now. Keep them apart from the store, for --heads at the next check:\n")
	for _, h := range c.Heads {
		if err := printLine(command, h); err != nil {
			return err
		}
	}
	return nil
}

// headEvent is the event under which the worker logs the heads, and under which they are printed here.
const headEvent = "audit_head"

// headLine is a signed head as it stands in the worker's log.
type headLine struct {
	Event     string    `json:"event"`
	Chain     int       `json:"chain"`
	Seq       int64     `json:"seq"`
	Hash      string    `json:"hash"`
	At        time.Time `json:"at"`
	Signature []byte    `json:"signature"`
}

func lineOf(h audit.Head) headLine {
	return headLine{headEvent, h.Chain, h.Seq, h.Hash.String(), h.At, h.Signature}
}

func (l headLine) head() (audit.Head, error) {
	h := audit.Head{Chain: l.Chain, Seq: l.Seq, At: l.At, Signature: l.Signature}
	hash, err := hex.DecodeString(l.Hash)
	if err != nil || len(hash) != len(h.Hash) {
		return audit.Head{}, fmt.Errorf("its hash is not %d hexadecimal digits", 2*len(h.Hash))
	}
	copy(h.Hash[:], hash)
	return h, nil
}

// knownHeads reads the heads among the lines of a file; none where there is no file.
func knownHeads(path string, stdin io.Reader) (known []audit.Head, err error) {
	if path == "" {
		return nil, nil
	}
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
		var named struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(lines.Bytes(), &named) != nil || named.Event != headEvent {
			continue
		}
		var line headLine
		err := json.Unmarshal(lines.Bytes(), &line)
		if err == nil {
			var head audit.Head
			if head, err = line.head(); err == nil {
				known = append(known, head)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("known heads: %s, line %d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("known heads: %s: %w", path, err)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("known heads: there is no line with the event %s in %s", headEvent, path)
	}
	return known, nil
}

// progressOn counts the records on a terminal, and does nothing elsewhere. done takes the count away.
func progressOn(w io.Writer) (progress func(int64), done func()) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	const clearLine = "\r\x1b[K"
	return func(n int64) { fmt.Fprintf(w, clearLine+"%d records checked", n) },
		func() { fmt.Fprint(w, clearLine) }
}
