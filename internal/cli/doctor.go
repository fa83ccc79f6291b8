package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) doctor() *cobra.Command {
	command := &cobra.Command{Use: "doctor"}
	ready := command.Flags().Bool("ready", false, "only ask the running worker whether it is ready")
	return p.answers(command, settings, func(c *call) (any, error) {
		all := text.Findings{}
		found := func(f text.Finding) { // a check takes some seconds where something does not answer
			all = append(all, f)
			if asJSON, _ := c.Flags().GetBool("json"); !asJSON {
				_ = c.print(f.In(c.w.Printer))
			}
		}
		if *ready {
			found(app.Ready(c.Context(), c.cfg))
		} else {
			app.Examine(c.Context(), c.cfg, p.now, found)
		}
		if all.Count(text.Error) == 0 {
			return all, nil
		}
		return all, verdict(all)
	})
}
