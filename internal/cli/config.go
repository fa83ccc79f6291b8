package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) config() *cobra.Command {
	command := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, or what every setting is",
		Long: `Prints every setting, its value (secrets hidden) and where it comes from: the
environment (env), a file, or the default. If there are faults, all of them are
printed instead and the exit code is 2.

NAME_FILE may name a file with a secret, or with the URL of store or queue.
More: docs/configuration.md.`,
		Example: `  worker config --explain`,
	}
	explain := command.Flags().Bool("explain", false, "print what every setting is and may hold")
	p.answers(command, nothing, func(c *call) (any, string, error) {
		if *explain {
			return nil, explained(), nil
		}
		cfg, err := app.LoadConfig()
		if err != nil {
			return nil, "", err
		}
		rows := [][]string{{c.printer.Sprintf("NAME"), c.printer.Sprintf("FROM"), c.printer.Sprintf("VALUE")}}
		for _, s := range cfg.Settings() {
			rows = append(rows, []string{s.Name, s.Source, cmp.Or(text.Line(s.Value), "-")})
		}
		return cfg.Settings(), text.Table("", rows), nil
	})
	command.MarkFlagsMutuallyExclusive("explain", "json")
	return command
}

// explained explains every setting, by the tags that make the settings.
func explained() string {
	var b strings.Builder
	for _, s := range new(config.Config).Settings() {
		about := s.About
		if s.Default != "" {
			s.Name += " = " + s.Default
		}
		if s.Want != "" {
			about += " Allowed: " + s.Want + "."
		}
		b.WriteString(s.Name + "\n" + text.Wrap(about, "      "))
	}
	return b.String()
}
