package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

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
	command.Flags().String(zoneFlag, "", "`ZONE` of the times, an IANA name (default the system's)")
	return command
}

// printerOf returns the printer of a command with the flags of [forPeople]: the language of --lang, else of RETRY_LANG, else of
// the locale; the zone of --tz, else the system's.
func printerOf(command *cobra.Command) (*text.Printer, error) {
	language, err := config.Process().Language()
	if err != nil {
		return nil, err
	}
	if given := command.Flag(langFlag).Value.String(); given != "" {
		if language, err = text.ParseLanguage(given); err != nil {
			return nil, usageError{fmt.Errorf("--%s: %w", langFlag, err)}
		}
	}
	zone := systemZone()
	if name := command.Flag(zoneFlag).Value.String(); name != "" {
		if zone, err = time.LoadLocation(name); err != nil || name == "Local" {
			return nil, usageError{fmt.Errorf("--%s is %q; give an IANA time zone, such as America/Sao_Paulo or UTC", zoneFlag, name)}
		}
	}
	return text.NewPrinter(language, zone), nil
}

// systemZone returns the system's zone, by its IANA name where that can be found.
func systemZone() *time.Location {
	path, err := os.Readlink("/etc/localtime")
	_, name, found := strings.Cut(path, "/zoneinfo/")
	if err != nil || !found || time.Local.String() != "Local" { // TZ names it, or there is none: UTC
		return time.Local
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.Local
	}
	return zone
}
