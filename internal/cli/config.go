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
	return p.answers(&cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration; --help explains every setting",
		Long:  configHelp(),
	}, nothing, func(c *call) (any, string, error) {
		cfg, err := app.LoadConfig()
		if err != nil {
			return nil, "", err
		}
		complainOf(c.ErrOrStderr(), cfg.Warnings)
		rows := [][]string{{"NAME", "FROM", "VALUE"}}
		for _, s := range cfg.Settings() {
			rows = append(rows, []string{s.Name, s.Source, cmp.Or(text.Line(s.Value), "-")})
		}
		return cfg.Settings(), text.Table("", rows), nil
	})
}

// settingHelp is a setting in the help, as [config.Usage] takes it.
const settingHelp = `{{range .}}
  {{usage_key .}}{{with usage_default .}} = {{.}}{{end}}
      {{usage_description .}}{{with .Tags.Get "want"}} Allowed: {{.}}.{{end}}
{{end}}`

// configHelp explains every setting, from the tags that make the settings.
func configHelp() string {
	var b, help strings.Builder
	b.WriteString(`Prints every setting, its value (secrets hidden) and where it comes from: the
environment (env), a file, or the default. If there are faults, all of them are
printed instead and the exit code is 2.

NAME_FILE may name a file with a secret, or with the URL of store or queue.
More: docs/configuration.md.

Settings:
`)
	if err := config.Usage(&help, settingHelp); err != nil {
		panic(err) // the settings are constant
	}
	for line := range strings.Lines(help.String()) {
		if about, is := strings.CutPrefix(line, "      "); is {
			line = text.Wrap(strings.TrimSpace(about), "      ")
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
