package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) deploy() *cobra.Command {
	command := &cobra.Command{
		Use:   "deploy [FILE...]",
		Short: "Put the bundled models and forms, or your own, on the broker",
		Long: `Deploys the process models and forms of this binary, or the .bpmn and .form
FILEs, all or none. One that has not changed keeps its version. FILEs are
checked before, as worker models lint does; with an error nothing is sent,
unless --force is given.`,
		Example: `  worker deploy my-process.bpmn my-task.form`,
		Args:    cobra.ArbitraryArgs,
	}
	force := command.Flags().Bool("force", false, "deploy FILEs although lint finds errors")
	return p.answers(command, settings, func(c *call) (any, string, error) {
		models := bpmn.Resources()
		if len(c.args) > 0 {
			var err error
			if models, err = resources(c.args); err != nil {
				return nil, "", usageError{err}
			}
			if err := lintBefore(c, models, *force); err != nil {
				return nil, "", err
			}
		}
		done, err := app.Deploy(c.Context(), c.cfg, models)
		if err != nil {
			return nil, "", err
		}
		rows := [][]string{{
			"ID", c.printer.Sprintf("VERSION"), c.printer.Sprintf("KEY"), c.printer.Sprintf("FILE"),
		}}
		for _, m := range done {
			rows = append(rows, []string{m.ID, fmt.Sprint(m.Version), fmt.Sprint(m.Key), m.Resource})
		}
		return done, text.Table("", rows), nil
	})
}

// resources reads files to deploy. On the broker they have their names without a directory. It takes more
// endings for a model's, but lint sees .bpmn files only.
func resources(paths []string) (list []bpmn.Model, err error) {
	var wrong faults
	for _, path := range paths {
		name := filepath.Base(path)
		known := slices.Contains([]string{".bpmn", ".form"}, filepath.Ext(name))
		wrong.when(!known, text.Messagef("%s is no .bpmn or .form file", path))
		twice := slices.ContainsFunc(list, func(m bpmn.Model) bool { return m.Name == name })
		wrong.when(twice, text.Messagef("two files are named %s, which is their name on the broker", name))
		content, _, err := readfile.Read(filepath.Clean(path), maxModel)
		wrong.when(err != nil, text.Messagef("%s", err))
		list = append(list, bpmn.Model{Name: name, Content: content})
	}
	return list, errors.Join(wrong...)
}

// lintBefore prints the findings about models on stderr. Its error refuses a deployment.
func lintBefore(c *call, models []bpmn.Model, force bool) error {
	files := slices.DeleteFunc(slices.Clone(models), func(m bpmn.Model) bool {
		return filepath.Ext(m.Name) != ".bpmn"
	})
	findings, err := lintModels(c.cfg, files)
	if err != nil || len(findings) == 0 {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), text.Harmless(findings.In(c.printer, "")))
	if force || findings.Count(text.Error) == 0 {
		return nil
	}
	return text.Messagef("nothing is deployed: the models have %s; --force deploys all the same",
		text.Messagef("%d errors", findings.Count(text.Error)))
}
