package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/term"
)

func newDoctor(now clock) *cobra.Command {
	return withCredentials(withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Check everything that the worker needs, and print what to do",
		Long: `Checks everything that a worker with these settings needs, one line each: the
settings, the policies, the gateway with its version and protocol,
authentication, partitions and leaders, tenant, permissions, the deployed
models, the store, the key and the head of the audit trail, the queue, and the
worker that runs here.

It changes nothing and takes no job, so it can be run at any time, also while
the worker runs. Where something is wrong, the next line begins with -> and has
what to do. "unknown" means that it cannot be seen from here.

The exit code is 1 if there is a fault, 2 if it is in the settings. Warnings do
not change it.`,
		Example: `  worker doctor
  kubectl exec deploy/analyze-retry -- /worker doctor
  docker compose exec worker /worker doctor`,
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			all := report.Diagnoses{}
			cfg, err := loadConfig(command)
			if faults, is := errors.AsType[config.FaultsError](err); is && asJSON(command) {
				for _, fault := range faults {
					all = append(all, report.Diagnosis{Check: "settings", Health: report.Fault, Finding: fault})
				}
				return cmp.Or(printJSON(command, all), err)
			}
			if err != nil {
				return err
			}
			app.Examine(command.Context(), cfg, now, func(d report.Diagnosis) {
				all = append(all, d)
				if !asJSON(command) {
					_ = printText(command, report.DiagnosisText(d))
				}
			})
			if asJSON(command) {
				if err := printJSON(command, all); err != nil {
					return err
				}
			}
			if n := all.Faults(); n > 0 {
				return fmt.Errorf("%s found", term.Count(n, "fault"))
			}
			return nil
		},
	}, "print a JSON array"))
}
