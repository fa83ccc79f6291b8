package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) models() *cobra.Command {
	return p.group("models", p.modelsInit(), p.modelsLint())
}

func (p *program) modelsLint() *cobra.Command {
	command := &cobra.Command{Use: "lint FILE...", Args: cobra.MinimumNArgs(1)}
	return p.answers(command, settings, func(c *call) (any, error) {
		files := c.models(".bpmn")
		if c.wrong != nil {
			return nil, c.wrong
		}
		found, err := lintModels(c.cfg, files)
		if err != nil {
			return nil, err
		}
		return c.findings(found, c.w.Sprintf("No findings in %d files.", len(files)))
	})
}

func (p *program) modelsInit() *cobra.Command {
	return p.does(&cobra.Command{Use: "init DIR", Args: cobra.ExactArgs(1)}, language, func(c *call) error {
		dir := filepath.Clean(c.args[0])
		if err := os.CopyFS(dir, bpmn.Files()); err != nil {
			return text.Messagef("%s: name another directory, or move it away", err)
		}
		c.w.sayf("Next: open a model in %s with Camunda Modeler, or draw your own there: Modeler finds the "+
			"templates. Then check it: worker models lint %s", dir, dir)
		return nil
	})
}

// lintModels returns the findings about files, under the settings.
func lintModels(cfg config.Config, files []bpmn.Model) (text.Findings, error) {
	set, err := policies(cfg.PoliciesFile)
	if err != nil {
		return nil, err
	}
	return modellint.Lint(files, set, cfg.JobTypes), nil
}

// models reads the files that are named, and those in directories that are, with these endings.
func (c *call) models(endings ...string) (files []bpmn.Model) {
	for _, name := range c.args {
		before := len(files)
		err := filepath.WalkDir(filepath.Clean(name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains(endings, filepath.Ext(path)) {
				return err
			}
			content, err := os.ReadFile(path) //nolint:gosec // they are the files of who asks
			files = append(files, bpmn.Model{Name: path, Content: content})
			return err
		})
		c.wrong.when(err != nil, text.Messagef("%s", err))
		c.wrong.when(err == nil && len(files) == before,
			text.Messagef("%s is no %s file, and holds none", name, strings.Join(endings, " or ")))
	}
	return files
}

// findings answers with findings, or says that there are none. It fails if one is an error or a warning.
func (c *call) findings(found text.Findings, none string) (any, error) {
	if len(found) == 0 {
		c.w.WriteString(text.Line(none) + "\n")
		return text.Findings{}, nil // in JSON a list
	}
	c.w.WriteString(found.In(c.w.Printer))
	return found, verdict(found)
}

// verdict returns an error where there is an error or a warning.
func verdict(findings text.Findings) error {
	errs, warnings := findings.Count(text.Error), findings.Count(text.Warning)
	if errs+warnings == 0 {
		return nil
	}
	return text.Messagef("found: %s, %s",
		text.Messagef("%d errors", errs), text.Messagef("%d warnings", warnings))
}
