package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/text"
)

// deployed is one model or form on the broker. Its JSON form is stable.
type deployed struct {
	ProcessID string `json:"processId,omitempty"`
	FormID    string `json:"formId,omitempty"`
	Version   int32  `json:"version"`
	Key       int64  `json:"key"`
	Resource  string `json:"resource"`
}

func newDeploy() *cobra.Command {
	command := &cobra.Command{
		Use:   "deploy [FILE...]",
		Short: "Put the bundled models and forms, or your own, on the broker",
		Long: `Deploys the process models and forms of this binary, or the .bpmn and .form
FILEs, all or none. One that has not changed keeps its version. FILEs are
checked before, as worker models lint does; with an error nothing is sent,
unless --force is given.`,
		Example: `  worker deploy my-process.bpmn my-task.form`,
	}
	force := command.Flags().Bool("force", false, "deploy FILEs although lint finds errors")
	command.RunE = func(command *cobra.Command, args []string) error {
		cfg, err := loadConfig(command)
		if err != nil {
			return err
		}
		models := bpmn.Resources()
		if len(args) > 0 {
			if models, err = resources(args); err != nil {
				return err
			}
			if err := lintBefore(command, cfg, models, *force); err != nil {
				return err
			}
		}
		done, err := app.Deploy(command.Context(), cfg, models)
		if err != nil {
			return err
		}
		list := make([]deployed, len(done))
		for i, m := range done {
			list[i] = deployed{ProcessID: m.ID, Version: m.Version, Key: m.Key, Resource: m.Resource}
			if m.Form {
				list[i].ProcessID, list[i].FormID = "", m.ID
			}
		}
		return printAnswer(command, list, deployedText(list, models))
	}
	return withCredentials(withJSON(command, "print a JSON array"))
}

// deployedText lists the processes and forms, and the files that hold neither.
func deployedText(list []deployed, models []bpmn.Model) string {
	rows := [][]string{{"ID", "VERSION", "KEY", "FILE"}}
	for _, d := range list {
		rows = append(rows, []string{d.ProcessID + d.FormID, fmt.Sprint(d.Version), fmt.Sprint(d.Key), d.Resource})
	}
	var others []string
	for _, m := range models {
		if !slices.ContainsFunc(list, func(d deployed) bool { return d.Resource == m.Name }) {
			others = append(others, m.Name)
		}
	}
	var s string
	if len(list) > 0 {
		s = text.Table("", rows)
	}
	if len(others) > 0 {
		s += "Deployed, without a process or form: " + strings.Join(others, ", ") + "\n"
	}
	return s
}

// resources reads files to deploy.
func resources(paths []string) (list []bpmn.Model, err error) {
	var faults []error
	for _, path := range paths {
		name := filepath.Base(path)
		if kind := filepath.Ext(name); !slices.Contains([]string{".bpmn", ".form"}, kind) {
			faults = append(faults, fmt.Errorf("%s is no .bpmn or .form file", path))
			continue
		}
		if slices.ContainsFunc(list, func(m bpmn.Model) bool { return m.Name == name }) {
			faults = append(faults, fmt.Errorf("two files are named %s, which is their name on the broker", name))
			continue
		}
		content, _, err := readfile.Read(filepath.Clean(path), maxModel)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, bpmn.Model{Name: name, Content: content})
	}
	if len(faults) > 0 {
		return nil, usageError{errors.Join(faults...)}
	}
	return list, nil
}

// lintBefore prints the findings about models on stderr. Its error refuses a deployment.
func lintBefore(command *cobra.Command, cfg config.Config, models []bpmn.Model, force bool) error {
	var files []modellint.File
	for _, m := range models {
		if filepath.Ext(m.Name) == ".bpmn" {
			files = append(files, modellint.File{Name: m.Name, Content: m.Content})
		}
	}
	findings, err := lintModels(command.Context(), cfg, files, cfg.PoliciesFile)
	if err != nil || len(findings) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(command.ErrOrStderr(), text.Harmless(findings.Text(""))); err != nil {
		return err
	}
	if force || findings.Count(text.Error) == 0 {
		return nil
	}
	return fmt.Errorf("nothing is deployed: %w; --force deploys all the same", verdict("models", findings))
}
