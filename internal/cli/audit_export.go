package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/report"
)

func newAuditExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export CLAIM",
		Short: "Print everything that is stored about a claim, as JSON lines",
		Long: `Prints everything that is stored about a claim, one JSON object for each record,
oldest first: for a data subject who asks what is kept (LGPD, article 18), or
for an auditor. Each record comes with its place in the audit trail and its
hash. Nothing is left out: the store holds no more than this.

It changes nothing and may run while a worker runs.`,
		Example: `  worker audit export CLM-ENC-001-1234567890 > claim.jsonl`,
		Args:    oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return withClaim(command, args[0], func(records []audit.Record) error {
				for i := range records {
					if err := printLine(command, report.RecordOf(&records[i])); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
