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
	Address   string `json:"address"`
	Transport string `json:"transport"`
	// AddressFrom is the variable that the address was read from, or follows from.
	AddressFrom string `json:"addressFrom"`
	// Unused is the variable of a REST address that is set too, and not used.
	Unused         string `json:"unused,omitempty"`
	Authentication string `json:"authentication"`
	// AuthenticationFrom is the variable that decides it.
	AuthenticationFrom string `json:"authenticationFrom,omitempty"`
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
			for _, warning := range cfg.Warnings() {
				complain(command.ErrOrStderr(), "warning: %s", warning)
			}
			answer := configuration{
				Connection: connection{
					Address: cfg.Address().String(), Transport: cfg.Address().Transport(), AddressFrom: cfg.AddressVariable(), Unused: cfg.UnusedAddressVariable(),
					Authentication: string(cfg.AuthStrategy()), AuthenticationFrom: cfg.AuthVariable(),
				},
				Settings: cfg.Settings(),
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
	var b strings.Builder
	fmt.Fprintf(&b, "Cluster:         %s, %s, from %s\n", c.Connection.Address, c.Connection.Transport, c.Connection.AddressFrom)
	if c.Connection.Unused != "" {
		fmt.Fprintf(&b, "                 %s is not used: where both are set, gRPC is\n", c.Connection.Unused)
	}
	b.WriteString("Authentication:  " + c.Connection.Authentication)
	if c.Connection.AuthenticationFrom != "" {
		b.WriteString(", from " + c.Connection.AuthenticationFrom)
	}
	b.WriteString("\n\n")
	rows := [][]string{{"NAME", "FROM", "VALUE"}}
	for _, s := range c.Settings {
		value, from := cmp.Or(text.Line(s.Value), "-"), s.Source
		if s.Name == "RETRY_JOB_TYPES" { // a list that is too long for a line
			value = strings.ReplaceAll(value, ",", ",\n\t\t")
		}
		if s.Variable != "" {
			from += " " + s.Variable
		}
		rows = append(rows, []string{s.Name, from, value})
	}
	return b.String() + text.Table("", rows)
}

// configHelp explains every setting, from the same tags that make the settings.
func configHelp() string {
	var b strings.Builder
	b.WriteString(`Prints the effective configuration: how the cluster is reached, then every
setting, its value (secrets hidden) and where it comes from: the default, the
environment (env), a file, the file of --credentials, or another setting
(derived). The variable is added where it has another name than the setting. If
there are faults in it, all of them are printed instead and the exit code is 2.

An empty variable counts as unset. An unknown name that begins with RETRY_ is a
fault. Some settings have other names too, which Camunda's clients read; two
names with different values are a fault. What is secret can also come from a
file, whose path NAME_FILE holds.

--credentials takes the file that Camunda's console has to download for a client
of a SaaS cluster: lines of export NAME='value'. No shell runs it. It sets what
the environment does not set; where both set something, they must agree.

Settings:
`)
	for _, d := range config.Docs() {
		fmt.Fprintf(&b, "\n  %s", d.Name)
		if d.Default != "" {
			fmt.Fprintf(&b, " = %s", d.Default)
		}
		b.WriteString("\n" + text.Wrap(d.Meaning, "      "))
		b.WriteString(text.Wrap("Allowed: "+d.Allowed+".", "      "))
		if len(d.Aliases) > 0 {
			b.WriteString(text.Wrap("Other names: "+strings.Join(d.Aliases, ", ")+".", "      "))
		}
		if d.File != "" {
			b.WriteString(text.Wrap("Or "+d.File+": the path of a file that holds it.", "      "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
