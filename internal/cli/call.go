package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// program makes the commands.
type program struct {
	now func() time.Time
	// given is what the flags --lang and --tz say.
	given config.People
	// begun is whether the command has begun: what fails before is a mistake in the command line.
	begun bool
}

// call is one run of a command.
type call struct {
	*cobra.Command

	args []string
	// wrong is what is wrong with the flags, which a command looks at before it does anything.
	wrong usageError
	// w is what is said to the people of --lang and --tz, else of the settings.
	w *wording
	// cfg and store are there where the command needs them. The store takes questions only.
	cfg   config.Config
	store audit.Store
}

// needs is what a command needs before it begins.
type needs int

const (
	nothing  needs = iota // also of a command that finds the faults of all settings by itself
	language              // whose settings are right
	settings
	aStore
)

// does makes a command of what it does, and prints what that has said. A command without Args takes none.
func (p *program) does(command *cobra.Command, needed needs, do func(*call) error) *cobra.Command {
	if command.Args == nil {
		command.Args = cobra.NoArgs
	}
	command.RunE = func(command *cobra.Command, args []string) (err error) {
		p.begun = true
		c := &call{Command: command, args: args}
		c.Flags().Visit(func(f *pflag.Flag) { // as by a variable of the shell that is not set
			blank := f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == ""
			c.wrong.when(blank && f.Name != "error", text.Messagef("--%s is empty", f.Name))
		})
		if c.wrong != nil {
			return c.wrong
		}
		if needed >= settings {
			if c.cfg, err = config.Load(); err != nil {
				return err
			}
		}
		printer, err := p.printer()
		if err != nil && needed >= language {
			return err
		}
		c.w = &wording{Printer: printer}
		if needed >= aStore {
			if err := c.open(); err != nil {
				return err
			}
		}
		err = do(c)
		if c.store != nil {
			err = errors.Join(err, c.store.Close())
		}
		return cmp.Or(c.print(c.w.String()), err)
	}
	return command
}

// open opens the store, unless something is wrong with the flags.
func (c *call) open() (err error) {
	if c.wrong != nil {
		return c.wrong
	}
	c.store, err = app.OpenHistory(c.Context(), c.cfg)
	return err
}

// answers makes a command of its answer: a value, which --json prints in the place of what is said. Where
// there is an error too, the answer is printed all the same.
func (p *program) answers(
	command *cobra.Command,
	needed needs,
	answer func(*call) (any, error),
) *cobra.Command {
	asJSON := command.Flags().Bool("json", false, "print JSON")
	return p.does(command, needed, func(c *call) error {
		value, err := answer(c)
		if *asJSON {
			c.w.Reset()
			if value != nil {
				err = cmp.Or(c.w.json(value, "  "), err)
			}
		}
		return err
	})
}

// printer writes for the people of the flags, or of the settings.
func (p *program) printer() (*text.Printer, error) {
	people, err := config.ForPeople()
	return text.NewPrinter(cmp.Or(p.given.Lang, people.Lang), cmp.Or(p.given.TZ, people.TZ).Location), err
}

// group is a command that only holds others.
func (p *program) group(use string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: use}
	command.AddCommand(commands...)
	return p.does(command, nothing, func(c *call) error { return c.Help() })
}

// print prints a text. What stands in it may come from an insurer, a model or a file: it cannot command the
// terminal.
func (c *call) print(words string) error {
	_, err := fmt.Fprint(c.OutOrStdout(), text.Harmless(words))
	return err
}

// claim reads what is known of the claim that is named. It is an error if there are no records.
func (c *call) claim() (*audit.State, []audit.Record, error) {
	state, records, err := c.store.Claim(c.Context(), c.args[0])
	if err == nil && len(records) == 0 {
		err = text.Messagef("nothing is known of %q in %s: no decision was asked for it, or its "+
			"retention is over; worker claims %q lists the claims with that in their ID, and "+
			"input_rejected in the log those whose claimId was refused",
			c.args[0], c.cfg.DatabaseURL, c.args[0])
	}
	return &state, records, err
}
