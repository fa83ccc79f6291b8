package cli

import (
	"github.com/spf13/cobra"
)

func newAudit(now clock) *cobra.Command {
	command := group("audit", "Check, export and clear the audit trail",
		`The audit trail is one record for each decision and each outcome, chained by
hashes and signed, so that what happened to a claim can be proved years later.`)
	command.AddCommand(newAuditVerify(), newAuditBackup(), newAuditRestore(), newAuditExport(), newAuditPurge(now))
	return command
}

// group is a command that only holds others.
func group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  noArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
}
