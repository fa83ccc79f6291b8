package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// The flags of commands that print for people.
const (
	langFlag = "lang"
	zoneFlag = "tz"
)

// forPeople adds to a command the flags that choose the language of its texts and the zone of its times. The command prints
// with [printerOf]. JSON does not depend on them.
func forPeople(command *cobra.Command) *cobra.Command {
	command.Flags().String(langFlag, "", "`LANGUAGE` of the text: pt-BR or en (default RETRY_LANG)")
	command.Flags().String(zoneFlag, "", "`ZONE` of the times, an IANA name (default RETRY_TZ)")
	return command
}

// printerOf returns the printer of a command with the flags of [forPeople]: the language of --lang, else of RETRY_LANG, else of
// the locale; the zone of --tz, else of RETRY_TZ.
func printerOf(command *cobra.Command) (*text.Printer, error) {
	people, err := config.ForPeople()
	if err != nil {
		return nil, err
	}
	if given := command.Flag(langFlag).Value.String(); given != "" {
		if err := people.Lang.Decode(given); err != nil {
			return nil, usageError{fmt.Errorf("--%s: %w", langFlag, err)}
		}
	}
	if given := command.Flag(zoneFlag).Value.String(); given != "" {
		if err := people.TZ.Decode(given); err != nil {
			return nil, usageError{fmt.Errorf("--%s is %q; give an IANA time zone, such as America/Sao_Paulo or UTC", zoneFlag, given)}
		}
	}
	return text.NewPrinter(people.Lang, people.TZ.Location), nil
}
