package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/text"
)

func newDoctor(now clock) *cobra.Command {
	return withCredentials(withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Check everything that the worker needs, and print what to do",
		Long: `Checks everything that a worker with these settings needs, one line each, and
prints what to do behind ->. "unknown" means that it cannot be seen from here.
It changes nothing and takes no job.

The exit code is 1 if there is an error, 2 if it is in the settings.`,
		Example: `  worker doctor`,
		Args:    noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			all := text.Findings{}
			cfg, err := loadConfig(command)
			if faults, is := errors.AsType[text.Faults](err); is && asJSON(command) {
				return cmp.Or(printJSON(command, faults), err)
			}
			if err != nil {
				return err
			}
			app.Examine(command.Context(), cfg, now, func(f text.Finding) {
				all = append(all, f)
				if !asJSON(command) {
					_ = printText(command, f.String())
				}
			})
			if asJSON(command) {
				if err := printJSON(command, all); err != nil {
					return err
				}
			}
			if n := all.Count(text.Error); n > 0 {
				return fmt.Errorf("%s found", text.Count(n, "error"))
			}
			return nil
		},
	}, "print a JSON array"))
}
