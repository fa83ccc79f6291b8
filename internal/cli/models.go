package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/text"
)

func newModels() *cobra.Command {
	command := group("models", "Check BPMN models that use this worker")
	command.AddCommand(newModelsLint())
	return command
}

func newModelsLint() *cobra.Command {
	command := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check BPMN files for mistakes, before a broker runs them",
		Long: `Checks BPMN models that use this worker. A FILE is a model, a directory with
.bpmn files, or - for standard input. Give models that call one another
together. Policies and job types are those of the settings.

The exit code is 1 with an error or a warning, 2 if a file cannot be read.`,
		Example: `  worker models lint models/ --policies policies.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("give one or more BPMN files, directories, or - for standard input")}
			}
			return nil
		},
	}
	policies := command.Flags().String("policies", "", "a policies file (default RETRY_POLICIES_FILE)")
	command.RunE = func(command *cobra.Command, args []string) error {
		files, err := modelFiles(args, command.InOrStdin())
		if err != nil {
			return err
		}
		cfg, err := config.Load("")
		if err != nil {
			return err
		}
		findings, err := lintModels(command.Context(), cfg, files, cmp.Or(*policies, cfg.PoliciesFile))
		if err != nil {
			return err
		}
		err = printAnswer(command, findings, findings.Text("No findings in "+text.Count(len(files), "file")+"."))
		return cmp.Or(err, verdict("models", findings))
	}
	return withJSON(command, "print a JSON array of findings")
}

// lintModels returns the findings about files, under the settings and the policies of a file.
func lintModels(ctx context.Context, cfg config.Config, files []modellint.File, policies string) (text.Findings, error) {
	set, err := bounded(ctx, func() (*policy.Set, error) { return policy.Open(policy.Source{File: policies}) })
	if err != nil {
		return nil, usageError{err}
	}
	findings := app.LintModels(files, cfg.JobTypes, set)
	if findings == nil {
		findings = text.Findings{} // in JSON a list, even where it is empty
	}
	return findings, nil
}

// maxModel is more than a broker takes; what is between the two is a finding.
const maxModel = 16 << 20

// modelFiles reads the files that are named, each once. All that cannot be read are reported.
func modelFiles(names []string, in io.Reader) (files []modellint.File, err error) {
	var faults []error
	seen := map[string]bool{}
	add := func(name string, content []byte, err error) {
		if err != nil {
			faults = append(faults, err)
			return
		}
		files = append(files, modellint.File{Name: name, Content: content})
	}
	for _, name := range names {
		if name == "-" {
			if seen[name] {
				continue
			}
			seen[name] = true
			content, err := io.ReadAll(io.LimitReader(in, maxModel))
			add("standard input", content, err)
			continue
		}
		paths, err := modelPaths(name)
		if err != nil {
			faults = append(faults, err)
		}
		for _, path := range paths {
			if !seen[path] {
				seen[path] = true
				content, _, err := readfile.Read(path, maxModel)
				add(path, content, err)
			}
		}
	}
	if len(faults) > 0 {
		return nil, usageError{errors.Join(faults...)}
	}
	return files, nil
}

// modelPaths returns the models of a directory, without those of hidden directories and of node_modules, or else the file itself.
func modelPaths(name string) (paths []string, err error) {
	name = filepath.Clean(name)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			if strings.EqualFold(filepath.Ext(path), ".bpmn") {
				paths = append(paths, path)
			}
		case path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s holds no .bpmn file", name)
	}
	return paths, err
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
	return errors.New("the " + about + " have " + strings.Join(parts, " and "))
}
