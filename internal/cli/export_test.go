package cli

import (
	"maps"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// RedriveTimeout is how long the record of an order is waited for.
var RedriveTimeout = &redriveTimeout

// Commands are all commands, each as it is typed behind "worker".
func Commands() (all []string) {
	var visit func(*cobra.Command, string)
	visit = func(command *cobra.Command, path string) {
		all = append(all, path)
		for _, one := range command.Commands() {
			visit(one, path+" "+one.Name())
		}
	}
	visit((&program{now: time.Now}).root(), "")
	return all
}

// FlagTexts are what the code says of all flags, but for cobra's own.
func FlagTexts() map[string]bool {
	used := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		command.LocalFlags().VisitAll(func(f *pflag.Flag) { used[f.Usage] = f.Name != "help" })
		for _, one := range command.Commands() {
			visit(one)
		}
	}
	visit((&program{now: time.Now}).root())
	maps.DeleteFunc(used, func(words string, is bool) bool { return words == "" || !is })
	return used
}

// PeriodOf returns the period that a flag gives, or what is wrong with it.
func PeriodOf(flag, value string, now time.Time, zone *time.Location) string {
	command := &cobra.Command{}
	periodFlags(command, "")
	if err := command.Flags().Set(flag, value); err != nil {
		return err.Error()
	}
	c := call{Command: command, w: &wording{Printer: text.NewPrinter(text.English, zone)}}
	from, to := c.period(now, 0)
	if c.wrong != nil {
		return c.wrong.Error()
	}
	return from.UTC().Format(time.RFC3339) + " to " + to.UTC().Format(time.RFC3339)
}

// Measured is a measured KPI in words.
func Measured(m retry.Measure, value float64) string {
	return kpiValue(&wording{Printer: text.In(text.English)}, m, value, "%.1f %%")
}
