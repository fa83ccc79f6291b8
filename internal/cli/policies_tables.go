package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/report"
)

func newPoliciesTables() *cobra.Command {
	command := &cobra.Command{
		Use:   "tables [NAME]",
		Short: "Show what the rules know: glosas, HTTP, SMTP, exceptions, terms",
		Long: `Lists the tables that rules refer to by glosa, http, smtp, exception and terms.
With a NAME it shows one in full. In a term, * ends the beginning of a word, ..
stands for up to four other words, and # for a number.`,
		Example: `  worker policies tables
  worker policies tables tabela-38
  worker policies tables terms --json`,
		Args: upToOneArg("name"),
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			list := report.Tables()
			return printAnswer(command, list, report.TablesText(list))
		}
		table := evidence.TableOf(args[0])
		if table == nil {
			var names []string
			for _, t := range evidence.Tables() {
				names = append(names, t.Name)
			}
			return usageError{fmt.Errorf("there is no table %q; there are %s", args[0], strings.Join(names, ", "))}
		}
		shown := report.TableInFull(table)
		return printAnswer(command, shown, shown.Text())
	}
	return withJSON(command, "print JSON")
}
