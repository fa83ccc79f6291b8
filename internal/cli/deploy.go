package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) deploy() *cobra.Command {
	command := &cobra.Command{Use: "deploy [FILE...]", Args: cobra.ArbitraryArgs}
	force := command.Flags().Bool("force", false, "deploy FILEs although lint finds errors")
	return p.answers(command, settings, func(c *call) (any, error) {
		models := bpmn.Resources()
		if len(c.args) > 0 {
			models = c.models(".bpmn", ".form")
			if err := checkBefore(c, models, *force); err != nil {
				return nil, err
			}
		}
		done, err := app.Deploy(c.Context(), c.cfg, models)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", text.Messagef("%d files not deployed", len(models)), err)
		}
		rows := [][]string{append([]string{"ID"}, c.w.heads("VERSION", "KEY", "FILE")...)}
		for _, m := range done {
			rows = append(rows, []string{m.ID, fmt.Sprint(m.Version), fmt.Sprint(m.Key), m.Resource})
		}
		c.w.table("", rows)
		return done, nil
	})
}

// checkBefore gives the models their names on the broker, those of the files without a directory, and prints
// what lint finds in them on stderr. Its error refuses a deployment.
func checkBefore(c *call, models []bpmn.Model, force bool) error {
	var files []bpmn.Model
	named := map[string]bool{}
	for i := range models {
		m := &models[i]
		m.Name = filepath.Base(m.Name)
		c.wrong.when(named[m.Name],
			text.Messagef("two files are named %s, which is their name on the broker", m.Name))
		if named[m.Name] = true; filepath.Ext(m.Name) == ".bpmn" {
			files = append(files, *m)
		}
	}
	if c.wrong != nil {
		return c.wrong
	}
	findings, err := lintModels(c.cfg, files)
	if err != nil || len(findings) == 0 {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), text.Harmless(findings.In(c.w.Printer)))
	if force || findings.Count(text.Error) == 0 {
		return nil
	}
	return text.Messagef("nothing is deployed: the models have %s; --force deploys all the same",
		text.Messagef("%d errors", findings.Count(text.Error)))
}
