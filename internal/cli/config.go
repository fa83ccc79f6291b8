package cli

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/terminal"
)

func newConfig() *cobra.Command {
	command := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration; --help explains every setting",
		Long:  configHelp(),
		Args:  noArgs,
	}
	asJSON := command.Flags().Bool("json", false, "print a JSON array of name, value and source")
	command.RunE = func(command *cobra.Command, _ []string) error {
		cfg, err := loadAll(command.Context())
		if err != nil {
			return err
		}
		for _, warning := range cfg.Warnings() {
			complain(command.ErrOrStderr(), "warning: %s", warning)
		}
		if *asJSON {
			return printJSON(command, cfg.Settings())
		}
		return printSettings(command, cfg.Settings())
	}
	return command
}

func printSettings(command *cobra.Command, settings []config.Setting) error {
	w := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFROM\tVALUE")
	for _, s := range settings {
		value := terminal.Line(s.Value)
		if value == "" {
			value = "-"
		}
		if s.Name == "RETRY_JOB_TYPES" { // a list that is too long for a line
			value = strings.ReplaceAll(value, ",", ",\n\t\t")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Source, value)
	}
	return w.Flush()
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
		b.WriteString("\n" + wrap(d.Meaning, "      "))
		b.WriteString(wrap("Allowed: "+d.Allowed+".", "      "))
		if d.File != "" {
			b.WriteString(wrap("Or "+d.File+": the path of a file that holds it.", "      "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var numberAndUnit = regexp.MustCompile(`\b(\d+) (s|min|h|d|days|%)(\W|$)`)

// wrap breaks a text into indented lines that fit a terminal of 80 columns; each ends with a line break. A number stays with
// its unit.
func wrap(text, indent string) string {
	const columns, joint = 80, "\x00"
	text = numberAndUnit.ReplaceAllString(text, "${1}"+joint+"${2}${3}")
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len(line)+1+len(word) > columns {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return strings.ReplaceAll(b.String(), joint, " ")
}
