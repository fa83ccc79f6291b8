package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
	json bool
	// printer writes for the people of --lang and --tz, else of the settings.
	printer *text.Printer
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

// does makes a command of what it does. A command without Args takes none.
func (p *program) does(command *cobra.Command, needed needs, do func(*call) error) *cobra.Command {
	if command.Args == nil {
		command.Args = cobra.NoArgs
	}
	command.RunE = func(command *cobra.Command, args []string) (err error) {
		p.begun = true
		c := &call{Command: command, args: args}
		if needed >= settings {
			if c.cfg, err = config.Load(); err != nil {
				return err
			}
		}
		if c.printer, err = p.printer(); err != nil && needed >= language {
			return err
		}
		if needed >= aStore {
			if c.store, err = app.OpenHistory(c.Context(), c.cfg); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.store.Close()) }()
		}
		return do(c)
	}
	return command
}

// answers makes a command of its answer: a value, which --json prints, and the text of it for people. Where
// there is an error too, the answer is printed all the same.
func (p *program) answers(
	command *cobra.Command,
	needed needs,
	answer func(*call) (value any, words string, err error),
) *cobra.Command {
	asJSON := command.Flags().Bool("json", false, "print JSON")
	return p.does(command, needed, func(c *call) error {
		c.json = *asJSON
		value, words, err := answer(c)
		if value != nil && c.json {
			var wrong error
			words, wrong = toJSON(value, "  ")
			err = cmp.Or(wrong, err)
		}
		return cmp.Or(c.say(words), err)
	})
}

// printer writes for the people of the flags, or of the settings.
func (p *program) printer() (*text.Printer, error) {
	people, err := config.ForPeople()
	return text.NewPrinter(cmp.Or(p.given.Lang, people.Lang), cmp.Or(p.given.TZ, people.TZ).Location), err
}

// group is a command that only holds others.
func (p *program) group(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Example: "  " + example}
	command.AddCommand(commands...)
	return p.does(command, nothing, func(c *call) error { return c.Help() })
}

// say prints a text. What stands in it may come from an insurer, a model or a file: it cannot command the
// terminal.
func (c *call) say(words string) error {
	_, err := fmt.Fprint(c.OutOrStdout(), text.Harmless(words))
	return err
}

// toJSON returns a value as JSON, texts as they are, with a line break at its end.
func toJSON(value any, indent string) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return string(text.Harmless(b.Bytes())), err
}

// claim reads what is known of the claim that is named. It is an error if there are no records.
func (c *call) claim() (*audit.State, []audit.Record, error) {
	state, records, err := c.store.Claim(c.Context(), c.args[0])
	if err == nil && len(records) == 0 {
		err = text.Messagef("nothing is known of %q in %s: no decision was asked for it, or its "+
			"retention is over; worker claims %q lists the claims with that in their ID",
			c.args[0], c.cfg.DatabaseURL, c.args[0])
	}
	return &state, records, err
}
