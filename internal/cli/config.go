package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) config() *cobra.Command {
	command := &cobra.Command{Use: "config"}
	explain := command.Flags().Bool("explain", false, "print what every setting is and may hold")
	p.answers(command, nothing, func(c *call) (any, error) {
		if *explain {
			explainSettings(c.w)
			return nil, nil
		}
		cfg, err := app.LoadConfig()
		if err != nil {
			return nil, err
		}
		rows := [][]string{c.w.heads("NAME", "FROM", "VALUE")}
		for _, s := range cfg.Settings() {
			rows = append(rows, []string{s.Name, c.w.Name("source", s.Source), cmp.Or(s.Value, "-")})
		}
		c.w.table("", rows)
		return cfg.Settings(), nil
	})
	command.MarkFlagsMutuallyExclusive("explain", "json")
	return command
}

// explainSettings says what every setting is, by the tags that make the settings.
func explainSettings(w *wording) {
	for _, s := range new(config.Config).Settings() {
		about := w.Text(text.Message{Format: s.About})
		if s.Default != "" {
			s.Name += " = " + s.Default
		}
		if s.Want != "" {
			about += " " + w.Sprintf("Allowed: %s.", text.Message{Format: s.Want})
		}
		w.WriteString(s.Name + "\n" + text.Wrap("      ", about))
	}
}
