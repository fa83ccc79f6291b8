package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// configuration is what worker config prints. Its JSON form is stable.
type configuration struct {
	Connection connection       `json:"connection"`
	Settings   []config.Setting `json:"settings"`
}

// connection is what the settings of the connection add up to.
type connection struct {
	Address        string `json:"address"`
	Transport      string `json:"transport"`
	Authentication string `json:"authentication"`
}

func newConfig() *cobra.Command {
	return withCredentials(withJSON(&cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration; --help explains every setting",
		Long:  configHelp(),
		Args:  noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cfg, err := loadAll(command)
			if err != nil {
				return err
			}
			complainOf(command.ErrOrStderr(), cfg.Warnings)
			answer := configuration{
				Connection: connection{cfg.Address().String(), cfg.Address().Transport(), string(cfg.AuthStrategy())},
				Settings:   cfg.Settings(),
			}
			if asJSON(command) {
				return printJSON(command, answer)
			}
			return printText(command, answer.text())
		},
	}, "print one JSON object"))
}

// text returns the connection and a table of the settings.
func (c configuration) text() string {
	rows := [][]string{{"NAME", "FROM", "VALUE"}}
	for _, s := range c.Settings {
		value := cmp.Or(text.Line(s.Value), "-")
		if s.Name == "RETRY_JOB_TYPES" { // a list that is too long for a line
			value = strings.ReplaceAll(value, ",", ",\n\t\t")
		}
		rows = append(rows, []string{s.Name, s.Source, value})
	}
	head := fmt.Sprintf("Cluster:         %s, %s\nAuthentication:  %s\n\n", c.Connection.Address, c.Connection.Transport, c.Connection.Authentication)
	return head + text.Table("", rows)
}

// settingHelp is a setting in the help, as [config.Usage] takes it.
const settingHelp = `{{range .}}
  {{usage_key .}}{{with usage_default .}} = {{.}}{{end}}
      {{usage_description .}}{{with .Tags.Get "want"}} Allowed: {{.}}.{{end}}
{{end}}`

// configHelp explains every setting, from the tags that make the settings.
func configHelp() string {
	var b, help strings.Builder
	b.WriteString(`Prints the effective configuration: how the cluster is reached, then every
setting, its value (secrets hidden) and where it comes from: the environment
(env), a file, or the default. If there are faults in it, all of them are
printed instead and the exit code is 2.

An empty variable counts as unset. An unknown name that begins with RETRY_ is a
fault. A secret, or the URL of store or queue, can also come from a file, whose
path NAME_FILE holds. Names of Camunda's clients that are read too are in
docs/configuration.md.

--credentials takes the file that Camunda's console has to download for a client
of a SaaS cluster: lines of export NAME='value'. No shell runs it. It sets what
the environment does not set.

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
