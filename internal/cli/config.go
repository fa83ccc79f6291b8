package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/term"
)

func newConfig() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration; --help explains every setting",
		Long:  configHelp(),
		Args:  noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cfg, err := loadAll(command.Context())
			if err != nil {
				return err
			}
			for _, warning := range cfg.Warnings() {
				complain(command.ErrOrStderr(), "warning: %s", warning)
			}
			if asJSON(command) {
				return printJSON(command, cfg.Settings())
			}
			rows := [][]string{{"NAME", "FROM", "VALUE"}}
			for _, s := range cfg.Settings() {
				value := cmp.Or(term.Line(s.Value), "-")
				if s.Name == "RETRY_JOB_TYPES" { // a list that is too long for a line
					value = strings.ReplaceAll(value, ",", ",\n\t\t")
				}
				rows = append(rows, []string{s.Name, s.Source, value})
			}
			return printText(command, term.Table("", rows))
		},
	}, "print a JSON array of name, value and source")
}

// configHelp explains every setting, from the same tags that make the settings.
func configHelp() string {
	var b strings.Builder
	b.WriteString(`Prints the effective configuration: every setting, its value (secrets hidden)
and whether it comes from the environment, from a file or is the default. If
there are faults in it, all of them are printed instead and the exit code is 2.

An empty variable counts as unset. An unknown name that begins with RETRY_ is a
fault. Names that other clients of Zeebe read are warned of. What is secret can
also come from a file, whose path NAME_FILE holds.

Settings:
`)
	for _, d := range config.Docs() {
		fmt.Fprintf(&b, "\n  %s", d.Name)
		if d.Default != "" {
			fmt.Fprintf(&b, " = %s", d.Default)
		}
		b.WriteString("\n" + term.Wrap(d.Meaning, "      "))
		b.WriteString(term.Wrap("Allowed: "+d.Allowed+".", "      "))
		if d.File != "" {
			b.WriteString(term.Wrap("Or "+d.File+": the path of a file that holds it.", "      "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
