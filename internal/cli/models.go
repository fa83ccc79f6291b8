package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) models() *cobra.Command {
	return p.group("models", "Check BPMN models that use this worker", p.modelsLint())
}

func (p *program) modelsLint() *cobra.Command {
	return p.answers(&cobra.Command{
		Use:   "lint FILE...",
		Short: "Check BPMN files for mistakes, before a broker runs them",
		Long: `Checks BPMN models that use this worker. A FILE is a model, or a directory with
.bpmn files. Give models that call one another together. Policies and job types
are those of the settings.

The exit code is 1 with an error or a warning, 2 if a file cannot be read.`,
		Example: `  worker models lint models/`,
		Args:    cobra.MinimumNArgs(1),
	}, settings, func(c *call) (any, string, error) {
		files, err := modelFiles(c.args)
		if err != nil {
			return nil, "", usageError{err}
		}
		findings, err := lintModels(c.cfg, files)
		if err != nil {
			return nil, "", err
		}
		none := "No findings in " + text.Count(len(files), "file") + "."
		return findings, findings.Text(none), verdict("models", findings)
	})
}

// lintModels returns the findings about files, under the settings.
func lintModels(cfg config.Config, files []modellint.File) (text.Findings, error) {
	set, err := policies(cfg.PoliciesFile)
	if err != nil {
		return nil, err
	}
	// In JSON it is a list, even where it is empty.
	return append(text.Findings{}, app.LintModels(files, cfg.JobTypes, set)...), nil
}

// maxModel is more than a broker takes; what is between the two is a finding.
const maxModel = 16 << 20

// modelFiles reads the files that are named, and the models in directories that are.
func modelFiles(names []string) (files []modellint.File, err error) {
	var wrong faults
	for _, name := range names {
		before := len(files)
		err := filepath.WalkDir(filepath.Clean(name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path != filepath.Clean(name) && filepath.Ext(path) != ".bpmn" {
				return err
			}
			content, _, err := readfile.Read(path, maxModel)
			files = append(files, modellint.File{Name: path, Content: content})
			return err
		})
		wrong.when(err != nil, "%w", err)
		wrong.when(err == nil && len(files) == before, "%s holds no .bpmn file", name)
	}
	return files, errors.Join(wrong...)
}

// verdict returns an error where there is an error or a warning about something.
func verdict(about string, findings text.Findings) error {
	var parts []string
	for _, severity := range []text.Severity{text.Error, text.Warning} {
		if n := findings.Count(severity); n > 0 {
			parts = append(parts, text.Count(n, string(severity)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("the %s have %s", about, strings.Join(parts, " and "))
}
